#!/usr/bin/python3
"""Runs a program under a seccomp filter that refuses what some machines refuse.

usage: forbid_calls.py ring|direct|keyring|landlock|namespaces|roots|filters|instances|watches
                       PROGRAM ARGUMENT…
  ring    io_uring_setup(2) fails with EPERM
  direct  fcntl(2) with F_SETFL and O_DIRECT fails with EINVAL
  keyring add_key(2) and keyctl(2) fail with EPERM
  landlock landlock_create_ruleset(2) fails with ENOSYS
  namespaces unshare(2) fails with EPERM
  roots pivot_root(2) fails with EPERM, though namespaces can be had
  filters seccomp(2) fails with ENOSYS, and prctl(2) with PR_SET_SECCOMP with EINVAL
  instances inotify_init1(2) fails with ENOSYS
  watches inotify_add_watch(2) fails with EPERM
"""
import ctypes
import errno
import os
import platform
import struct
import sys

LOAD, JUMP_EQUAL, JUMP_SET, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
IO_URING_SETUP = 425
LANDLOCK_CREATE_RULESET = 444
MACHINES = {
    "x86_64": (72, 0o40000, 248, 250, 272, 317, 157, 155, 294, 254),
    "aarch64": (25, 0o200000, 217, 219, 97, 277, 167, 41, 26, 27),
}
(
    FCNTL, O_DIRECT, ADD_KEY, KEYCTL, UNSHARE, SECCOMP, PRCTL, PIVOT_ROOT, INOTIFY_INIT,
    INOTIFY_ADD_WATCH,
) = MACHINES[platform.machine()]
F_SETFL = 4
AT_NUMBER, AT_ARGUMENTS = 0, 16
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


def step(code, value, matched=0, missed=0):
    return struct.pack("HBBI", code, matched, missed, value)


def refuse(error, *calls):
    """A filter under which calls fail, whatever their arguments."""
    last = len(calls) - 1
    jumps = [
        step(JUMP_EQUAL, call, last - index, int(index == last))
        for index, call in enumerate(calls)
    ]
    return [step(LOAD, AT_NUMBER), *jumps, step(RETURN, ERRNO | error), step(RETURN, ALLOW)]


FILTERS = {
    "ring": refuse(errno.EPERM, IO_URING_SETUP),
    "keyring": refuse(errno.EPERM, ADD_KEY, KEYCTL),
    "landlock": refuse(errno.ENOSYS, LANDLOCK_CREATE_RULESET),
    "namespaces": refuse(errno.EPERM, UNSHARE),
    "roots": refuse(errno.EPERM, PIVOT_ROOT),
    "instances": refuse(errno.ENOSYS, INOTIFY_INIT),
    "watches": refuse(errno.EPERM, INOTIFY_ADD_WATCH),
    "filters": [
        step(LOAD, AT_NUMBER),
        step(JUMP_EQUAL, SECCOMP, 0, 1),
        step(RETURN, ERRNO | errno.ENOSYS),
        step(JUMP_EQUAL, PRCTL, 0, 3),
        step(LOAD, AT_ARGUMENTS),
        step(JUMP_EQUAL, PR_SET_SECCOMP, 0, 1),
        step(RETURN, ERRNO | errno.EINVAL),
        step(RETURN, ALLOW),
    ],
    "direct": [
        step(LOAD, AT_NUMBER),
        step(JUMP_EQUAL, FCNTL, 0, 5),
        step(LOAD, AT_ARGUMENTS + 8),
        step(JUMP_EQUAL, F_SETFL, 0, 3),
        step(LOAD, AT_ARGUMENTS + 16),
        step(JUMP_SET, O_DIRECT, 0, 1),
        step(RETURN, ERRNO | errno.EINVAL),
        step(RETURN, ALLOW),
    ],
}


class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


steps = FILTERS[sys.argv[1]]
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
    sys.exit(f"PR_SET_NO_NEW_PRIVS: {os.strerror(ctypes.get_errno())}")
program = Program(len(steps), b"".join(steps))
if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program)) != 0:
    sys.exit(f"PR_SET_SECCOMP: {os.strerror(ctypes.get_errno())}")
os.execv(sys.argv[2], sys.argv[2:])
