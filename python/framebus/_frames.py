"""Subscribers in asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from framebus import _native
from framebus._native import Frame

if TYPE_CHECKING:
    import asyncio


class Subscriber(_native.Subscriber):
    __doc__ = _native.Subscriber.__doc__

    def __aiter__(self) -> Subscriber:
        return self

    async def __anext__(self) -> Frame:
        frame = await self.receive_async()
        if frame is None:
            raise StopAsyncIteration
        return frame

    async def receive_async(self) -> Optional[Frame]:
        """The next frame, in asyncio; None when the stream has finished.

        A task that is cancelled while it waits loses no frame.
        """
        import asyncio  # Late: programs without it start faster.

        # A stream that always has a frame would leave no time to other tasks.
        await asyncio.sleep(0)
        while True:
            frame = self.poll()
            if frame is not None or self.finished:
                return frame
            await self._readable()

    async def _readable(self) -> None:
        import asyncio

        loop = asyncio.get_running_loop()
        descriptor = self.fileno()
        ready: asyncio.Future[None] = loop.create_future()
        if getattr(self, "_waits", False):
            raise RuntimeError("another task waits in this subscriber; use one task for it")
        self._waits = True
        loop.add_reader(descriptor, _finish, ready)
        try:
            await ready
        finally:
            self._waits = False
            loop.remove_reader(descriptor)


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
