"""Peers that do not keep the frame bus's protocol, for HostileTests and WakingTests.

usage: hostile_peer.py ROLE SOCKET [ARGUMENT…]
Each role says "ready" once it is at work, and goes on until it is killed unless it says "done".
"""
import ctypes
import fcntl
import mmap
import os
import random
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

MAGIC = 0x31305355424D5246
HELLO, WELCOME, POOL, ACK, LOOK, INSPECT, SEATED, PAGE, MAPPED = 1, 2, 4, 5, 6, 7, 9, 12, 13
VERSION = 5
AT_CURSOR, AT_WAKE, AT_STATE, BOARD_BYTES = 128, 512, 32, 640
AT_POSITION, AT_WAITING, AT_PROGRESS = 128, 768, 140
AT_SEATS, SEAT_EVICTED = 256, 4
SYS_FUTEX, FUTEX_WAKE, FUTEX_REQUEUE, FUTEX_WAIT_REQUEUE_PI = 202, 1, 3, 11
WAITING_FUTEX, WAITING_BELL, WAITING_SEMAPHORE = 1, 2, 3
if os.uname().machine == "aarch64":
    SYS_FUTEX = 98
PATH = sys.argv[2]
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p] + [ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]


def header(kind, version=VERSION):
    return struct.pack("<QII", MAGIC, version, kind)


def hello(holds=1, lossless=0, deadline=0, keep=0, wait=0):
    options = struct.pack("<IIQQII", holds, lossless, deadline, keep, 0, wait)
    return (header(HELLO) + options).ljust(64, b"\0")


def connect():
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    peer.settimeout(30)
    peer.connect(PATH)
    return peer


class Seat:
    """A subscriber's seat, with its page as plain memory."""

    def __init__(self, answers=True, **options):
        self.socket = connect()
        self.socket.send(hello(**options))
        message, own, _, _ = socket.recv_fds(self.socket, 4096, 8)
        assert struct.unpack_from("<I", message, 12)[0] == PAGE, message
        self.page = mmap.mmap(own[0], 4096)
        self.page_address = libc.mmap(None, 4096, 3, 1, own[0], 0)
        self.semaphore = mmap.mmap(own[1], 4096) if len(own) > 1 else None
        self.socket.send(header(MAPPED) + bytes(8))
        message, files, _, _ = socket.recv_fds(self.socket, 4096, 8)
        assert struct.unpack_from("<I", message, 12)[0] == WELCOME, message
        self.own = own
        if answers:
            self.socket.send(header(SEATED) + bytes(8))
        self.index = struct.unpack_from("<I", message, 16)[0]
        self.files = files
        self.depth = struct.unpack_from("<I", message, 40)[0]
        self.board = mmap.mmap(files[0], 0, mmap.MAP_SHARED, mmap.PROT_READ)
        self.pool = mmap.mmap(files[1], 0, mmap.MAP_SHARED, mmap.PROT_READ)
        self.board_address = libc.mmap(None, 4096, 1, 1, files[0], 0)

    def cursor(self):
        return struct.unpack_from("<Q", self.board, AT_CURSOR)[0]


def malformed():
    """Every one of these must end the connection."""
    random.seed(7)
    messages = [b"", b"\0", hello()[:40], hello() + b"\0", header(99), header(ACK), header(LOOK)]
    messages += [header(POOL).ljust(40, b"\0"), header(WELCOME).ljust(128, b"\xff"), b"x" * 5000]
    messages += [random.randbytes(random.randrange(1, 5000)) for _ in range(50)]
    messages.append(header(SEATED) + bytes(8))
    for message in messages:
        peer = connect()
        peer.send(message)
        expect_end(peer)
    for _ in range(20):
        peer = connect()
        try:
            socket.send_fds(peer, [hello()], [0, 1, 2] * 40)
            expect_end(peer)
        except PermissionError:
            pass  # a kernel that refuses descriptors on behalf of the listener
    for message in (hello(), header(SEATED) + bytes(8)):
        seat = Seat()
        seat.socket.send(message)
        expect_end(seat.socket)
    print("done", flush=True)


def expect_end(peer):
    try:
        while peer.recv(4096):
            pass
    except ConnectionError:
        pass


