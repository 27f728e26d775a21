#!/usr/bin/python3
"""A minimal X11 server for a capture, with one kind of malformed answer.

usage: fake_x_server.py LIE
It prints the name of its display, on a port of 127.0.0.1. With the lie `none` it is a server whose
screen of 64 x 48 pixels is one colour.
"""
import os
import socket
import struct
import sys

lie = sys.argv[1]
WIDTH, HEIGHT, ROOT, VISUAL, COLOUR = 64, 48, 0x100, 0x21, 0x112233
EXTENSIONS = {
    b"DAMAGE": 130, b"XFIXES": 131, b"Composite": 132, b"MIT-SHM": 133, b"RANDR": 134,
    b"MIT-SCREEN-SAVER": 135}


def setup():
    """The server's answer to a client that connects."""
    side = 65535 if lie == "screen-huge" else None
    width, height = (side, side) if side else (WIDTH, HEIGHT)
    visual = struct.pack("<IBBHIIIxxxx", VISUAL, 4, 8, 256, 0xFF0000, 0xFF00, 0xFF)
    visuals = 0 if lie == "visuals-none" else 65535 if lie == "visuals-many" else 1
    depth = struct.pack("<BxHxxxx", 24, visuals) + (visual if visuals else b"")
    depths = 255 if lie == "depths-many" else 0 if lie == "depths-none" else 1
    screen = struct.pack(
        "<IIIIIHHHHHHIBBBB", ROOT, 0, 0, 0, 0, width, height, 100, 100, 1, 1, VISUAL, 0, 0, 24,
        depths) + (depth if depths else b"")
    screens = 0 if lie == "screens-none" else 255 if lie == "screens-many" else 1
    formats = 255 if lie == "formats-many" else 1
    vendor = 65535 if lie == "vendor-long" else 0
    ids = 0 if lie == "ids-none" else 0x1FFFFF
    body = struct.pack(
        "<IIIIHHBBBBBBBBxxxx", 1, 0x200000, ids, 0, vendor, 0 if lie == "requests-none" else 65535,
        screens, formats, 0, 0, 32, 32, 8, 255)
    body += struct.pack("<BBBxxxxx", 24, 32, 32) + (screen if screens else b"")
    if lie == "setup-short":
        body = b""
    length = 65535 if lie == "setup-long" else len(body) // 4
    return struct.pack("<BxHHH", 1, 11, 0, length) + body


def answer(major, minor, data):
    """The reply to a request, after its first eight bytes: (data byte, length, body)."""
    if major == 98:
        (count,) = struct.unpack_from("<H", data, 4)
        code = EXTENSIONS.get(data[8:8 + count], 0)
        event = 255 if lie == "events-255" else 64 + (code - 130) * 4
        return 0, struct.pack("<BBBB", 1 if code else 0, code, event if code else 0, 128)
    if major == 16:
        return 0, struct.pack("<I", 200)
    if major == 14:
        size = {"size-0": (0, 0), "screen-huge": (65535, 65535)}.get(lie, (WIDTH, HEIGHT))
        border = 32700 if lie == "border" else 0
        if lie == "border" and struct.unpack_from("<I", data, 4)[0] >= 0x200000:
            size = (WIDTH + 2 * border, HEIGHT + 2 * border)
        return 24, struct.pack("<IhhHHH", ROOT, 0, 0, *size, border)
    if major == 15:
        parents = answer.parents = (getattr(answer, "parents", 0x3000) + 1) % 0xFFFF
        parent = parents if lie == "parents" else ROOT
        count = 65535 if lie.startswith("children") else 0
        body = struct.pack("<IIH", ROOT, parent, count).ljust(24, b"\0")
        if lie == "children-endless":
            # Each window has the maximum number of children that an answer can name.
            body += struct.pack("<65535I", *range(parents * 65536, parents * 65536 + 65535))
        return 0, body
    if major == 20:
        format, count = (32, 1 << 30) if lie == "property" else (0, 0)
        if lie == "property-format":
            format, count = 255, 1000
        return format, struct.pack("<III", 31, 0, count)
    if major == 38:
        return 1, struct.pack("<IIhhhh", ROOT, 0, 10, 10, 10, 10)
    if major == 73:
        pixels = struct.pack("<I", COLOUR) * (WIDTH * HEIGHT)
        return 24, struct.pack("<I", VISUAL).ljust(24, b"\0") + (
            pixels[:100] if lie == "image-short" else pixels)
    if (major, minor) == (3, 0) or major == 3:
        body = struct.pack("<IH", VISUAL, 1).ljust(36, b"\0")
        return 0, body[:24] if lie == "attributes-short" else body
    if (major, minor) == (131, 4):
        sides = (65535, 65535) if lie == "cursor" else (0, 0)
        return 0, struct.pack("<hhHHHH", 10, 10, *sides, 0, 0)
    if (major, minor) == (134, 25):
        counts = (0, 65535) if lie == "outputs" else (0, 1 if lie == "output-name" else 0)
        return 0, struct.pack("<IIHHHH", 0, 0, *counts, 0, 0).ljust(24, b"\0") + bytes(4)
    if (major, minor) == (134, 9):
        return 0, struct.pack("<IIIIBBHHHHH", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 65535)
    if (major, minor) == (133, 0):
        return 1, struct.pack("<HH", 1, 2)
    if (major, minor) in [(43, minor), (130, 0), (131, 0), (131, 19), (132, 0), (133, 4), (135, 1)]:
        return 0, b""
    return None


