"""Python's logging, written to the log of a group."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from framebus._errors import Error
from framebus._native import Log

if TYPE_CHECKING:
    from framebus._native import _Level


class LogHandler(logging.Handler):
    """Writes records of `logging` to a log of the group, which it closes at the end.

    The logger's name becomes the label of a line. ``extra={"fields": {"stream": "canvas"}}`` adds
    fields beside the message::

        log = framebus.Log(framebus.Group(), "capture", "debug")
        logging.basicConfig(level=logging.DEBUG, handlers=[framebus.LogHandler(log)])
    """

    def __init__(self, log: Log, level: int | str = logging.NOTSET) -> None:
        super().__init__(level)
        self.log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Appends a line. Never waits."""
        try:
            fields = getattr(record, "fields", None) or {}
            self.log.append(
                _level_of(record.levelno),
                _clean(self.format(record)),
                _clean(record.name),
                {_clean(str(key)): _clean(str(value)) for key, value in fields.items()},
            )
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Saves all lines and closes the log."""
        try:
            self.log.close()
        except Error:
            # Its lines are in memory that the next log saves, or a parent process's.
            pass
        super().close()


def _level_of(number: int) -> _Level:
    if number < logging.DEBUG:
        return "trace"
    if number < logging.INFO:
        return "debug"
    if number == logging.INFO:
        return "info"
    if number < logging.WARNING:
        return "notice"
    if number < logging.ERROR:
        return "warning"
    return "error" if number < logging.CRITICAL else "critical"


def _clean(text: str) -> str:
    """Text that the log accepts: UTF-8 without zero characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
