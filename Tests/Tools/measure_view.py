"""Measures the processor time of watching a large screen at the size of a phone's picture.

  measure_view.py FRAMEBUS [SECONDS [ROUNDS]]

A window of 800 x 600 pixels that changes all the time moves over a screen of 3840 x 2160 (Xvfb),
which `FRAMEBUS capture` and `FRAMEBUS view` send to one viewer (whep_viewer.py): one that shows the
pictures in 1170 x 658 pixels, and one that states nothing. It writes the processor time of each
program in milliseconds for each picture that arrived, and these a second, as a table.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

TOOLS = pathlib.Path(__file__).parent
SIZE = (3840, 2160)
framebus = sys.argv[1]
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 8
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3

# Noise is hard to encode, so a moving picture of large squares is drawn, as a slide show is.
ANIMATION = """
import itertools, time
from Xlib import X, display
d = display.Display()
screen = d.screen()
window = screen.root.create_window(100, 100, 800, 600, 0, screen.root_depth, background_pixel=0)
window.map()
context = window.create_gc()
for step in itertools.count():
    for row in range(6):
        for column in range(8):
            context.change(foreground=(step * 9 + row * 40 + column * 25) * 0x010203 & 0xFFFFFF)
            window.fill_rectangle(context, column * 100, row * 100, 100, 100)
    window.configure(x=100 + step * 7 % 2800, y=100 + step * 3 % 1300)
    d.sync()
    time.sleep(1 / 30)
"""


def ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def family(pid):
    """A process and all that it started."""
    found = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += family(int(child))
    return found


def start(*arguments, **options):
    return subprocess.Popen(arguments, stderr=subprocess.DEVNULL, **options)


def wait_for(stream, pattern):
    for line in stream:
        if found := re.search(pattern, line):
            return found


def measure(arguments):
    started = []
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"FRAMEBUS_HOME": home}
        try:
            reading, writing = os.pipe()
            server = start(
                "Xvfb", "-displayfd", str(writing), "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24",
                "-nolisten", "tcp", pass_fds=[writing])
            started.append(server)
            display = ":" + os.read(reading, 16).decode().strip()
            environment["DISPLAY"] = display
            started.append(start(sys.executable, "-c", ANIMATION, env=environment))
            capture = start(
                framebus, "capture", "screen:" + display, "--fps", "30", "--quiet",
                env=environment)
            started.append(capture)
            view = start(
                framebus, "view", "--quiet", env=environment, stdout=subprocess.PIPE, text=True)
            started.append(view)
            address = view.stdout.readline().strip()
            viewer = start(
                sys.executable, str(TOOLS / "whep_viewer.py"), address + "whep", *arguments,
                stdout=subprocess.PIPE, text=True)
            started.append(viewer)
            wait_for(viewer.stdout, r"^frame 60 ")
            parts = {"X server": [server.pid], "capture": family(capture.pid),
                     "view": family(view.pid)}
            before = {name: sum(map(ticks, pids)) for name, pids in parts.items()}
            begin, count, size = time.monotonic(), 0, ""
            while time.monotonic() < begin + seconds:
                if found := wait_for(viewer.stdout, r"^frame \d+ (\S+)"):
                    count, size = count + 1, found[1]
            elapsed = time.monotonic() - begin
            used = {name: 1000 * (sum(map(ticks, pids)) - before[name])
                    / os.sysconf("SC_CLK_TCK") / count for name, pids in parts.items()}
            return size, used, count / elapsed
        finally:
            for process in reversed(started):
                process.send_signal(signal.SIGTERM)
            for process in started:
                process.wait()


def median(numbers):
    return sorted(numbers)[len(numbers) // 2]


print("| viewer | picture | X server | capture | view | all, CPU ms a picture | pictures a second |")
print("| --- | --- | --- | --- | --- | --- | --- |")
for name, arguments in [("1170 x 658", ["size=1170x658"]), ("states nothing", [])]:
    found = [measure(arguments) for _ in range(rounds)]
    parts = [median([used[part] for _, used, _ in found]) for part in found[0][1]]
    everything = [sum(used.values()) for _, used, _ in found]
    print(f"| {name} | {found[-1][0]} |", " | ".join(f"{part:.1f}" for part in parts),
          f"| {median(everything):.1f} ({min(everything):.1f}–{max(everything):.1f}) |",
          f"{median([rate for _, _, rate in found]):.1f} |", flush=True)
