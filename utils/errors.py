"""All errors that users read, with what to do about them.

::

    PaperError
     ├── BadRequest       VALIDATION   the caller's identifier, query or option is wrong
     │    ├── RefusedRequest           so a site says, in its own words
     │    ├── UnknownOption            a method has no such keyword option (a TypeError, too)
     │    └── WrongType                a method got a value of the wrong type (a TypeError, too)
     ├── NotConfigured    VALIDATION   a key or e-mail address this call needs is missing
     ├── NotFound         NOT_FOUND    nobody knows this paper
     │    ├── UnknownName              no harvest, review or generation has this name
     │    └── NothingFound             a search was made, and has no hit: no error at the doors
     ├── StoreFailed      STORE        disk, database, checksum
     │    ├── EmptyStore               nothing there yet to look into
     │    └── StoreBusy                another process is at work on it: wait, and call again
     ├── EmbeddingsFailed EMBEDDINGS   no vector could be made
     ├── WeaviateFailed   WEAVIATE     the configured Weaviate could not do it
     ├── EntrezFailed     ENTREZ       an Entrez database answered with an error of its own
     ├── InvariantFailed  INVARIANT_FAILURE   what must always hold does not: report it
     └── SourceMiss       UPSTREAM     one source could not give the text: try the next one
          ├── NotAvailable             it has no copy for us (paywall, embargo, not in the set)
          │    └── NotEntitled         it has one, and key, token or network give no right to it
          ├── Unreachable              down, slow, or asking us to wait (then RATE_LIMIT)
          └── BadContent               it answered, but not with the paper (captcha, stub, …)

`Cancelled` is not in the tree: nothing went wrong, the caller cancelled the work.

Errors are caught where work can go on without what failed: the ladder turns a `SourceMiss` into an
`Attempt`, a search or a harvest reports it of one site or paper and asks the others, and the doors
show what is left. Any other exception is a bug and may crash.
"""

from __future__ import annotations

from typing import Any

from .command_line import command_line, install_command
from .python_calls import to_python_calls