def undecided():
    """Takes the welcome and never says whether it will stay."""
    seat = Seat(answers=False)
    ready()
    expect_end(seat.socket)
    print("done", flush=True)


def strangers():
    """A crowd that connects and says nothing."""
    crowd = []
    for _ in range(10_000):
        try:
            peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            peer.setblocking(False)
            peer.connect(PATH)
            crowd.append(peer)
        except BlockingIOError:
            peer.close()
        crowd = crowd[-500:]
    ready()
    wait_for_ever()


def besiegers():
    """A crowd at the door that never thins out."""
    crowd = []
    ready()
    while True:
        try:
            peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            peer.setblocking(False)
            peer.connect(PATH)
            crowd.append(peer)
        except BlockingIOError:
            os.sched_yield()
        crowd = crowd[-500:]


def inspectors():
    """Asks for the status as fast as it can, and never reads an answer."""
    ready()
    while True:
        try:
            peer = connect()
            for _ in range(200):
                peer.send(header(INSPECT) + bytes(8))
        except OSError:
            pass


def pages():
    """Seats whose pages hold random words, and whose sockets nobody reads."""
    seats = [Seat(holds=16) for _ in range(8)]
    ready()
    while True:
        for seat in seats:
            near = [max(0, seat.cursor() - index) for index in range(16)]
            seat.page[:128] = struct.pack("<16Q", *near)
            seat.page[128:4096] = random.randbytes(4096 - 128)


def wavering():
    """A lossless subscriber that receives nothing and says otherwise, again and again."""
    seat = Seat(lossless=1, deadline=2**63)
    ready()
    while seat.cursor() == 0:
        pass
    start = max(seat.depth + 1, seat.cursor())
    turn = 0
    while True:
        turn += 1
        struct.pack_into("<Q", seat.page, AT_POSITION, start - seat.depth - turn % 2)
        struct.pack_into("<I", seat.page, AT_PROGRESS, turn % 2**32)
        address = ctypes.c_void_p(seat.page_address + AT_PROGRESS)
        libc.syscall(SYS_FUTEX, address, FUTEX_WAKE, 1, None, None, 0)


def crawler():
    """A lossless subscriber that gets on by one frame now and then."""
    seat = Seat(lossless=1, deadline=2**63)
    position = seat.cursor()
    ready()
    turn = 0
    while True:
        if seat.cursor() > position:
            time.sleep(0.03)
            position += 1
            turn += 1
            struct.pack_into("<Q", seat.page, AT_POSITION, position)
            struct.pack_into("<I", seat.page, AT_PROGRESS, turn % 2**32)
            address = ctypes.c_void_p(seat.page_address + AT_PROGRESS)
            libc.syscall(SYS_FUTEX, address, FUTEX_WAKE, 1, None, None, 0)
        os.sched_yield()


def miser():
    """Acknowledges no pool, holds the third frame, and then everything it can."""
    seat = Seat(holds=16)
    ready()
    while seat.cursor() < 3:
        os.sched_yield()
    index = seat.index
    held = seat.cursor()
    struct.pack_into("<Q", seat.page, 0, held)
    print("holding", held, flush=True)
    while struct.unpack_from("<I", seat.board, AT_SEATS + 4 * index)[0] != SEAT_EVICTED:
        os.sched_yield()
    print("evicted", flush=True)
    while True:
        near = [max(0, seat.cursor() - index) for index in range(15)]
        seat.page[8:128] = struct.pack("<15Q", *near)


def deserter():
    """Holds a frame, forks a child that goes on reading with the socket open, and execs."""
    seat = Seat()
    while seat.cursor() == 0:
        os.sched_yield()
    struct.pack_into("<Q", seat.page, 0, seat.cursor())
    parent = os.getpid()
    if os.fork() == 0:
        while os.getppid() == parent:
            sum(seat.pool[:65536])
        # Lives on for a while, and with it the connection.
        time.sleep(20)
        os._exit(0)
    ready()
    os.execvp("sleep", ["sleep", "1000"])


