"""Waiting in asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Optional, Protocol, TypeVar

from framebus import _native
from framebus._native import Frame

if TYPE_CHECKING:
    import asyncio


class Subscriber(_native.Subscriber):
    __doc__ = _native.Subscriber.__doc__
    _waits = False

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
            if self._waits:
                raise RuntimeError(
                    "another task waits in this subscriber; use one task for it"
                )
            self._waits = True
            try:
                await _readable(self.fileno())
            finally:
                self._waits = False


Value = TypeVar("Value", covariant=True)


class _Observation(Protocol[Value]):
    def poll(self) -> Optional[Value]: ...
    def fileno(self) -> int: ...


async def deliveries(observation: _Observation[Value]) -> AsyncIterator[Value]:
    """Yields what an Observation or a SettingsObservation receives, in asyncio."""
    while True:
        delivery = observation.poll()
        if delivery is None:
            await _readable(observation.fileno())
        else:
            yield delivery


async def _readable(descriptor: int) -> None:
    import asyncio

    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _finish, ready)
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
