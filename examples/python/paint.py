"""Publishes a moving square, written in place as a numpy array."""

import time

import framebus
import numpy as np

group = framebus.Group()
format = framebus.Format.video(framebus.XRGB8888, 640, 360, rate=25)
with framebus.Publisher(group, "canvas", format) as publisher:
    for number in range(250):
        publisher.wait()
        with publisher.loan() as loan:
            np.asarray(loan)[:] = 32
            np.asarray(loan)[100:200, 2 * number : 2 * number + 100] = (0, 128, 255, 0)
        time.sleep(1 / 25)
