"""How a service can misbehave, on command.

A mood takes the call and a function that would answer it properly, and returns what is sent
instead; None means *not this request*, and then the mood is not used up.
"""

import gc
import gzip
import random
import re
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from functools import lru_cache
from itertools import count

from tests.world import deceit, walls
from utils.demo.wire import HTML, JSON, PDF, TEXT, XML, Call, Reply, as_json, redirect, text

HUGE = 200 * 1024 * 1024


@dataclass
class Mood:
    """A mood in force: for which service and path, and how often still (None: until calm)."""

    name: str
    service: str
    path: str
    times: int | None
    seconds: float
    to: str
    asked: Iterator[int] = field(default_factory=count)

    def meets(self, call: Call) -> bool:
        """Whether the call is one this mood is for."""
        return self.service in {"", call.service} and self.path in call.raw


Make = Callable[[Mood, Call, Callable[[], Reply]], Reply | None]


def limited(call: Call, retry_after: str) -> Reply:
    """Too many requests, as each service words it."""
    wait = {"Retry-After": retry_after}
    if call.service == "eutils":
        told = {
            "error": "API rate limit exceeded",
            "api-key": "127.0.0.1",
            "count": "4",
            "limit": "3",
        }
        reply = as_json(told, 429)
        wait |= {"X-RateLimit-Limit": "3", "X-RateLimit-Remaining": "0"}
    elif call.service in {"arxiv", "arxiv_oai"}:
        reply = text("Rate exceeded.", "text/html", 429)
        wait = {"Server": "Google Frontend"}
    elif call.service.startswith("jina"):
        refusal = {
            "data": None, "code": 429, "name": "RateLimitTriggeredError", "status": 42903,
            "message": "Per IP rate limit exceeded",
        }  # fmt: skip
        reply = as_json(refusal, 429)
    elif call.service == "semantic_scholar":
        told = {
            "message": "Too Many Requests. Please wait and try again or apply for a key",
            "code": "429",
        }
        reply, wait = as_json(told, 429), {}
    elif call.service == "pubchem":
        busy = {"Code": "PUGREST.ServerBusy", "Message": "Too many requests or server too busy"}
        reply = as_json({"Fault": busy}, 503)
    elif call.service == "wiley":
        reply, wait = text("Internal Server Error", TEXT, 500), {}
    else:
        reply = text("Too many requests", TEXT, 429)
    reply.headers |= wait
    return reply


