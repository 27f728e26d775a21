"""The exceptions of framebus, one for each kind of failure."""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "BackpressureError",
    "BusyError",
    "ClosedError",
    "Error",
    "ExistsError",
    "ForkedError",
    "LimitError",
    "NoAnswerError",
    "NotFoundError",
    "OperationError",
    "PausedError",
    "PermissionDeniedError",
    "RefusedError",
    "StoppedError",
    "TimedOutError",
    "UntrustedError",
    "WrongTypeError",
]


class Error(Exception):
    """A failure of framebus. The text says what happened, the cause and a remedy."""

    code: int
    """The result of the C interface, as in framebus.h."""
    system_error: int
    """The errno of the failed system call; 0 if there is none."""


class ArgumentError(Error, ValueError):
    """An argument is not valid."""


class ClosedError(Error, ValueError):
    """The object is closed, released or published."""


class ForkedError(Error, RuntimeError):
    """The object is a parent process's: use the "spawn" method of multiprocessing."""


class BusyError(Error):
    """In use: a stream has a publisher, or settings are locked."""


class NotFoundError(Error, LookupError):
    """There is no such group, stream, semaphore, key or credential."""


class ExistsError(Error):
    """It exists already."""


class PermissionDeniedError(Error, PermissionError):
    """This user or role may not do that."""


class LimitError(Error):
    """All leases, loans, seats or permits are in use, or the data is too large."""


class PausedError(Error):
    """The stream is paused: resume it before the next loan."""


class BackpressureError(Error, BlockingIOError):
    """A lossless subscriber has not received the oldest frame."""


class RefusedError(Error, ConnectionError):
    """The publisher refuses this subscriber."""


class UntrustedError(Error):
    """A peer or a file breaks the protocol; nothing of it was used."""


class NoAnswerError(Error, ConnectionError):
    """The publisher runs, but does not answer."""


class OperationError(Error, OSError):
    """A system call failed: see `errno`."""


class WrongTypeError(Error, TypeError):
    """A setting has another type."""


class TimedOutError(Error, TimeoutError):
    """The timeout passed."""


class StoppedError(Error):
    """The wait was stopped."""


_CLASSES: dict[int, type[Error]] = {
    1: TimedOutError,
    2: StoppedError,
    -1: ArgumentError,
    -2: ClosedError,
    -3: ForkedError,
    -4: BusyError,
    -5: NotFoundError,
    -6: ExistsError,
    -7: PermissionDeniedError,
    -8: LimitError,
    -9: PausedError,
    -10: BackpressureError,
    -11: RefusedError,
    -12: UntrustedError,
    -13: NoAnswerError,
    -14: OperationError,
    -15: WrongTypeError,
}


def make(code: int, message: str, system_error: int) -> Error:
    """The exception of a result of the C interface."""
    error = _CLASSES.get(code, Error)(message)
    error.code = code
    error.system_error = system_error
    if isinstance(error, OSError) and system_error:
        error.errno = system_error
    return error