def quitter():
    """Takes a seat, holds a frame, closes the socket and goes on reading; again and again."""
    ready()
    while True:
        seat = Seat(holds=4)
        for turn in range(4):
            struct.pack_into("<Q", seat.page, 8 * turn, max(0, seat.cursor() - turn))
        sum(seat.pool[:4096])
        seat.socket.close()
        sum(seat.pool[:4096])


def thief():
    """Moves all sleepers on the board's wake word to a word of its own."""
    seat = Seat()
    ready()
    while True:
        libc.syscall(
            SYS_FUTEX, ctypes.c_void_p(seat.board_address + AT_WAKE), FUTEX_REQUEUE, 0,
            ctypes.c_long(1000), ctypes.c_void_p(seat.page_address + 2048), 0)
        os.sched_yield()


def poisoner():
    """Waits on the wake word as only who will be requeued may: a wake-up that meets it fails."""
    seat = Seat()

    def wait():
        while True:
            libc.syscall(
                SYS_FUTEX, ctypes.c_void_p(seat.board_address + AT_WAKE), FUTEX_WAIT_REQUEUE_PI,
                struct.unpack_from("<I", seat.board, AT_WAKE)[0], None,
                ctypes.c_void_p(seat.page_address + 2048), 0)

    for _ in range(4):
        threading.Thread(target=wait, daemon=True).start()
    ready()
    wait_for_ever()


def crowd():
    """Thousands of threads that sleep where the publisher wakes: crowd.c, made from a seat.

    Arguments: the program, futex or poll, how many threads.
    """
    seat = Seat()
    program, where, count = sys.argv[3:6]
    descriptor = seat.files[0] if where == "futex" else seat.files[2]
    waiting = WAITING_BELL if where == "poll" else WAITING_FUTEX
    struct.pack_into("<I", seat.page, AT_WAITING, waiting)
    threads = subprocess.Popen(
        [program, where, str(descriptor), count], pass_fds=[descriptor], stdout=subprocess.PIPE,
        preexec_fn=lambda: libc.prctl(1, signal.SIGKILL))
    assert threads.stdout.readline() == b"ready\n"
    ready()
    wait_for_ever()