def reply(sequence, data, body):
    body = body.ljust(24, b"\0")
    return struct.pack("<BBHI", 1, data, sequence & 0xFFFF, (len(body) - 24) // 4) + body


def event(sequence):
    # CreateNotify of a child of the root window.
    return struct.pack("<BxHII", 16, sequence & 0xFFFF, ROOT, 0x400000).ljust(32, b"\0")


def receive(client, count):
    data = b""
    while len(data) < count:
        piece = client.recv(count - len(data))
        if not piece:
            sys.exit(0)
        data += piece
    return data


def stay(client):
    print("lies", flush=True)
    while client.recv(65536):
        pass
    sys.exit(0)


def serve(client):
    if lie == "silent":
        stay(client)
    if lie == "gone":
        return
    names, datas = struct.unpack("<6xHHxx", receive(client, 12))
    receive(client, (names + 3) // 4 * 4 + (datas + 3) // 4 * 4)
    if lie == "refuses":
        client.sendall(struct.pack("<BBHHH", 0, 8, 11, 0, 2) + b"go away\n")
        return
    client.sendall(setup())
    sequence = 0
    while True:
        head = receive(client, 4)
        major, minor, length = struct.unpack("<BBH", head)
        data = head + receive(client, length * 4 - 4)
        sequence += 1
        result = answer(major, minor, data)
        late = sequence > 120
        if result is None:
            continue
        if lie == "errors" or (lie == "errors-late" and late):
            client.sendall(struct.pack("<BBHIHB", 0, 11, sequence & 0xFFFF, 0, minor, major)
                           .ljust(32, b"\0"))
            continue
        if lie == "flood" or (lie == "flood-late" and late):
            print("lies", flush=True)
            while True:
                for _ in range(32):
                    client.sendall(event(sequence) * 4096)
                # 131072 events have been sent.
                print(".", end="", flush=True)
        if lie == "mute" or (lie == "mute-late" and late):
            stay(client)
        if lie == "stalls" or (lie == "stalls-late" and late):
            client.sendall(struct.pack("<BBHI", 1, 0, sequence & 0xFFFF, 1 << 28) + bytes(1000))
            stay(client)
        if lie == "half" and late:
            client.sendall(reply(sequence, *result)[:20])
            return
        client.sendall(reply(sequence, *result))


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(f"127.0.0.1:{listener.getsockname()[1] - 6000}", flush=True)
while True:
    client, _ = listener.accept()
    if os.fork() == 0:
        try:
            serve(client)
        except OSError:
            pass
        sys.exit(0)
    client.close()
