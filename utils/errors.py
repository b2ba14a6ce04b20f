"""Everything that can go wrong, and what the reader should do about it.

::

    PaperError
     ├── BadRequest       VALIDATION   the caller's identifier, query or option is wrong
     ├── NotConfigured    VALIDATION   a key or e-mail address this call needs is missing
     ├── NotFound         NOT_FOUND    nobody knows this paper
     ├── StoreFailed      STORE        disk, database, checksum
     │    └── EmptyStore               nothing there yet to look into
     ├── EmbeddingsFailed EMBEDDINGS   no vector could be made
     ├── WeaviateFailed   WEAVIATE     the configured Weaviate could not do it
     ├── EntrezFailed     ENTREZ       an Entrez database answered with an error of its own
     ├── InvariantFailed  INVARIANT_FAILURE   what must always hold does not: report it
     └── Miss             UPSTREAM     one source could not give the text: try the next
          ├── NotOffered               it has no copy for us (paywall, embargo, not in the set)
          ├── Unreachable              down, slow, or it asked us to wait (then RATE_LIMIT)
          └── BadContent               it answered, but not with the paper (captcha, stub, …)

Beside the tree stands `Cancelled`: nothing went wrong, somebody took the work back.

Errors travel up to whoever can go on without what failed: the ladder turns a `Miss` into an
`Attempt`, a search or a harvest tells it of one site or paper and asks the others, and the doors
render what is left. What is none of these is a bug and may crash.
"""

from __future__ import annotations

from typing import Any


class PaperError(Exception):
    """Base of every error a user is meant to read.

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
    usual_hint = "See the log of the server, and report it if it happens again."

    def __init__(self, message: str, *hints: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hints = tuple(filter(None, hints))
        self.details = details

    @property
    def hint(self) -> str:
        """What the reader can do next, in one text."""
        return " ".join(self.hints)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions cross process borders (PDF readers); the default loses keyword arguments.
        return _rebuild, (type(self), self.message, self.hints, self.details)

    def envelope(self) -> dict[str, Any]:
        """The error as every door shows it."""
        return {
            "error": {
                "code": self.code,
                "message": self.message,
                "details": self.details,
                "suggestions": list(self.hints) or [self.usual_hint],
            }
        }


class Cancelled(BaseException):
    """The work was taken back.

    No ``Exception``, for the reason that ``asyncio.CancelledError`` is none: nobody on the way may
    take it for the failure of a site and go on with the next.
    """


class BadRequest(PaperError):
    """The caller's identifier, query or option is wrong."""

    code = "VALIDATION"
    exit_code = 2
    usual_hint = "Correct it and call again."


class NotConfigured(PaperError):
    """A key or e-mail address this call needs is missing."""

    code = "VALIDATION"
    exit_code = 2
    usual_hint = "Set it in the environment or .env."


class NotFound(PaperError):
    """Everybody who could know this paper was asked, answered, and does not."""

    code = "NOT_FOUND"
    usual_hint = "Check the identifier."


class StoreFailed(PaperError):
    """The shelf could not be read or written."""

    code = "STORE"
    exit_code = 4
    usual_hint = "Look at the folder and the disk: server.py doctor."


class EmptyStore(StoreFailed):
    """What was asked of is sound, and there is nothing in it yet."""

    exit_code = 1


class EmbeddingsFailed(PaperError):
    """No vectors could be made: the model is missing, or its service did not answer."""

    code = "EMBEDDINGS"
    usual_hint = "Search by words alone: EMBEDDINGS_PROVIDER=none."


class WeaviateFailed(PaperError):
    """The vector store did not answer, or refused."""

    code = "WEAVIATE"
    usual_hint = "Look at WEAVIATE_URL, or leave VECTOR_STORE out."


class EntrezFailed(PaperError):
    """An Entrez database answered the question with an error of its own."""

    code = "ENTREZ"
    usual_hint = "Check the database's name and what it can be asked: entrez_capabilities."


class InvariantFailed(PaperError):
    """Something that must hold does not, such as a watermark that would move backwards."""

    code = "INVARIANT_FAILURE"


class Miss(PaperError):
    """One source could not give the text; the next one may."""

    code = "UPSTREAM"
    exit_code = 3
    outcome = "miss"
    usual_hint = "Try again later, or look for the paper elsewhere."


class NotOffered(Miss):
    """The source answered that it has no copy for us.

    ``details["status"]`` is the HTTP status where there was one.
    """

    outcome = "not_offered"


class NotEntitled(NotOffered):
    """The source has the text, and not for us: key, token or network give no right to it."""

    outcome = "not_entitled"


class Unreachable(Miss):
    """The site is down, slow, or asked us to wait: nothing is known about the paper.

    ``details["retry_after"]`` is the number of seconds the site asked us to stay away;
    ``details["lasting"]`` says that asking the same again cannot help, and ``details["trouble"]``
    what of the network is in the way: ``name``, ``route``, ``silence``, ``proxy``,
    ``certificate``.
    """

    outcome = "unreachable"

    @property
    def usual_hint(self) -> str:  # type: ignore[override]  # depends on what the site said
        """What to do when nobody said anything better."""
        if self.details.get("lasting"):
            return "Waiting will not help; what is in the way: server.py doctor"
        wait = f"{self.retry_after:.0f} s" if self.retry_after else "a minute"
        return f"Try again in {wait}; what is on the shelf can be read meanwhile."

    @property
    def retry_after(self) -> float:
        """Seconds the site asked us to stay away; 0 when it did not say."""
        return float(self.details.get("retry_after", 0.0))

    @property
    def code(self) -> str:  # type: ignore[override]  # the one code that depends on what happened
        """RATE_LIMIT when the site said so, UPSTREAM otherwise."""
        told = self.retry_after > 0 or self.details.get("status") == 429
        return "RATE_LIMIT" if told else "UPSTREAM"


def in_the_way(error: PaperError) -> bool:
    """Whether a proxy or a refused certificate keeps us from a site until a person mends it."""
    told = error.details
    return bool(told.get("lasting")) and told.get("trouble") in ("proxy", "certificate")


class BadContent(Miss):
    """The site answered, but not with the paper.

    ``details["verdict"]`` names what it was (see `.model.paper.Verdict`).
    """

    @property
    def outcome(self) -> str:  # type: ignore[override]  # the verdict is the outcome
        """The verdict's name."""
        return str(self.details.get("verdict", "not_a_paper"))


def _rebuild(
    kind: type[PaperError], message: str, hints: tuple[str, ...], details: dict[str, Any]
) -> PaperError:
    return kind(message, *hints, **details)
