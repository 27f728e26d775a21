"""A network link whose rate, queue, delay and loss a test chooses: two TUN devices, one on this
side and one in a network namespace, and this program between them.

  link.py NAMESPACE DEVICE NEAR FAR [key=value…]

Addresses are those of the two ends. Keys; lines of standard input change them (`rate=500`):

  rate=N    kbit/s towards the namespace, 0 for no limit
  queue=N   milliseconds that packets wait for their turn at that rate; those that would wait longer
            are lost
  delay=N   milliseconds from each end to the other
  jitter=N  milliseconds that are added to that at most, at random; no packet overtakes another
  loss=N    the share of packets towards the namespace that are lost at random

It runs with real-time priority. The bytes that this side sends into the link are those of DEVICE
(/sys/class/net/DEVICE/statistics).
"""
import collections
import ctypes
import fcntl
import os
import random
import select
import struct
import subprocess
import sys
import time

TUNSETIFF, TUN_WITHOUT_HEADER, CLONE_NEWNET = 0x400454CA, 0x1001, 0x40000000

namespace, device, near, far = sys.argv[1:5]
settings = {"rate": 0.0, "queue": 250.0, "delay": 0.0, "jitter": 0.0, "loss": 0.0}


def change(words):
    for word in words:
        key, value = word.split("=", 1)
        settings[key] = float(value)


def end(name, own, other):
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", name.encode(), TUN_WITHOUT_HEADER))
    for words in (f"address add {own} peer {other} dev {name}", f"link set {name} up"):
        subprocess.run(["ip", *words.split()], check=True)
    return descriptor


def packets(descriptor):
    while True:
        try:
            yield os.read(descriptor, 65536)
        except BlockingIOError:
            return


def write(descriptor, packet):
    try:
        os.write(descriptor, packet)
    except OSError:
        pass


change(sys.argv[5:])
# On a busy machine, waiting for a processor would be a delay of the link.
os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
outer = end(device, near, far)
with open(f"/var/run/netns/{namespace}") as found:
    if ctypes.CDLL(None, use_errno=True).setns(found.fileno(), CLONE_NEWNET) != 0:
        sys.exit("setns: " + os.strerror(ctypes.get_errno()))
inner = end("inner", far, near)
print("ready", flush=True)

# When each packet arrives, and the packet. `free` is when the link has sent all that waits.
forward, back, free = collections.deque(), collections.deque(), 0.0
watched = [outer, inner, sys.stdin]
while True:
    due = min(line[0][0] for line in (forward, back) if line) if forward or back else None
    timeout = None if due is None else max(0, due - time.monotonic())
    ready = select.select(watched, [], [], timeout)[0]
    now = time.monotonic()
    if sys.stdin in ready:
        line = sys.stdin.readline()
        if not line:
            break
        change(line.split())
    delay = settings["delay"] / 1000
    for packet in packets(outer):
        if random.random() < settings["loss"]:
            continue
        sent = now
        if settings["rate"]:
            if free - now > settings["queue"] / 1000:
                continue
            free = max(free, now) + len(packet) * 8 / (settings["rate"] * 1000)
            sent = free
        due = sent + delay + random.random() * settings["jitter"] / 1000
        forward.append((max(due, forward[-1][0] if forward else 0), packet))
    for packet in packets(inner):
        back.append((now + delay, packet))
    now = time.monotonic()
    for line, descriptor in ((forward, inner), (back, outer)):
        while line and line[0][0] <= now:
            write(descriptor, line.popleft()[1])
