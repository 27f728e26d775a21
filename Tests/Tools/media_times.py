"""The times of what aiortc decodes: by RTP time stamps, and by the sender's clock, which its sender
reports (RFC 3550, section 6.4.1) relate to them."""
import array

from aiortc import rtp, rtcrtpreceiver

from test_pattern import whole_mark

reports = {}
handle = rtcrtpreceiver.RTCRtpReceiver._handle_rtcp_packet


async def handle_and_keep(receiver, packet):
    if isinstance(packet, rtp.RtcpSrPacket):
        # Retransmissions have a source, and reports, of their own.
        if packet.ssrc in [each.source for each in receiver.getSynchronizationSources()]:
            information = packet.sender_info
            reports[receiver] = (information.ntp_timestamp / 2**32, information.rtp_timestamp)
            print("report", receiver.track.kind, flush=True)
    await handle(receiver, packet)


rtcrtpreceiver.RTCRtpReceiver._handle_rtcp_packet = handle_and_keep


class MediaTimes:
    def __init__(self, receiver, kind):
        self.receiver = receiver
        self.kind = kind
        self.newest = None
        self.was_white = True
        self.quiet_since = None

    def at_sender(self, frame, later=0.0):
        """The sender's time of a frame, in seconds; None before its first report."""
        if self.receiver not in reports:
            return None
        seconds, stamp = reports[self.receiver]
        origin = self.receiver._RTCRtpReceiver__timestamp_mapper._origin
        ticks = (origin + frame.pts - stamp + 2**31) % 2**32 - 2**31
        return seconds + ticks * float(frame.time_base) + later

    def of(self, frame):
        return self.of_picture(frame) if self.kind == "video" else self.of_sound(frame)

    def of_picture(self, frame):
        value = whole_mark(frame)
        # A still picture is sent again, at a later time.
        if value is not None and value != self.newest:
            self.newest = value
            yield f"time {float(frame.pts * frame.time_base):.4f} {value % 2**32 / 1000:.3f}"
        luma = bytes(frame.planes[0])[:: 997]
        is_white = sum(luma) / len(luma) > 120
        time = self.at_sender(frame)
        if is_white and not self.was_white and time:
            yield f"flash {time:.4f}"
        self.was_white = is_white

    def of_sound(self, frame):
        """The beginning of a beep that follows a tenth of a second of silence."""
        samples = array.array("h", bytes(frame.planes[0])[: frame.samples * 4])[0::2]
        for index, sample in enumerate(samples):
            here = frame.pts + index
            if abs(sample) > 3000:
                time = self.at_sender(frame, index / frame.sample_rate)
                if self.quiet_since and here - self.quiet_since > 4800 and time:
                    yield f"beep {time:.4f}"
                self.quiet_since = here
            elif self.quiet_since is None:
                self.quiet_since = here
