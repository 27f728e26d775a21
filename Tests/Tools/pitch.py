"""Hears the pitch of a tone in frames of PyAV's."""
import array


class Pitch:
    def __init__(self):
        self.heard = []

    def of_second(self, frame):
        """Once a second has come since the last one: its pitch, by the rises of its first channel
        through zero, and its loudest sample."""
        samples = array.array("h", bytes(frame.planes[0])[: frame.samples * 4])[0::2]
        self.heard.extend(samples)
        heard = self.heard
        if len(heard) < frame.sample_rate:
            return None
        self.heard = []
        rises = [i for i in range(1, len(heard)) if heard[i - 1] < 0 <= heard[i]]
        seconds = (rises[-1] - rises[0]) / frame.sample_rate if len(rises) > 1 else 0
        pitch = (len(rises) - 1) / seconds if seconds else 0
        return f"{pitch:.2f}", max(heard)
