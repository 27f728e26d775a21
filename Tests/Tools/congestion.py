"""Measures uploads over links that change, beside Chromium as the sender. Needs root.

  congestion.py PRODUCTS [seconds=10] [rounds=1] [only=NAME,…] [senders=framebus,chromium]
                [arrivals=yes|no]

PRODUCTS is the directory of the built programs. Both send noise of 704x400 at 30 frames a second
and at most 4 Mbit/s, in turns, over a link with a round trip of 40 ms and a queue of 250 ms
(link.py) to the same receiver (whip_server.py, aiortc), which reports the arrival of each packet,
or with arrivals=no only losses. It writes a table: of what the link carries, the share that
arrived; the longest time without a new picture; the age of a picture when it was decoded, for 95 of
100; pictures a second; and the most frequent size. Each figure is the median of the rounds, with
minimum and maximum.
"""
import collections
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TOOLS = os.path.dirname(os.path.abspath(__file__))
WIDTH, HEIGHT, RATE, BITS = 704, 400, 30, 4_000_000

# What happens in each phase: settings of the link, and kbit/s that another sender uses. A sender
# has WARM seconds to begin.
WARM = 8
SCENES = {
    "4 → 1 → 4 Mbit/s": [{"rate": 4000}, {"rate": 1000}, {"rate": 4000}],
    "4 → 0.4 → 4 Mbit/s": [{"rate": 4000}, {"rate": 400}, {"rate": 4000}],
    "2 % loss": [{"rate": 4000, "loss": 0.02}],
    "5 % loss": [{"rate": 4000, "loss": 0.05}],
    "10 % loss": [{"rate": 4000, "loss": 0.1}],
    "100 ms delay, 20 ms jitter": [{"rate": 4000, "delay": 100, "jitter": 20}],
    "2 of 4 Mbit/s used by others": [{"rate": 4000}, {"rate": 4000, "other": 2000}],
}


