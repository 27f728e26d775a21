"""Signals a command while it asks for something on a terminal, as a shell's job.

usage: prompt_signal.py SIGNAL[@THREAD] QUESTION ANSWER COMMAND [ARGUMENT]…

The signal is sent to the thread of that name, or to the process, whose kernel chooses the thread.

Writes what became of the terminal: `asked: silent`, then `ended by SIGNAL: echo`, or, of one that
stops, `stopped by SIGNAL: echo`, `continued: silent`, `exited 0: echo`.
"""

import ctypes
import os
import pty
import signal
import sys
import termios

target, question, answer = sys.argv[1:4]
name, _, thread = target.partition("@")
command = sys.argv[4:]


def state():
    return "echo" if termios.tcgetattr(0)[3] & termios.ECHO else "silent"


def send(process, number):
    if not thread:
        return os.kill(process, number)
    # A thread names itself once it runs.
    while True:
        for task in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{task}/comm") as file:
                if file.read() == thread + "\n":
                    return ctypes.CDLL(None).tgkill(process, int(task), number)
        os.sched_yield()


def ended(status):
    if os.WIFSTOPPED(status):
        return "stopped by " + signal.Signals(os.WSTOPSIG(status)).name
    if os.WIFSIGNALED(status):
        return "ended by " + signal.Signals(os.WTERMSIG(status)).name
    return f"exited {os.WEXITSTATUS(status)}"


def shell(report, heard):
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    # As the parent reads what the command shows, so that it never waits for that.
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        # The caller may ignore some.
        for each in (signal.SIGTTOU, getattr(signal, name)):
            signal.signal(each, signal.SIG_DFL)
        os.execvp(command[0], command)
    os.read(heard, 1)
    os.write(report, f"asked: {state()}\n".encode())
    send(child, getattr(signal, name))
    status = os.waitpid(child, os.WUNTRACED)[1]
    os.write(report, f"{ended(status)}: {state()}\n".encode())
    if not os.WIFSTOPPED(status):
        return
    os.tcsetpgrp(0, child)
    os.kill(child, signal.SIGCONT)
    while state() == "echo":
        os.sched_yield()
    os.write(report, b"continued: silent\n")
    status = os.waitpid(child, 0)[1]
    os.write(report, f"{ended(status)}: {state()}\n".encode())


report_end, report = os.pipe()
heard, hear = os.pipe()
session, terminal = pty.fork()
if session == 0:
    shell(report, heard)
    os._exit(0)
os.close(report)
shown = b""
while question.encode() not in shown:
    shown += os.read(terminal, 4096)
os.write(hear, b"!")
text = b""
while True:
    piece = os.read(report_end, 4096)
    if not piece:
        break
    text += piece
    if b"continued" in piece:
        os.write(terminal, answer.encode() + b"\n")
os.waitpid(session, 0)
print(text.decode(), end="")
