"""RTCP feedback that aiortc does not send."""
import asyncio
import struct
import time

import aiortc.codecs
from aiortc import RTCRtpReceiver
from aiortc.rtcrtpparameters import RTCRtpHeaderExtensionParameters
from aiortc.rtp import RtcpPsfbPacket, pack_rtcp_packet, pack_remb_fci


async def send_fir(receiver, source, number):
    """Requests a key frame from a source by FIR (RFC 5104, section 4.3.1). The packet's media
    source is always 0; the requested source is in its FCI entry."""
    packet = RtcpPsfbPacket(
        fmt=4, ssrc=receiver._RTCRtpReceiver__rtcp_ssrc, media_ssrc=0,
        fci=struct.pack("!LB3x", source, number % 256))
    await receiver._send_rtcp(packet)


async def ask_again(receiver):
    """Requests missing packets by NACK (RFC 4585, section 6.2.1) every 50 ms until they arrive,
    as browsers do. aiortc itself requests only when another packet is missing, so that a lost
    retransmission may delay it for more than a second."""
    while True:
        await asyncio.sleep(0.05)
        missing = receiver._RTCRtpReceiver__nack_generator.missing
        for source in receiver._RTCRtpReceiver__rtx_ssrc.values():
            if missing:
                await receiver._send_rtcp_nack(source, sorted(missing))


async def send_remb(receiver, bits_per_second):
    """Allows a sender at most this bitrate (draft-alvestrand-rmcat-remb-03)."""
    packet = RtcpPsfbPacket(
        fmt=15, ssrc=receiver._RTCRtpReceiver__rtcp_ssrc, media_ssrc=0,
        fci=pack_remb_fci(bits_per_second, []))
    await receiver._send_rtcp(packet)


def video_source(receiver):
    """The source of the pictures, not of their retransmissions; None before the first packet.
    libwebrtc ignores feedback whose media source is not one of its own."""
    sources = receiver._RTCRtpReceiver__remote_streams
    repeated = receiver._RTCRtpReceiver__rtx_ssrc
    return next((each for each in sources if each not in repeated), None)


class Arrivals:
    """Reports when each packet arrived, as browsers do
    (draft-holmer-rmcat-transport-wide-cc-extensions-01). Make it before the first connection."""

    def __init__(self):
        self.times = {}
        self.count = 0
        aiortc.codecs.HEADER_EXTENSIONS["video"].append(RTCRtpHeaderExtensionParameters(
            id=3, uri="http://www.ietf.org/id/"
            "draft-holmer-rmcat-transport-wide-cc-extensions-01"))
        handle = RTCRtpReceiver._handle_rtp_packet

        async def note(receiver, packet, arrival_time_ms):
            number = packet.extensions.transport_sequence_number
            if number is not None:
                self.times[number] = int(time.monotonic() * 4000)
            await handle(receiver, packet, arrival_time_ms)

        RTCRtpReceiver._handle_rtp_packet = note

    async def report(self, receiver):
        while True:
            await asyncio.sleep(0.05)
            source = video_source(receiver)
            if self.times and source is not None:
                times, self.times = self.times, {}
                await receiver.transport._send_rtp(self.packet(receiver, source, times))

    def packet(self, receiver, source, times):
        """Times are in quarters of milliseconds; numbers are of 16 bits."""
        first = min(times)
        if max(times) - first > 0x8000:
            first = min(number for number in times if number > 0x8000)
        numbers = [(first + i) % 0x10000 for i in range(
            max((number - first) % 0x10000 for number in times) + 1)]
        before = times[first] // 256 * 256
        chunks, deltas = b"", b""
        for start in range(0, len(numbers), 7):
            chunk = 0xC000
            for i, number in enumerate(numbers[start:start + 7]):
                if number in times:
                    chunk |= 2 << (12 - 2 * i)
                    deltas += struct.pack("!h", times[number] - before)
                    before = times[number]
            chunks += struct.pack("!H", chunk)
        head = struct.pack(
            "!LLHHL", receiver._RTCRtpReceiver__rtcp_ssrc, source, first, len(numbers),
            (times[first] // 256 & 0xFFFFFF) << 8 | self.count % 256)
        self.count += 1
        body = head + chunks + deltas
        return pack_rtcp_packet(205, 15, body + bytes(-len(body) % 4))
