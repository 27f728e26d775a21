"""Runs a command on a terminal of its own, and types answers as it is asked.

usage: type_answer.py QUESTION ANSWER [QUESTION ANSWER]… -- COMMAND [ARGUMENT]…

Writes what the terminal showed. The command in the variable BEFORE_FIRST_ANSWER runs when the
first question is asked.
"""

import os
import pty
import subprocess
import sys

end = sys.argv.index("--")
answers = list(zip(sys.argv[1:end:2], sys.argv[2:end:2]))
command = sys.argv[end + 1 :]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
shown, answered = b"", 0
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:  # the other side is closed
        break
    if not piece:
        break
    shown += piece
    if answers and answers[0][0].encode() in shown[answered:]:
        answered = len(shown)
        before = os.environ.pop("BEFORE_FIRST_ANSWER", None)
        if before:
            subprocess.run(before, shell=True, check=True, stdout=subprocess.DEVNULL)
        os.write(terminal, answers.pop(0)[1].encode() + b"\n")
print(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
