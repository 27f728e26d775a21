"""Feedback of RTCP that aiortc itself never sends."""
import struct

from aiortc.rtp import RtcpPsfbPacket


async def send_fir(receiver, source, number):
    """Asks a source for a key frame by FIR (RFC 5104, section 4.3.1): of the two sources that a
    packet of feedback names, its media's is always 0; who is meant follows."""
    packet = RtcpPsfbPacket(
        fmt=4, ssrc=receiver._RTCRtpReceiver__rtcp_ssrc, media_ssrc=0,
        fci=struct.pack("!LB3x", source, number % 256))
    await receiver._send_rtcp(packet)