class PaperError(Exception):
    """Base of all errors that users read.

    Parameters
    ----------
    message : str
        What happened to which paper at which site.
    *hints : str
        What the reader can do next, the likeliest first.
    details : dict, optional
        Facts a program may want: status, site, identifiers, attempts. Never a key or an address.
    """

    code = "UNKNOWN"
    exit_code = 1
    outcome = "failed"
    quotes_site = False  # whether a site's own words may stand in the message
    default_hint = "See the log of the server, and report it if it happens again."

    def __init__(self, message: str, *hints: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hints = tuple(filter(None, hints))
        self.details = details

    @property
    def hint(self) -> str:
        """The next steps for the reader, in one text."""
        return " ".join(self.hints)

    @property
    def text(self) -> str:
        """The message and the hints, with commands as they are typed in a shell."""
        return f"{self.message} {self.hint}".strip()

    def __str__(self) -> str:
        """Return the message and the hints for a reader in Python: methods for commands."""
        return to_python_calls(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions cross process borders (PDF readers); the default loses keyword arguments.
        return _rebuild_error, (type(self), self.message, self.hints, self.details)

    def envelope(self) -> dict[str, Any]:
        """Return the error as all doors show it."""
        return {
            "error": {
                "code": self.code,
                "message": self.message,
                "details": self.details,
                "suggestions": list(self.hints) or [self.default_hint],
            }
        }


class Cancelled(BaseException):
    """The work was cancelled.

    Not an ``Exception``, as ``asyncio.CancelledError`` is none: nothing that catches the failure of
    a site may catch it and go on with the next site.
    """


class BadRequest(PaperError):
    """The caller's identifier, query or option is wrong."""

    code = "VALIDATION"
    exit_code = 2
    default_hint = "Correct it and call again."


class RefusedRequest(BadRequest):
    """A site finds the request wrong, and says so in its own words."""

    quotes_site = True


class UnknownOption(BadRequest, TypeError):
    """A method of the library was called with a keyword option it does not have."""


class WrongType(BadRequest, TypeError):
    """A method of the library was called with a value of the wrong type."""


class NotConfigured(PaperError):
    """A key or e-mail address this call needs is missing."""

    code = "VALIDATION"
    exit_code = 2
    default_hint = "Set it in the environment or .env."


class NotFound(PaperError):
    """Every source that could have the paper answered, and none has it."""

    code = "NOT_FOUND"
    default_hint = "Check the identifier."


class UnknownName(NotFound):
    """A name of a harvest, review or generation is unknown on this shelf."""

    exit_code = 2
    default_hint = "Check the name."


class NothingFound(NotFound):
    """A valid search had no hits.

    Raised where there is nothing to go on with, such as a harvest of no papers. At the doors it is
    what it is after every search: a total of 0, and what to do next.
    """

    exit_code = 0
    default_hint = "Ask with fewer or other words."

    def row(self) -> dict[str, Any]:
        """Return the answer of a search without hits."""
        return {"total": 0, "warnings": [self.message, *(self.hints or [self.default_hint])]}


class StoreFailed(PaperError):
    """The shelf could not be read or written."""

    code = "STORE"
    exit_code = 4
    default_hint = f"Check the folder and the disk: {command_line('setup doctor')}."


class InUse(StoreFailed):
    """Another process uses the same part of the shelf."""


class DamagedStore(StoreFailed):
    """A file of the shelf is damaged."""


class EmptyStore(StoreFailed):
    """A store that is intact but empty."""

    exit_code = 1


class StoreBusy(StoreFailed):
    """Another process holds the lock named in ``details``; calling again may succeed."""

    default_hint = "Wait until it has finished, and call again."


class EmbeddingsFailed(PaperError):
    """No vectors could be made: the model is missing, or its service did not answer."""

    code = "EMBEDDINGS"
    quotes_site = True
    default_hint = "Search by words alone: EMBEDDINGS_PROVIDER=none."


class WeaviateFailed(PaperError):
    """The vector store did not answer, or refused."""

    code = "WEAVIATE"
    exit_code = 3
    quotes_site = True
    default_hint = "Check WEAVIATE_URL, or leave out VECTOR_STORE."


class EntrezFailed(PaperError):
    """An Entrez database answered with an error of its own."""

    code = "ENTREZ"
    exit_code = 3
    quotes_site = True
    default_hint = "Check the database's name and what it can be asked: entrez_capabilities."


class InvariantFailed(PaperError):
    """A condition that must hold is violated, such as a watermark that would move backwards."""

    code = "INVARIANT_FAILURE"


class SourceMiss(PaperError):
    """One source could not give the text; the next one may."""

    code = "UPSTREAM"
    quotes_site = True
    exit_code = 3
    outcome = "miss"
    default_hint = "Try again later, or look for the paper elsewhere."


class NotAvailable(SourceMiss):
    """The source answered that it has no copy for this reader.

    ``details["status"]`` is the HTTP status where there was one.
    """

    outcome = "not_offered"


class NotEntitled(NotAvailable):
    """The source has the text, but key, token or network give no access to it."""

    outcome = "not_entitled"


class Unreachable(SourceMiss):
    """The site is down, slow, or requires a wait: nothing is known about the paper.

    ``details["retry_after"]`` is the number of seconds the site asked us to stay away;
    ``details["lasting"]`` is true where trying again cannot help, ``details["reset"]`` where the
    site only hung up, and ``details["trouble"]`` names what of the network is in the way: ``name``,
    ``route``, ``silence``, ``proxy``, ``certificate``.
    """

    outcome = "unreachable"

    @property
    def default_hint(self) -> str:  # type: ignore[override]  # depends on what the site said
        """The hint for an error without hints of its own."""
        if self.details.get("lasting"):
            return f"Waiting will not help; what is in the way: {command_line('setup doctor')}"
        wait = f"{self.retry_after:.0f} s" if self.retry_after else "a minute"
        return f"Try again in {wait}; what is on the shelf can be read meanwhile."

    @property
    def quotes_site(self) -> bool:  # type: ignore[override]  # that we shall wait, we say ourselves
        """True unless the site only required a wait, which is reported in our own words."""
        return self.code != "RATE_LIMIT"

    @property
    def retry_after(self) -> float:
        """The seconds that the site requires to wait; 0 if it gave none."""
        return float(self.details.get("retry_after", 0.0))

    @property
    def code(self) -> str:  # type: ignore[override]  # the one code that depends on what happened
        """RATE_LIMIT if the site requires a wait, else UPSTREAM."""
        asked_to_wait = self.retry_after > 0 or self.details.get("status") == 429
        return "RATE_LIMIT" if asked_to_wait else "UPSTREAM"


def is_blocked_by_network(error: PaperError) -> bool:
    """Return whether a proxy or a certificate blocks a site until a person changes that."""
    details = error.details
    return bool(details.get("lasting")) and details.get("trouble") in ("proxy", "certificate")


class BadContent(SourceMiss):
    """The site answered with something other than the paper.

    ``details["verdict"]`` names what it was (see `.model.paper.Verdict`).
    """

    @property
    def outcome(self) -> str:  # type: ignore[override]  # the verdict is the outcome
        """The name of the verdict."""
        return str(self.details.get("verdict", "not_a_paper"))


def _rebuild_error(
    kind: type[PaperError], message: str, hints: tuple[str, ...], details: dict[str, Any]
) -> PaperError:
    """Rebuild an error after pickling."""
    return kind(message, *hints, **details)


def require_pyarrow() -> None:
    """Raise an error if pyarrow is not installed.

    Raises
    ------
    NotConfigured
        It is not; the hint names the extra.
    """
    from importlib.util import find_spec

    if find_spec("pyarrow") is None:
        msg = "Parquet needs packages that are not installed: pyarrow."
        hint = f"Run: {install_command('parquet')}, or export as csv."
        raise NotConfigured(msg, hint)