class Link:
    def __init__(self):
        number = random.randrange(1 << 24)
        self.name, self.device = f"framebus-{number:x}", f"fb{number:x}"
        start = f"10.{64 + (number >> 16 & 63)}.{number >> 8 & 255}"
        self.near, self.far = f"{start}.{(number & 0xFC) + 1}", f"{start}.{(number & 0xFC) + 2}"
        subprocess.run(["ip", "netns", "add", self.name], check=True)
        subprocess.run(["ip", "-n", self.name, "link", "set", "lo", "up"], check=True)
        self.program = subprocess.Popen(
            [sys.executable, f"{TOOLS}/link.py", self.name, self.device, self.near, self.far,
             "delay=20", "queue=250"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.program.stdout.readline()
        self.other = 0
        self.isOpen = True
        threading.Thread(target=self.disturb, daemon=True).start()

    def set(self, **settings):
        self.other = settings.pop("other", 0)
        words = {"loss": 0, "jitter": 0, "delay": 20} | settings
        self.program.stdin.write(" ".join(f"{key}={value}" for key, value in words.items()) + "\n")
        self.program.stdin.flush()

    def disturb(self):
        """The other sender: datagrams that nobody receives."""
        import socket
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        due = time.monotonic()
        while self.isOpen:
            now = time.monotonic()
            if not self.other:
                due = now
            elif due <= now:
                try:
                    sender.sendto(bytes(1200), (self.far, 9))
                except OSError:
                    pass
                due += 1228 * 8 / (self.other * 1000)
            time.sleep(max(0.002, min(0.1, due - now)))

    def arrived(self):
        """The bytes that have reached the far end, without the other sender's."""
        command = ["ip", "netns", "exec", self.name, "cat"]
        where = "/sys/class/net/inner/statistics/rx_bytes"
        return int(subprocess.run(command + [where], capture_output=True).stdout)

    def close(self):
        self.isOpen = False
        self.program.stdin.close()
        self.program.wait()
        subprocess.run(["ip", "netns", "delete", self.name])


def lines_of(program, into):
    def read():
        for line in program.stdout:
            into.append(line.split())
    threading.Thread(target=read, daemon=True).start()


def start(*command, **more):
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, **more)


class Framebus:
    def __init__(self, address):
        self.folder = tempfile.TemporaryDirectory(prefix="framebus-congestion-")
        program = f"{PRODUCTS}/framebus"
        self.capture = start(
            program, "capture", "test:noise", "--size", f"{WIDTH}x{HEIGHT}", "--fps", str(RATE),
            "--root", self.folder.name)
        self.upload = start(
            program, "upload", f"whip:{address}", "--allow-http", "--bitrate", str(BITS), "--root",
            self.folder.name)

    def end(self):
        for program in (self.upload, self.capture):
            program.send_signal(signal.SIGTERM)
            program.wait()
        self.folder.cleanup()


class Chromium:
    def __init__(self, address):
        self.program = start(
            sys.executable, f"{TOOLS}/chromium_sender.py", address, *map(
                str, (WIDTH, HEIGHT, RATE, BITS)))

    def end(self):
        self.program.stdin.close()
        self.program.wait()


SENDERS = {"framebus": Framebus, "chromium": Chromium}


def figures(seen, begin, end, byte_count, capacity):
    times = [each for each in seen if begin <= each[0] <= end]
    moments = [begin] + [each[0] for each in times] + [end]
    ages = sorted(each[1] for each in times if each[1] < 60_000)
    used = byte_count * 8 / ((end - begin) / 1000) / (capacity * 1000)
    freeze = max(after - before for before, after in zip(moments, moments[1:]))
    # Without a picture, the age of the last one is unknown, and at least as high as the freeze.
    age = ages[len(ages) * 95 // 100] if ages else freeze
    return used, freeze / 1000, age, len(times) * 1000 / (end - begin), [each[2] for each in times]


def summary(rounds):
    """The median of each figure, with minimum and maximum."""
    *columns, sizes = zip(*rounds)
    for values, form in zip(columns, (".2f", ".2f", ".0f", ".0f")):
        text = f"{statistics.median(values):{form}}"
        if len(values) > 1:
            text += f" ({min(values):{form}}–{max(values):{form}})"
        yield text
    common = collections.Counter(size for each in sizes for size in each).most_common(1)
    yield common[0][0] if common else "–"


def measure(sender, phases, seconds):
    """A row for each phase."""
    link = Link()
    output = collections.deque()
    try:
        link.set(**phases[0])
        server = start(
            "ip", "netns", "exec", link.name, sys.executable, f"{TOOLS}/whip_server.py", "0",
            f"arrivals={ARRIVALS}", "seen=yes", f"address={link.far}")
        port = server.stdout.readline().split()[1]
        lines_of(server, output)
        program = SENDERS[sender](f"http://{link.far}:{port}/whip")
        try:
            while not any(line[0] == "seen" for line in list(output)):
                time.sleep(0.05)
            time.sleep(WARM)
            marks = []
            for phase in phases:
                link.set(**phase)
                before = link.arrived(), time.monotonic() * 1000
                time.sleep(seconds)
                after = link.arrived(), time.monotonic() * 1000
                marks.append((before, after, phase))
        finally:
            program.end()
            server.terminate()
            server.wait()
    finally:
        link.close()
    seen = [(int(line[1]), int(line[2]), line[3]) for line in output if line[0] == "seen"]
    for (bytes_before, begin), (bytes_after, end), phase in marks:
        byte_count = bytes_after - bytes_before - phase.get("other", 0) * 125 * seconds
        capacity = phase["rate"] - phase.get("other", 0)
        yield capacity, figures(seen, begin, end, byte_count, capacity)


# Whatever else the machine does, sender and receiver wait little for a processor.
os.nice(-15)
options = dict(word.split("=", 1) for word in sys.argv[2:])
PRODUCTS = sys.argv[1]
SECONDS = int(options.get("seconds", 10))
ARRIVALS = options.get("arrivals", "yes")
print("| link | sender | there Mbit/s | used | longest freeze s | age p95 ms | fps | size |")
print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
for name, phases in SCENES.items():
    if "only" in options and not any(word in name for word in options["only"].split(",")):
        continue
    rows = collections.defaultdict(list)
    for _ in range(int(options.get("rounds", 1))):
        for sender in options.get("senders", "framebus,chromium").split(","):
            for number, (capacity, row) in enumerate(measure(sender, phases, SECONDS)):
                rows[number, sender, capacity].append(row)
    for (_, sender, capacity), rounds in sorted(rows.items(), key=lambda row: row[0][0]):
        print(f"| {name} | {sender} | {capacity / 1000:g} | {' | '.join(summary(rounds))} |",
              flush=True)
