"""Write logs: one line per event, with its request, and without keys or e-mail addresses.

Lines go to standard error (standard output is for the protocol or a pipe) and, when
``LOGS_DIR`` is set, to files that rotate and that only their owner can read. On a terminal they are
for people; elsewhere each is a JSON object with ``time``, ``level``, ``logger``, ``message`` and,
where known, ``request``, ``tool``, ``job``, ``error`` (a traceback) and what the event adds.

Secrets are removed from the finished line, so that none stays in a traceback, an argument or the
message of another library.
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
from .system.plain_text import clean_text, to_escaped_json
from .system.safe_files import exclusive_lock

if TYPE_CHECKING:
    from .settings import Settings

LOG_FILE = "papershelf.log"
MAX_LOG_BYTES = 5_000_000
MAX_OLD_LOGS = 5
REDACTED = "[hidden]"
# Shorter than any real key: hiding a shorter "key" would hide ordinary words.
_MIN_SECRET_CHARS = 4
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
# The fields of every log record; other fields come from ``extra=`` and are part of the event.
_STANDARD_FIELDS = set(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
    "color_message",
}
_log_fields: ContextVar[dict[str, str]] = ContextVar("papershelf_log", default={})  # noqa: B039


@contextmanager
def add_log_fields(**names: str) -> Iterator[None]:
    """Add the fields *names* to every line logged inside, also by threads with this context."""
    token = _log_fields.set(
        {**_log_fields.get(), **{name: value for name, value in names.items() if value}}
    )
    try:
        yield
    finally:
        _log_fields.reset(token)


def get_log_field(name: str) -> str:
    """Return the field *name* of the lines logged here (see `add_log_fields`); "" if unset."""
    return _log_fields.get().get(name, "")


def list_secrets(settings: Settings) -> tuple[str, ...]:
    """Return every key in *settings*, and the contact address."""
    keys = (settings.key(name) for name, value in settings if hasattr(value, "get_secret_value"))
    return tuple(secret for secret in (*keys, settings.pubmed_email) if secret)


class SecretRedactor:
    """Removes secrets from text.

    Parameters
    ----------
    secrets
        Values that must not be seen, in any spelling a URL, JSON or ``repr`` gives them.

    Examples
    --------
    >>> hide = SecretRedactor(["s3cr+t", "me@lab.edu"])
    >>> hide("GET /x?api_key=abc&q=1 by me%40lab.edu: s3cr%2Bt")
    'GET /x?api_key=[hidden]&q=1 by [hidden]: [hidden]'
    """

    def __init__(self, secrets: tuple[str, ...] | list[str] = ()) -> None:
        encoded_forms = {word for secret in secrets for word in _iterate_encoded_forms(secret)}
        # The longest first: one secret may be the beginning of another's spelling.
        words = sorted((re.escape(word) for word in encoded_forms), key=len, reverse=True)
        self._ours = re.compile("|".join(words), re.I) if words else None

    def __call__(self, text: str) -> str:
        """Return *text* without secrets."""
        if self._ours:
            text = self._ours.sub(REDACTED, text)
        return _SECRET_SHAPES.sub(_hide_value, text)


def _iterate_encoded_forms(secret: str) -> Iterator[str]:
    """Yield a secret as it may be spelled in URLs, JSON, ``repr`` and base64."""
    if len(secret) < _MIN_SECRET_CHARS:
        return
    yield secret
    yield quote(secret)
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield repr(secret)[1:-1]
    yield base64.b64encode(secret.encode()).decode()


def _hide_value(match: re.Match[str]) -> str:
    """Return a matched secret with its value hidden."""
    kept = match["named"] or match["bearer"] or match["user"] or ""
    return f"{kept}{REDACTED}{'@' if match['user'] else ''}"


class JsonLineFormatter(logging.Formatter):
    """Formats each event as one JSON object on one line."""

    def __init__(self, hide: SecretRedactor) -> None:
        super().__init__()
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of *record*."""
        entry: dict[str, Any] = {
            "time": _format_time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_collect_fields(record),
            **{name: value for name, value in vars(record).items() if name not in _STANDARD_FIELDS},
        }
        if traceback := _format_traceback(self, record):
            entry["error"] = traceback
        return to_escaped_json(self._hide_secrets(entry))

    def _hide_secrets(self, value: Any) -> Any:
        """Return a JSON value without secrets, before its quotes are escaped."""
        # One by one: in the finished line quotes are escaped, and harder to see through.
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, dict):
            return {str(name): self._hide_secrets(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._hide_secrets(each) for each in value]
        return self._hide(str(value))


class ReadableFormatter(logging.Formatter):
    """Formats each event for a person; a traceback follows its line."""

    def __init__(self, hide: SecretRedactor) -> None:
        super().__init__()
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of *record*."""
        names = "".join(f" [{value}]" for value in _collect_fields(record).values())
        clock_time = _format_time(record)[11:19]
        line = f"{clock_time} {record.levelname.lower():<7} {record.getMessage()}{names}"
        traceback = _format_traceback(self, record)
        return clean_text(self._hide(f"{line}\n{traceback}" if traceback else line))


def _format_time(record: logging.LogRecord) -> str:
    """Return the time of a record in UTC, with milliseconds."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{whole}.{int(record.msecs):03d}Z"


def _collect_fields(record: logging.LogRecord) -> dict[str, str]:
    """Return the context's fields and the job, because a harvest outlives its request."""
    names = dict(_log_fields.get())
    kind, _, job = (record.threadName or "").partition(" ")
    if kind == "harvest" and job:
        names.setdefault("job", job)
    return names


def _format_traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    """Return the traceback of a record; "" if it has none."""
    if record.exc_info:
        return formatter.formatException(record.exc_info)
    return record.exc_text or ""


class ConsoleHandler(logging.StreamHandler[Any]):
    """Standard error, until its reader closes it.

    A host may leave our standard error unread. The pipe would then fill up, and the next line would
    block the process; so lines that do not fit are dropped.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line of *record*, or as much of it as the pipe has room for."""
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


class SharedLogFile(RotatingFileHandler):
    """A log file that several processes write and may rotate."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path, maxBytes=MAX_LOG_BYTES, backupCount=MAX_OLD_LOGS, encoding="utf-8", delay=True
        )

    def _open(self) -> TextIOWrapper:
        """Open the log file, readable for its owner only."""
        path = Path(self.baseFilename)
        path.touch(mode=0o600)
        return path.open("a", encoding=self.encoding, errors="backslashreplace")

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802
        """Return whether the file is full; reopen a file that another process rotated."""
        if self.stream and not self._is_current_file():
            self.stream.close()
            self.stream = self._open()
        return bool(super().shouldRollover(record))

    def doRollover(self) -> None:  # noqa: N802
        """Rotate, unless another process rotated the file before we got the lock."""
        with exclusive_lock(Path(f"{self.baseFilename}.lock")):
            if self._is_current_file():
                super().doRollover()

    def _is_current_file(self) -> bool:
        """Return whether the open file is the one at its path."""
        try:
            there = os.stat(self.baseFilename)  # noqa: PTH116
        except OSError:
            return False
        ours = os.fstat(self.stream.fileno()) if self.stream else there
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)


def set_up_logs(settings: Settings, *, readable: bool = False) -> SecretRedactor:
    """Send the lines of all libraries to standard error, and to files if *settings* name a folder.

    Parameters
    ----------
    settings
        Level, folder, and the secrets to hide.
    readable : bool, optional
        For a person: only warnings, in words. Files get everything.

    Raises
    ------
    BadRequest
        The folder cannot be written.
    """
    hide = SecretRedactor(list_secrets(settings))
    people = readable or sys.stderr.isatty()
    console = ConsoleHandler(sys.stderr)
    console.setFormatter(ReadableFormatter(hide) if people else JsonLineFormatter(hide))
    if readable:
        console.setLevel(logging.WARNING)
    handlers: list[logging.Handler] = [console]
    if settings.logs_dir:
        file = SharedLogFile(_create_log_folder(settings.logs_dir) / LOG_FILE)
        file.setFormatter(JsonLineFormatter(hide))
        handlers.append(file)
    # Of other libraries only warnings.
    logging.basicConfig(handlers=handlers, level=logging.WARNING, force=True)
    logging.getLogger(__package__.rpartition(".")[0]).setLevel(settings.mcp_log_level.upper())
    logging.captureWarnings(capture=True)
    # A full disk only loses lines: otherwise Python would print each lost line with its secrets.
    logging.raiseExceptions = False
    _install_crash_logging()
    return hide


def show_all_logs() -> None:
    """Show every request and every retry on standard error."""
    logging.getLogger(__package__.rpartition(".")[0]).setLevel(logging.DEBUG)
    for handler in logging.getLogger().handlers:
        handler.setLevel(logging.DEBUG)


def redirect_logger(library: str) -> None:
    """Send the lines of a library that has handlers of its own to ours."""
    logger = logging.getLogger(library)
    logger.handlers.clear()
    logger.propagate = True
    logger.setLevel(logging.NOTSET)


def _create_log_folder(folder: Path) -> Path:
    """Create the folder and file of the logs; reject a folder that cannot be written."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / LOG_FILE).touch(mode=0o600)
    except OSError as error:
        msg = f"LOGS_DIR: {folder} cannot be written ({error.strerror})."
        raise BadRequest(msg, "Choose a folder you may write to, or leave it unset.") from None
    return folder


def _install_crash_logging() -> None:
    """Log uncaught exceptions, because Python's own traceback would show secrets."""
    log = logging.getLogger(__name__)

    def log_crash(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        log.critical("Papershelf ended by an error of its own.", exc_info=(kind, error, trace))

    def log_thread_crash(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            caught = (args.exc_type, args.exc_value, args.exc_traceback)
            log.error("A thread ended with an error.", exc_info=caught)

    sys.excepthook = log_crash
    threading.excepthook = log_thread_crash
