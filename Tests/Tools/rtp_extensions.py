"""Writes the header extensions of RTP packets that arrive in this network namespace, which SRTP does
not encrypt: `packet SOURCE NUMBER ID,ID…`, after `listening`. Needs root.

  rtp_extensions.py ID

NUMBER is the value of the extension with this identifier, or –.
"""
import socket
import struct
import sys

wanted = int(sys.argv[1])
ETH_P_ALL, OUTGOING, UDP = 3, 4, 17
SO_RCVBUFFORCE, BUFFER_BYTES = 33, 32 << 20


def extensions(packet):
    """Of one byte (RFC 8285, section 4.2)."""
    start = 12 + 4 * (packet[0] & 15)
    profile, words = struct.unpack_from("!HH", packet, start)
    if profile != 0xBEDE:
        return
    position, end = start + 4, start + 4 + 4 * words
    while position < end:
        number, size = packet[position] >> 4, (packet[position] & 15) + 1
        if number:
            yield number, packet[position + 1:position + 1 + size]
        position += 1 + size if number else 1


with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL)) as listener:
    # On a busy machine, packets wait.
    listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    print("listening", flush=True)
    while True:
        data, origin = listener.recvfrom(65536)
        if origin[2] == OUTGOING or len(data) < 20 or data[0] >> 4 != 4 or data[9] != UDP:
            continue
        packet = data[4 * (data[0] & 15) + 8:]
        if len(packet) < 20 or packet[0] >> 6 != 2 or not packet[0] & 0x10 \
                or 192 <= packet[1] <= 223:
            continue
        try:
            found = dict(extensions(packet))
        except (struct.error, IndexError):
            # Not RTP, although it begins as RTP does.
            continue
        number = found.get(wanted)
        print("packet", packet[8:12].hex(), "–" if number is None else int.from_bytes(number, "big"),
              ",".join(map(str, sorted(found))), flush=True)
