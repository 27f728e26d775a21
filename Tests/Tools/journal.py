#!/usr/bin/python3
"""Receives what is sent to a journal and shows its fields, after systemd's native protocol.

usage: journal.py SOCKET COUNT
Says "ready", then an object for each datagram: its fields, and whether it came as a sealed file.
"""
import array
import fcntl
import json
import os
import socket
import sys

F_GET_SEALS, WHOLLY_SEALED = 1034, 0xF


def fields(data):
    found = {}
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        name, is_text, value = data[at:end].partition(b"=")
        at = end + 1
        if not is_text:
            count = int.from_bytes(data[at : at + 8], "little")
            value = data[at + 8 : at + 8 + count]
            at += 8 + count
            assert data[at : at + 1] == b"\n", "a value ends with a newline"
            at += 1
        found[name.decode()] = value.decode()
    return found


def receive(receiver):
    descriptors = array.array("i")
    data, control, _, _ = receiver.recvmsg(1 << 20, socket.CMSG_SPACE(descriptors.itemsize))
    for level, kind, rights in control:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(rights)
    if not descriptors:
        return data, False
    number = descriptors[0]
    assert data == b"", "a file comes without bytes"
    assert fcntl.fcntl(number, F_GET_SEALS) == WHOLLY_SEALED, "journald takes only sealed files"
    return os.pread(number, os.fstat(number).st_size, 0), True


with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
    receiver.bind(sys.argv[1])
    print("ready", flush=True)
    for _ in range(int(sys.argv[2])):
        data, is_sealed = receive(receiver)
        print(json.dumps({"fields": fields(data), "isSealed": is_sealed}), flush=True)