def bellringers():
    """Seats that always want their bell, and never hear it, or play with its socket."""
    random.seed(7)
    seats = [Seat() for _ in range(4)]
    bells = [socket.socket(fileno=seat.files[2]) for seat in seats]
    for seat in seats:
        struct.pack_into("<I", seat.page, AT_WAITING, WAITING_BELL)
    bells[1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    bells[1].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    bells[2].shutdown(socket.SHUT_RDWR)
    bells[3].close()
    for bell in bells[:2]:
        try:
            bell.send(b"x")
            print("could ring back", flush=True)
        except BrokenPipeError:
            pass
    ready()
    wait_for_ever()


def spoiler():
    """Waits for a semaphore, and writes into it what makes glibc's sem_post(3) abort its caller."""
    seat = Seat(wait=2)
    semaphore = seat.semaphore
    ready()
    for turn in range(1 << 62):
        value = (0, 0x7FFFFFFF, 0xFFFFFFFF, random.getrandbits(32))[turn % 4]
        words = struct.pack("<IIII", value, turn % 3, 0x7F, random.getrandbits(32))
        semaphore[0:16] = words
        struct.pack_into("<I", seat.page, AT_WAITING, WAITING_SEMAPHORE)
        if turn % 64 == 0:
            time.sleep(0.0005)


def alarmist():
    """Wakes all sleepers on the board's wake word, again and again."""
    seat = Seat()
    ready()
    address = ctypes.c_void_p(seat.board_address + AT_WAKE)
    while True:
        libc.syscall(SYS_FUTEX, address, FUTEX_WAKE, 1000, None, None, 0)
        os.sched_yield()


def puncher():
    """Makes holes in the memory that the publisher reads and posts, as fast as it can."""
    seats = [Seat(), Seat(wait=WAITING_SEMAPHORE - 1)]
    files = [seats[0].own[0]] + seats[1].own
    maps = [libc.mmap(None, 4096, 3, 1, file, 0) for file in files[:1]] + [
        seats[1].page_address]
    libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    made = 0
    for turn in range(3000):
        for file in files:
            made += libc.fallocate(file, 3, 0, 4096) == 0
        for address in maps:
            made += libc.madvise(address, 4096, 9) == 0
    print("holes", made, flush=True)
    wait_for_ever()


def reader():
    """Reads a byte of each page of each pool it was ever sent; says how many bytes they take."""
    seat = Seat(holds=int(sys.argv[3]))
    pools = seat.files[1:2]
    ready()
    seat.socket.settimeout(0.2)
    try:
        while True:
            message, files, _, _ = socket.recv_fds(seat.socket, 4096, 8)
            if struct.unpack_from("<I", message, 12)[0] == POOL:
                pools += files
    except TimeoutError:
        pass
    total = 0
    for file in pools:
        pool = mmap.mmap(file, 0, mmap.MAP_SHARED, mmap.PROT_READ)
        sum(pool[::4096])
        total += os.fstat(file).st_blocks * 512
    print("real", total, "bytes", flush=True)
    seat.socket.close()
    wait_for_ever()


def jam():
    """Sends descriptors to itself that it never receives, until a line is read; as a user."""
    os.setgroups([])
    os.setgid(int(sys.argv[3]))
    os.setuid(int(sys.argv[3]))
    pairs = []
    for _ in range(8):
        pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        pairs.append(pair)
        for _ in range(4):
            try:
                socket.send_fds(pair[0], [b"x"], [0] * 50)
            except OSError:
                break
    ready()
    wait_for_ever()


def parent():
    """A publisher that forks: the child keeps all its sockets open when the parent is killed."""
    listener = listen()
    ready()
    peer, _ = listener.accept()
    fake = FakePublisher()
    peer.recv(4096)
    fake.welcome(peer)
    peer.recv(4096)
    if os.fork() == 0:
        os.closerange(0, 3)
        # Until the subscriber has gone.
        while peer.recv(4096):
            pass
        os._exit(0)
    print("forked", flush=True)
    wait_for_ever()


def deaf():
    """Listens, and lets the queue of connections fill up."""
    listener = listen(backlog=0)
    crowd = []
    while True:
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        peer.setblocking(False)
        crowd.append(peer)
        try:
            peer.connect(PATH)
        except BlockingIOError:
            break
    ready()
    wait_for_ever()
    listener.close()


def listen(backlog=16):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(PATH)
    os.chmod(PATH, 0o666)
    listener.listen(backlog)
    return listener


def crowd_of_sockets():
    """Sockets beside the stream's, as many as asked for, of a user: nobody accepts at them."""
    count, user = int(sys.argv[3]), int(sys.argv[4])
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if user != os.getuid():
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    for number in range(count):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(os.path.join(os.path.dirname(PATH), f"a{number:05}.sock"))
        os.chmod(listener.getsockname(), 0o666)
        listener.listen(1)
        listener.detach()
    ready()
    wait_for_ever()


def bad_answers():
    """Publishers that accept and say nothing, a byte at a time, too much, or without an end."""
    def serve(name, answer, kind=socket.SOCK_SEQPACKET):
        listener = socket.socket(socket.AF_UNIX, kind)
        listener.bind(os.path.join(os.path.dirname(PATH), f"{name}.sock"))
        os.chmod(listener.getsockname(), 0o666)
        listener.listen(16)
        kept = []
        while True:
            peer, _ = listener.accept()
            kept.append(peer)
            try:
                peer.recv(4096)
                answer(peer)
            except OSError:
                pass

    def in_bytes(peer):
        for byte in header(8).ljust(3000, b"\0"):
            peer.send(bytes([byte]))
            time.sleep(0.01)

    def at_length(peer):
        peer.setsockopt(socket.SOL_SOCKET, 32, 20 << 20)  # SO_SNDBUFFORCE
        peer.send(header(8).ljust(10 << 20, b"\0"))

    def without_end(peer):
        # As many subscribers as there can be, and an answer for each of them, in time or not.
        status = bytearray(header(8).ljust(4000, b"\0"))
        peer.send(status)

    for name, answer in [
        ("a-silent", lambda peer: None), ("b-bytes", in_bytes), ("c-long", at_length),
        ("d-empty", without_end),
    ]:
        threading.Thread(target=serve, args=(name, answer), daemon=True).start()
    threading.Thread(
        target=serve, args=("e-kind", lambda peer: None, socket.SOCK_STREAM), daemon=True).start()
    while len([name for name in os.listdir(os.path.dirname(PATH)) if name[1:2] == "-"]) < 5:
        os.sched_yield()
    ready()
    wait_for_ever()


class FakePublisher:
    """The memory of a stream of two slots of a page each, and what its welcome says."""

    def __init__(self):
        self.bell, hearing = socket.socketpair()
        self.page = self.memory(4096)
        self.files = [self.memory(4096), self.memory(8192), hearing.detach()]
        self.board = mmap.mmap(self.files[0], 4096)
        start = struct.pack("<QIIQII", MAGIC, VERSION, 2, 77, os.getpid(), 0)
        self.board[: len(start)] = start
        struct.pack_into("<I", self.board, AT_STATE, 1)

    @staticmethod
    def memory(size):
        file = os.memfd_create("fake", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
        os.ftruncate(file, size)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        return file

    def welcome(self, peer):
        socket.send_fds(peer, [header(PAGE) + bytes(8)], [self.page])
        peer.recv(4096)
        message = header(WELCOME) + struct.pack("<IIQQII", 0, 1, 0, 77, 2, 0)
        message += struct.pack("<IIQ", 1, 2, 4096)
        socket.send_fds(peer, [message.ljust(128, b"\0")], self.files)

    def write(self, sequence, pool=1, slot=0, payload=8, epoch=1):
        at = BOARD_BYTES + 128 * (sequence % 2)
        record = struct.pack("<QIIQQ", sequence, pool, slot, payload, epoch)
        self.board[at : at + len(record)] = record
        form = struct.pack("<QIIIIQIIII", epoch, 5 - 1, 0, 0, 0, 8, 0, 0, 0, 1)
        at = BOARD_BYTES + 2 * 128 + 128 * (epoch % 2)
        self.board[at : at + len(form)] = form
        struct.pack_into("<Q", self.board, AT_CURSOR, sequence)


def liar():
    """A publisher whose board says anything, newly each moment, to one subscriber after another."""
    listener = listen()
    ready()
    odd = [0, 1, 2, 3, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
    small = [0, 1, 2, 3, 2**31, 2**32 - 1]
    while True:
        peer, _ = listener.accept()
        fake = FakePublisher()
        peer.recv(4096)
        fake.welcome(peer)
        for turn in range(20_000):
            sequence, epoch = random.choice(odd), random.choice(odd[:4])
            fake.write(
                sequence, random.choice(small[:4]), random.choice(small),
                random.choice(odd), epoch)
            at = BOARD_BYTES + 128 * (sequence % 2)
            for word in (0, sequence, 0, sequence):
                struct.pack_into("<Q", fake.board, at, word)
            if turn % 16 == 0:
                at = random.randrange(BOARD_BYTES, 1024)
                fake.board[at : at + 8] = random.randbytes(8)
        peer.close()


def chatterbox():
    """A publisher that says one thing that matters, behind many bells, and ends.

    The subscriber is stopped meanwhile, as any may be, and finds it all at once.
    """
    listener = listen()
    ready()
    peer, _ = listener.accept()
    fake = FakePublisher()
    peer.recv(4096)
    fake.welcome(peer)
    page = mmap.mmap(fake.page, 4096)
    while struct.unpack_from("<I", page, AT_WAITING)[0] == 0:
        os.sched_yield()
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    subscriber = struct.unpack("iII", credentials)[0]
    os.kill(subscriber, signal.SIGSTOP)
    for _ in range(100):
        peer.send(header(LOOK) + bytes(8))
    message = header(POOL) + struct.pack("<IIQII", 2, 2, 4096, 1, 0)
    socket.send_fds(peer, [message], [fake.memory(8192)])
    fake.write(1, pool=2)
    struct.pack_into("<II", fake.board, AT_STATE, 2, 1)
    peer.close()
    os.kill(subscriber, signal.SIGCONT)


def ready():
    print("ready", flush=True)


def wait_for_ever():
    while True:
        signal.pause()


globals()[sys.argv[1]]()
