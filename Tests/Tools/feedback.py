"""RTCP feedback that aiortc does not send."""
import asyncio
import struct

from aiortc.rtp import RtcpPsfbPacket


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
