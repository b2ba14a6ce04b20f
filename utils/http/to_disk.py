"""Files too large to be held: fetched to the disk, and gone on with where they broke off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import BadContent, NotAvailable, Unreachable
from ..system import safe_files
from . import address_policy
from .address_policy import MOST
from .messages import Answer, Request
from .retry import WORTH_RETRYING, retry_after

if TYPE_CHECKING:
    from .session import Web

_LONGEST_S = 6 * 3600.0  # of one try; one that stands still is given up much sooner
_TRIES = 5  # in a row that bring nothing new


def download(
    web: Web, url: str, part: Path, most: int, headers: Mapping[str, str] | None = None
) -> Iterator[int]:
    """Fetch *url* into the file *part*, which may hold the beginning of it; the bytes so far.

    Whoever asks holds the whole of it against its digest, and gives it its name. A try that breaks
    off is followed by another from there on, as long as tries bring anything. *headers* are sent to
    the site of *url*; to others that it redirects to, only what tells them nothing.

    Raises
    ------
    NotAvailable
        The site has no such file for us, or the link leads where we do not go.
    Unreachable
        It stayed down; what came is kept.
    BadContent
        It sends more than *most* bytes.
    """
    if web.settings.papers_offline:
        msg = f"Papershelf is offline (PAPERS_OFFLINE): {urlsplit(url).netloc} was not asked."
        raise Unreachable(msg, "Unset PAPERS_OFFLINE to use the network.")
    in_vain = 0
    while True:
        before = _size(part)
        try:
            yield from _try(web, url, part, most, headers or {})
            return
        except Unreachable:
            in_vain = in_vain + 1 if _size(part) <= before else 0
            if in_vain >= _TRIES:
                raise


def _try(web: Web, url: str, part: Path, most: int, given: Mapping[str, str]) -> Iterator[int]:
    """One try: from redirect to redirect, then block by block."""
    begun = _size(part)
    headers = {"User-Agent": web.settings.user_agent, "Accept": "*/*"}
    headers |= {"Accept-Encoding": "identity", **given}
    hop = Request("GET", url, None, {**headers, "Range": f"bytes={begun}-"} if begun else headers)
    for _ in range(MOST + 1):
        address_policy.parse(hop.url)
        web.address_policy.require_open_to_programs(hop.url)
        with closing(web.transport.flow(hop, _LONGEST_S)) as flow:  # type: ignore[type-var]
            with web.limiter.turn(hop.url):
                status, told = next(flow)
            answer = Answer(status, hop.url, b"", headers=told)
            if not address_policy.is_redirect(answer):
                yield from _write(flow, _begin(web, answer, begun), part, most)
                return
        hop = address_policy.follow(hop, answer)
    raise NotAvailable(f"{urlsplit(url).netloc} kept redirecting, last to {answer.host}.")


def _begin(web: Web, answer: Answer, begun: int) -> int:
    """Return how many of the bytes on the disk stay."""
    told = answer.headers.get("Content-Range", "")
    if answer.status == 206 and told.startswith(f"bytes {begun}-"):
        return begun
    if answer.status == 416 and begun:  # it is all there
        return begun
    if answer.status == 200:
        return 0
    msg = f"{answer.host} answered {answer.status}."
    if answer.status in WORTH_RETRYING:
        web.limiter.record_rejection(
            answer.url, retry_after(answer.headers.get("Retry-After"), None)
        )
        raise Unreachable(msg, status=answer.status)
    raise NotAvailable(msg, status=answer.status)


def _write(blocks: Iterator[Any], begun: int, part: Path, most: int) -> Iterator[int]:
    with safe_files.disk(part), part.open("ab") as file:
        file.truncate(begun)
    size = begun
    with part.open("ab", buffering=0) as file:  # what is held back would fail once more at its end
        for block in blocks:
            size += len(block)
            if size > most:
                raise BadContent(f"It has more than {most / 1e9:.0f} GB.", verdict="not_a_paper")
            with safe_files.disk(part):
                left = memoryview(block)
                while left:  # a disk that is nearly full takes some of it
                    left = left[file.write(left) :]
            yield size


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0
