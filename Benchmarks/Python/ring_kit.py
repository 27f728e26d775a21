"""The common part of the Python subjects of `framebus bench python`.

They follow the protocol of Benchmarks/RingKit/include/RingKit.h: the same arguments, head of a
frame, pacing, warm-up and figures. A frame's latency ends when its head was read.
"""

from __future__ import annotations

import os
import select
import struct
import sys
import time
from collections import Counter

GATE = 3
END, WARM_UP, UNTIMED = 0, 1, 2
HEAD = struct.Struct("<QQ")
LAP = 64
now = time.monotonic_ns


class Job:
    """The work of a program, from its arguments."""

    def __init__(self, version: str) -> None:
        self.publishes = sys.argv[1] == "publish"
        self.directory = sys.argv[2]
        numbers = {
            name: int(value) for name, _, value in (text.partition("=") for text in sys.argv[3:])
        }
        self.bytes = numbers["bytes"]
        self.interval_ns = numbers["interval_ns"]
        self.duration_ns = numbers["duration_ns"]
        self.polls = numbers["polls"] != 0
        self.fills = numbers["fills"] != 0
        self.idles = numbers["idles"] != 0
        self.is_alone = numbers["subscribers"] <= 1
        print(f"version {version}, Python {sys.version.split()[0]}")

    def take_processor(self) -> None:
        processors = sorted(os.sched_getaffinity(0))
        if self.is_alone and len(processors) > 1:
            os.sched_setaffinity(0, {processors[0 if self.publishes else 1]})


def report(frames: int, elapsed_ns: int, cpu_ns: int, values: list[int]) -> None:
    # Steps of 0.8 %, as RingKit counts.
    counts = Counter(value >> (shift := max(0, value.bit_length() - 8)) << shift
                     for value in values)
    text = "".join(f"{value}:{count}," for value, count in sorted(counts.items()))
    print(f"figures frames={frames} lost=0 elapsed_ns={elapsed_ns} cpu_ns={cpu_ns} values={text}")


class Publishing:
    """Paces a publisher: ``while run.next(): publish(run.stamp(), run.number)``."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.number = 0
        self.values: list[int] = []
        self.is_warm = False
        job.take_processor()
        print("ready", flush=True)
        os.read(GATE, 1)
        self.begin = self.due = self.lap = now()
        self.end = self.begin + job.duration_ns // 8

    def next(self) -> bool:
        self.number += 1
        if self.job.interval_ns == 0:
            if self.number % LAP:
                return True
            time_ns = now()
            if self.is_warm and self.job.idles:
                self.values.append((time_ns - self.lap) // LAP)
            self.lap = time_ns
            return self._advance(time_ns)
        self.due = max(self.due + self.job.interval_ns, now())
        if self.job.polls:
            while now() < self.due:
                pass
        else:
            time.sleep(max(0, self.due - now()) / 1e9)
        return self._advance(now())

    def _advance(self, time_ns: int) -> bool:
        """After the first eighth, counting begins; after the rest, the run ends."""
        if time_ns < self.end:
            return True
        if self.is_warm:
            self.end = time_ns
            self.cpu = time.process_time_ns() - self.cpu
            return False
        self.is_warm = True
        self.first = self.number
        self.begin = time_ns
        self.end = time_ns + self.job.duration_ns
        self.cpu = time.process_time_ns()
        return True

    def stamp(self) -> int:
        if not self.is_warm:
            return WARM_UP
        return now() if self.job.interval_ns else UNTIMED

    def unreleased(self) -> bool:
        """Waits 10 ms; False once all subscribers have ended, or at once if they idle."""
        return not self.job.idles and not select.select([GATE], [], [], 0.01)[0]

    def report(self) -> None:
        frames = self.number - 1 - self.first
        report(frames, self.end - self.begin, self.cpu, self.values)


class Receiving:
    """Counts a subscriber's frames: ``while run.take(stamp, number): …``."""

    def __init__(self, job: Job) -> None:
        self.values: list[int] = []
        self.frames = 0
        job.take_processor()
        self.cpu = time.process_time_ns()
        print("ready", flush=True)
        if job.idles:
            while os.read(GATE, 1):
                pass

    def take(self, stamp: int, number: int) -> bool:
        if stamp == END:
            return False
        if stamp > UNTIMED:
            self.values.append(now() - stamp)
        if stamp != WARM_UP:
            # Starting and warming up are not counted.
            if self.frames == 0:
                self.cpu = time.process_time_ns()
            self.frames += 1
        return True

    def report(self) -> None:
        report(self.frames, 0, time.process_time_ns() - self.cpu, self.values)


def check_sum(words: object, number: int) -> None:
    """Sums an array of 64-bit words behind the head, which has that number everywhere."""
    rest = words[2:]  # type: ignore[index]
    if int(rest.sum()) != number * len(rest):
        sys.exit(f"error: frame {number} has wrong content")
