"""Logs: one line per event, with its request, and without keys or e-mail addresses.

Lines go to standard error (standard output is for the protocol or a pipe) and, when
``LOGS_DIR`` is set, to files that rotate and that only their owner can read. On a terminal they are
for people; elsewhere each is a JSON object with ``time``, ``level``, ``logger``, ``message`` and,
where known, ``request``, ``tool``, ``job``, ``error`` (a traceback) and what the event adds.

Secrets are taken out of the finished line, so that they cannot hide in a traceback, an argument or
the message of another library.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import re
import select
import stat
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from .errors import BadRequest
from .system.plain_text import clean_text, to_plain_json
from .system.safe_files import exclusive_lock

if TYPE_CHECKING:
    from .settings import Settings

FILE = "papershelf.log"
FILE_BYTES = 5_000_000
OLDER_FILES = 5
HIDDEN = "[hidden]"
# Longer than any name of ours and shorter than any key: a shorter "key" would blank out words.
_SHORTEST_SECRET = 4
# Secrets that are not ours, or not in the settings, by their shape.
_SECRET_SHAPES = re.compile(
    r"""(?ix)
    (?P<named> [?&;\s"'{,] (?:api_?key|access_token|token|key|email|secret|password)
        ["']? \s? [=:] \s? ["']? ) (?!\[hidden\])  [^&\s"'<>,;)}\]]+
    | (?P<bearer> \b(?:bearer|basic)\s+ )  [\w.~+/=-]{8,}
    | (?P<user> \b[a-z][a-z0-9+.-]*:// )  [^\s/@"'<>]+@
    | \b eyJ[\w-]{5,} \. [\w-]+ \. [\w-]*
    """
)
# The fields every record has; others were given by ``extra=`` and are part of the event.
_STANDARD = set(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
    "color_message",
}
_bound: ContextVar[dict[str, str]] = ContextVar("papershelf_log", default={})  # noqa: B039


@contextmanager
def belonging_to(**names: str) -> Iterator[None]:
    """Give every line logged inside, also by threads with this context, the fields *names*."""
    token = _bound.set({**_bound.get(), **{name: value for name, value in names.items() if value}})
    try:
        yield
    finally:
        _bound.reset(token)


def bound(name: str) -> str:
    """The field *name* of the lines logged here (see `belonging_to`); empty when it has none."""
    return _bound.get().get(name, "")


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """Every key in *settings*, and the contact address."""
    keys = (settings.key(name) for name, value in settings if hasattr(value, "get_secret_value"))
    return tuple(secret for secret in (*keys, settings.pubmed_email) if secret)


class Redaction:
    """Takes secrets out of text.

    Parameters
    ----------
    secrets
        Values that must not be seen, in any spelling a URL, JSON or ``repr`` gives them.

    Examples
    --------
    >>> hide = Redaction(["s3cr+t", "me@lab.edu"])
    >>> hide("GET /x?api_key=abc&q=1 by me%40lab.edu: s3cr%2Bt")
    'GET /x?api_key=[hidden]&q=1 by [hidden]: [hidden]'
    """

    def __init__(self, secrets: tuple[str, ...] | list[str] = ()) -> None:
        spellings = {word for secret in secrets for word in _spellings(secret)}
        # The longest first: one secret may be the beginning of another's spelling.
        words = sorted((re.escape(word) for word in spellings), key=len, reverse=True)
        self._ours = re.compile("|".join(words), re.I) if words else None

    def __call__(self, text: str) -> str:
        """*text* without secrets."""
        if self._ours:
            text = self._ours.sub(HIDDEN, text)
        return _SECRET_SHAPES.sub(_without_value, text)


def _spellings(secret: str) -> Iterator[str]:
    if len(secret) < _SHORTEST_SECRET:
        return
    yield secret
    yield quote(secret)
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield repr(secret)[1:-1]
    yield base64.b64encode(secret.encode()).decode()


def _without_value(found: re.Match[str]) -> str:
    kept = found["named"] or found["bearer"] or found["user"] or ""
    return f"{kept}{HIDDEN}{'@' if found['user'] else ''}"


class JsonLines(logging.Formatter):
    """Each event as one JSON object on one line."""

    def __init__(self, hide: Redaction) -> None:
        super().__init__()
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        """The line of *record*."""
        entry: dict[str, Any] = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_names(record),
            **{name: value for name, value in vars(record).items() if name not in _STANDARD},
        }
        if traceback := _traceback(self, record):
            entry["error"] = traceback
        return to_plain_json(self._hidden(entry))

    def _hidden(self, value: Any) -> Any:
        # One by one: in the finished line quotes are escaped, and harder to see through.
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, dict):
            return {str(name): self._hidden(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._hidden(each) for each in value]
        return self._hide(str(value))


class ReadableLines(logging.Formatter):
    """Each event as a person reads it; a traceback follows its line."""

    def __init__(self, hide: Redaction) -> None:
        super().__init__()
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        """The line of *record*."""
        names = "".join(f" [{value}]" for value in _names(record).values())
        line = (
            f"{_moment(record)[11:19]} {record.levelname.lower():<7} {record.getMessage()}{names}"
        )
        traceback = _traceback(self, record)
        return clean_text(self._hide(f"{line}\n{traceback}" if traceback else line))


def _moment(record: logging.LogRecord) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{whole}.{int(record.msecs):03d}Z"


def _names(record: logging.LogRecord) -> dict[str, str]:
    """The names bound here, and the job: a harvest's thread outlives its request."""
    names = dict(_bound.get())
    kind, _, job = (record.threadName or "").partition(" ")
    if kind == "harvest" and job:
        names.setdefault("job", job)
    return names


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    if record.exc_info:
        return formatter.formatException(record.exc_info)
    return record.exc_text or ""


class Console(logging.StreamHandler[Any]):
    """Standard error, as long as it is read.

    A host may leave our standard error unread. Its pipe would fill up, and the next line would
    block us for ever; so what does not fit is left out.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line of *record*, or as much of it as there is room for."""
        try:
            pipe = self.stream.fileno()
            if not stat.S_ISFIFO(os.fstat(pipe).st_mode) or os.name == "nt":
                super().emit(record)
                return
            line = f"{self.format(record)}\n".encode("utf-8", "backslashreplace")
            for at in range(0, len(line), select.PIPE_BUF):
                if not select.select([], [pipe], [], 0)[1]:  # then so much fits
                    return
                os.write(pipe, line[at : at + select.PIPE_BUF])
        except (OSError, ValueError):  # closed, or something of a test that is no file
            super().emit(record)


class SharedFile(RotatingFileHandler):
    """A log file that several processes write, and that any of them may rotate."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path, maxBytes=FILE_BYTES, backupCount=OLDER_FILES, encoding="utf-8", delay=True
        )

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        path.touch(mode=0o600)
        return path.open("a", encoding=self.encoding, errors="backslashreplace")

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802
        """Whether the file is full; one that another process has rotated is reopened."""
        if self.stream and not self._still_there():
            self.stream.close()
            self.stream = self._open()
        return bool(super().shouldRollover(record))

    def doRollover(self) -> None:  # noqa: N802
        """Rotate, unless another process did so while we waited for the lock."""
        with exclusive_lock(Path(f"{self.baseFilename}.lock")):
            if self._still_there():
                super().doRollover()

    def _still_there(self) -> bool:
        try:
            there = os.stat(self.baseFilename)  # noqa: PTH116
        except OSError:
            return False
        ours = os.fstat(self.stream.fileno()) if self.stream else there
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)


def begin_logs(settings: Settings, *, in_words: bool = False) -> Redaction:
    """Send the lines of all libraries to standard error, and to files where *settings* say so.

    Parameters
    ----------
    settings
        Level, folder, and the secrets to hide.
    in_words : bool, optional
        For a person: only warnings, in words. Files get everything.

    Raises
    ------
    BadRequest
        The folder cannot be written.
    """
    hide = Redaction(secrets_of(settings))
    people = in_words or sys.stderr.isatty()
    console = Console(sys.stderr)
    console.setFormatter(ReadableLines(hide) if people else JsonLines(hide))
    if in_words:
        console.setLevel(logging.WARNING)
    handlers: list[logging.Handler] = [console]
    if settings.logs_dir:
        file = SharedFile(_folder(settings.logs_dir) / FILE)
        file.setFormatter(JsonLines(hide))
        handlers.append(file)
    # Of other libraries only warnings.
    logging.basicConfig(handlers=handlers, level=logging.WARNING, force=True)
    logging.getLogger(__package__.rpartition(".")[0]).setLevel(settings.mcp_log_level.upper())
    logging.captureWarnings(capture=True)
    # A full disk costs lines, not more: Python would print each lost one, secrets included.
    logging.raiseExceptions = False
    _log_crashes()
    return hide


def show_all_logs() -> None:
    """Show on standard error what is done on the way: each request, each retry."""
    logging.getLogger(__package__.rpartition(".")[0]).setLevel(logging.DEBUG)
    for handler in logging.getLogger().handlers:
        handler.setLevel(logging.DEBUG)


def propagate_logs(library: str) -> None:
    """Let the lines of a library with handlers of its own come to ours."""
    logger = logging.getLogger(library)
    logger.handlers.clear()
    logger.propagate = True
    logger.setLevel(logging.NOTSET)


def _folder(folder: Path) -> Path:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / FILE).touch(mode=0o600)
    except OSError as error:
        msg = f"LOGS_DIR: {folder} cannot be written ({error.strerror})."
        raise BadRequest(msg, "Choose a folder you may write to, or leave it unset.") from None
    return folder


def _log_crashes() -> None:
    """Log uncaught exceptions: Python's own traceback would show secrets."""
    log = logging.getLogger(__name__)

    def log_crash(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        log.critical("Papershelf ended by an error of its own.", exc_info=(kind, error, trace))

    def log_thread_crash(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            caught = (args.exc_type, args.exc_value, args.exc_traceback)
            log.error("A thread ended by an error of its own.", exc_info=caught)

    sys.excepthook = log_crash
    threading.excepthook = log_thread_crash
