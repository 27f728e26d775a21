"""Memory of idle processes of the bus: a publisher, alone and with 56 subscribers; one of these
subscribers; an observer of a notification.

usage: measure_memory.py DIRECTORY

DIRECTORY has framebus, BusRing and BusNotify. Prints for each process its own memory (RssAnon), its
share of all that it maps (Pss), and its memory files that it maps (memfd), in KiB.
"""

import os
import re
import subprocess
import sys
import tempfile

# The most that one user may have of a stream with 64 seats.
SUBSCRIBERS = 56


def started(program, role, root, *more):
    """A program that has attached and waits. Its end of the pipe is descriptor 3."""
    read_end, write_end = os.pipe()
    settings = ["bytes=64", "interval_ns=1000000", "duration_ns=1000000000", *more]
    process = subprocess.Popen(
        ["bash", "-c", f'exec 3<&{read_end} "$@"', "bash", program, role, root, *settings],
        stdout=subprocess.PIPE,
        pass_fds=[read_end],
        text=True,
    )
    os.close(read_end)
    process.gate = write_end
    for line in process.stdout:
        if line == "ready\n":
            return process
    sys.exit(f"{program} {role} ended")


def memory(process):
    with open(f"/proc/{process.pid}/status") as file:
        own = int(re.search(r"RssAnon:\s+(\d+)", file.read())[1])
    with open(f"/proc/{process.pid}/smaps_rollup") as file:
        share = int(re.search(r"\nPss:\s+(\d+)", file.read())[1])
    files = 0
    with open(f"/proc/{process.pid}/smaps") as file:
        mapped = False
        for line in file:
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                mapped = "/memfd:" in line
            elif mapped and line.startswith("Rss:"):
                files += int(line.split()[1])
    return own, share, files


def show(what, process):
    own, share, files = memory(process)
    print(f"{what}: own {own}, share {share}, memory files {files}", flush=True)


def main():
    programs = os.path.abspath(sys.argv[1])
    processes = []
    with tempfile.TemporaryDirectory(prefix="framebus-memory-") as root:
        group = ["group", "create", "group.local.framebus", "--root", root]
        subprocess.run([f"{programs}/framebus", *group], check=True, stdout=subprocess.DEVNULL)
        try:
            count = f"subscribers={SUBSCRIBERS}"
            publisher = started(f"{programs}/BusRing", "publish", root, "idles=1", count)
            processes.append(publisher)
            show("publisher", publisher)
            for _ in range(SUBSCRIBERS):
                processes.append(started(f"{programs}/BusRing", "subscribe", root, "idles=1", count))
            show(f"publisher with {SUBSCRIBERS} subscribers", publisher)
            show("subscriber", processes[-1])
            observer = started(f"{programs}/BusNotify", "subscribe", root)
            processes.append(observer)
            show("observer", observer)
        finally:
            for process in processes:
                process.kill()
                process.wait()


main()