def _storm(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    reply = limited(call, "")
    reply.headers.pop("Retry-After", None)
    if mood.seconds:
        reply.headers["Retry-After"] = f"{mood.seconds:g}"
    return reply


def _crowded(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply | None:
    """Only who has a key of his own is served, and nobody says until when."""
    return None if call.header("x-api-key") else limited(call, "")


def _half_crowded(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply | None:
    """Half of the calls without a key are refused, by a fair coin, however rarely they come.

    All who have no key share one limit (https://www.semanticscholar.org/product/api): whether a
    call is served depends on what strangers ask.
    """
    refused = random.Random(next(mood.asked)).random() < 0.5
    return limited(call, "") if refused and not call.header("x-api-key") else None


def _resets(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply | None:
    """Two of ten connections are reset, the first among them.

    As NCBI does since September 2026: github.com/wp-a/nature-academic-search/issues/15.
    """
    return Reply(manner="reset") if next(mood.asked) % 5 == 0 else None


def _storm_date(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    reply = limited(call, "")
    reply.headers["Retry-After"] = formatdate(time.time() + mood.seconds, usegmt=True)
    return reply


def _manner(name: str) -> Make:
    def make(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
        reply = Reply() if name == "reset" else answer()
        reply.manner = name
        return reply

    return make


def _page(page: Callable[[], Reply]) -> Make:
    return lambda mood, call, answer: page()


def _huge(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    def stream() -> Iterator[bytes]:
        yield b"%PDF-1.7\n" if call.path.endswith(".pdf") else b"<article><body><p>"
        block = b"all work and no play makes a long file " * 1680
        for _ in range(HUGE // len(block)):
            yield block

    return Reply(stream=stream(), media=answer().media)


@lru_cache(maxsize=1)
def _bomb() -> bytes:
    """200 MB of zeros in one gzip member; its blocks are all alike, so one is enough to pack."""
    block = bytes(1024 * 1024)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(HUGE // len(block)):
        checksum = zlib.crc32(block, checksum)
    tail = packer.flush(zlib.Z_FINISH) + struct.pack("<II", checksum, HUGE)
    return gzip.compress(b"")[:10] + packed * (HUGE // len(block)) + tail


def _gzip_bomb(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    return Reply(body=_bomb(), media=answer().media, headers={"Content-Encoding": "gzip"})


def _mislabel(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    """The right bytes under a wrong name."""
    reply = answer()
    wrong = {XML: "text/html; charset=iso-8859-7", HTML: "text/html; charset=iso-8859-7", PDF: HTML}
    reply.media = wrong.get(reply.media, "image/png")
    return reply


def _redirect_loop(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    return redirect(call.raw)


def _ssrf(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    return redirect(mood.to or "http://169.254.169.254/latest/meta-data/")


def _portal(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    """A network that wants a person to sign in: whatever is asked leads to its own host."""
    return redirect(mood.to or "http://login.hotel.example/start")


def _xml_bomb(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    rungs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    return text(
        f'<?xml version="1.0"?><!DOCTYPE article [<!ENTITY l0 "lol">{rungs}]>'
        "<article><body><p>&l11;</p></body></article>",
        XML,
    )


def _external_entity(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    return text(
        '<?xml version="1.0"?><!DOCTYPE article [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        "<article><front><article-meta/></front><body><sec><p>&x;</p></sec></body></article>",
        XML,
    )


def _deep_nesting(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    # Garbage of other tests that is finalized at the depth of this recursion fails, and this test
    # with it: the reader works in the same process.
    gc.collect()
    media = answer().media
    if media == JSON:
        return text("[" * 100_000 + "]" * 100_000, JSON)
    tag = "div" if media == HTML else "sec"
    return text(f"<{tag}>" * 50_000 + "deep" + f"</{tag}>" * 50_000, media)


def _garbage(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    return Reply(body=random.Random(7).randbytes(4000), media=answer().media)


def _empty(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    return Reply(media=answer().media)


def _no_entries(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    """ArXiv's known trouble: a page that counts the hits and holds none."""
    reply = answer()
    reply.body = re.sub(rb"<entry>.*</entry>", b"", reply.body, flags=re.S)
    return reply


def _not_acceptable(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    return text("<html><h1>406 Not Acceptable</h1></html>", HTML, 406)


def _errors_at_200(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    """What the service answers, as if all were well."""
    reply = answer()
    reply.status = 200
    return reply


def _search_failed(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply | None:
    """NCBI's search engine is out: status 200, and a reason in ``ERROR``.

    The member is that of NCBI's eSearch DTD; the words are remembered, not recorded.
    """
    if "esearch" not in call.path:
        return None
    told = {"ERROR": "Search Backend failed: Couldn't resolve #exLinkSrv2"}
    return as_json({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": told})


def _light(name: str) -> Make:
    """PubChem's traffic light: yellow and red with a good answer, black instead of one."""

    def make(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply | None:
        if not call.service.startswith("pubchem"):
            return None
        reply = limited(call, "") if name == "Black" else answer()
        reply.headers.pop("Retry-After", None)
        share = {"Yellow": "62%", "Red": "84%", "Black": "100%"}[name]
        told = f"Request Count status: {name} ({share}), Request Time status: Green (3%), "
        reply.headers["X-Throttling-Control"] = f"{told}Service status: Green (20%)"
        return reply

    return make


def _md5_mismatch(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply | None:
    """A file of the PMC Cloud Service, still readable, whose checksum is another's."""
    if not call.path.endswith((".xml", ".pdf", ".txt")):
        return None
    reply = answer()
    reply.body += b"\n"
    return reply


def _deceptive(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply | None:
    """Every sentence of an answer ends in letters that nobody sees, and in orders."""
    reply = answer()
    return replace(reply, body=deceit.in_answer(reply.body, reply.media)) if reply.body else reply


def _down(mood: Mood, call: Call, answer: Callable[[], Reply]) -> Reply:
    return text("<html><h1>503 Service Unavailable</h1></html>", HTML, 503)


MOODS: dict[str, Make] = {
    "storm": _storm, "storm_date": _storm_date, "crowded": _crowded, "half_crowded": _half_crowded,
    "down": _down, "reset": _manner("reset"), "resets": _resets, "truncate": _manner("truncate"),
    "drip": _manner("drip"), "slow_headers": _manner("slow_headers"), "huge": _huge,
    "gzip_bomb": _gzip_bomb, "mislabel": _mislabel, "captcha": _page(walls.captcha),
    "paywall": _page(walls.paywall), "login": _page(walls.login),
    "wrong_paper": _page(walls.wrong_paper), "redirect_loop": _redirect_loop, "ssrf": _ssrf,
    "portal": _portal, "xml_bomb": _xml_bomb, "external_entity": _external_entity,
    "deep_nesting": _deep_nesting, "garbage": _garbage, "empty": _empty, "no_entries": _no_entries,
    "not_acceptable": _not_acceptable, "errors_at_200": _errors_at_200,
    "search_failed": _search_failed, "md5_mismatch": _md5_mismatch, "deceptive": _deceptive,
    "yellow": _light("Yellow"), "red": _light("Red"), "black": _light("Black"),
}  # fmt: skip
