"""Runs a command on a terminal of its own, and types an answer when it is asked.

usage: type_answer.py QUESTION ANSWER COMMAND [ARGUMENT]…

Writes what the terminal showed.
"""

import os
import pty
import sys

question, answer, command = sys.argv[1], sys.argv[2], sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
shown = b""
is_answered = False
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:  # the other side is closed
        break
    if not piece:
        break
    shown += piece
    if not is_answered and question.encode() in shown:
        os.write(terminal, answer.encode() + b"\n")
        is_answered = True
print(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
