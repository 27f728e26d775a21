"""Follows a tutorial as a reader would: its commands, in one shell, in an empty directory.

    follow_tutorial.py PAGE [--limit=SECONDS] [OLD=NEW…]

Each `sh` block is run, and must succeed. A `text` block is what the block before it prints: its
lines in that order, others may stand between them; `…` is any text. A block that only looks
(`framebus streams`, `framebus log`) is repeated until it prints that. OLD=NEW replaces text of the
commands that the page says can be replaced. Nothing is waited for longer than the limit, 120 s.
"""
import os
import re
import signal
import subprocess
import sys
import threading
import time

limit_s = 120.0


class Shell:
    def __init__(self):
        self.process = subprocess.Popen(
            ["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.lines = []
        self.changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()

    def run(self, commands: str, begin: int) -> int:
        """Runs commands; returns their status. Their output is in `lines` from `begin` on."""
        mark = f"-- the status of block {begin}-{time.monotonic_ns()} is "
        self.process.stdin.write(f"{{\n{commands}\n}} < /dev/null\necho \"{mark}$?\"\n")
        self.process.stdin.flush()
        with self.changed:
            if not self.changed.wait_for(lambda: self._marked(mark), limit_s):
                raise SystemExit(f"this does not end:\n{commands}\n" + "\n".join(self.lines))
            line = self._marked(mark)
            # Output without a newline at its end stands before the mark.
            rest = line.partition(mark)[0]
            place = self.lines.index(line)
            self.lines[place:place + 1] = [rest] if rest else []
        return int(line.rpartition(mark)[2])

    def _marked(self, mark):
        return next((line for line in self.lines if mark in line), None)

    def wait(self, begin: int, expected: str, seconds: float) -> bool:
        with self.changed:
            return self.changed.wait_for(
                lambda: matches("\n".join(self.lines[begin:]), expected), seconds)

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def matches(text: str, expected: str) -> bool:
    lines = [re.escape(line).replace("…", ".*") for line in expected.splitlines()]
    return re.search(r"^" + r"$[\s\S]*?^".join(lines) + r"$", text, re.MULTILINE) is not None


def blocks(page: str):
    """Pairs of commands and what they print, or None."""
    found = re.findall(r"^```(sh|text)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for (kind, text), (next_kind, next_text) in zip(found, found[1:] + [("", "")]):
        if kind == "sh":
            yield text.rstrip("\n"), next_text.rstrip("\n") if next_kind == "text" else None


def main():
    global limit_s
    for option in [word for word in sys.argv if word.startswith("--limit=")]:
        limit_s = float(option.partition("=")[2])
        sys.argv.remove(option)
    page = open(sys.argv[1], encoding="utf-8").read()
    shell = Shell()
    count = 0
    try:
        for commands, expected in blocks(page):
            for change in sys.argv[2:]:
                old, _, new = change.partition("=")
                commands = commands.replace(old, new)
            only_looks = re.fullmatch(r"framebus (streams|log)\b.*", commands) is not None
            end = time.monotonic() + limit_s
            while True:
                begin = len(shell.lines)
                status = shell.run(commands, begin)
                seen = status == 0 and (
                    expected is None
                    or shell.wait(begin, expected, 0.2 if only_looks else limit_s))
                if seen or not only_looks or time.monotonic() > end:
                    break
            if not seen:
                raise SystemExit(
                    f"{commands}\nended with status {status} and printed\n"
                    + "\n".join(shell.lines[begin:]) + f"\nexpected\n{expected}")
            count += 1
    finally:
        shell.close()
    print(f"{count} blocks")


main()
