"""Feedback of RTCP that aiortc itself never sends."""
import asyncio
import struct

from aiortc.rtp import RtcpPsfbPacket


async def send_fir(receiver, source, number):
    """Asks a source for a key frame by FIR (RFC 5104, section 4.3.1): of the two sources that a
    packet of feedback names, its media's is always 0; who is meant follows."""
    packet = RtcpPsfbPacket(
        fmt=4, ssrc=receiver._RTCRtpReceiver__rtcp_ssrc, media_ssrc=0,
        fci=struct.pack("!LB3x", source, number % 256))
    await receiver._send_rtcp(packet)


async def ask_again(receiver):
    """Asks for the packets that are missing, by NACK (RFC 4585, section 6.2.1), every 50 ms until
    they are here, as browsers do. aiortc itself asks when it misses a packet more, so that a lost
    retransmission may keep it waiting for more than a second."""
    while True:
        await asyncio.sleep(0.05)
        missing = receiver._RTCRtpReceiver__nack_generator.missing
        for source in receiver._RTCRtpReceiver__rtx_ssrc.values():
            if missing:
                await receiver._send_rtcp_nack(source, sorted(missing))
