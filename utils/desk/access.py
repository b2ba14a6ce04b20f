"""Decide which requests the desk answers, and add security headers to every response.

A page on the web can make a browser send requests to this computer, and a name on the web can be
made to point at it (DNS rebinding). A request is therefore answered only if

1. its ``Host`` is the desk's own address,
2. it has the cookie of a session, and
3. for anything but reading, its ``Origin`` is the desk's own, it carries the form token of this
   session, and the session may write.

On its own computer, a browser gets its cookie in exchange for the token in the first address. Over
the network (`Access.is_remote`), it gets one in exchange for a token of the HTTP authentication,
which is sent once, in the form of the sign-in page.

The cookie is ``SameSite=Strict``, so that a browser does not send it from another site, and
``HttpOnly``, so that no script reads it. The content security policy allows scripts, styles and
pictures of the desk itself and nothing inline: text of a paper that were taken for markup could
still load and run nothing.
"""

from __future__ import annotations

import math
import re
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from ..errors import BadRequest

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = "127.0.0.1"
MAX_BODY_BYTES = 500_000_000
"""The size of one upload, such as a folder of PDF files."""
CSRF_FIELD = "csrf"
CSRF_HEADER = "x-csrf-token"
_READING_METHODS = ("GET", "HEAD")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
FRAME_POLICY = "frame-ancestors 'self'"
"""The policy of a file that a page of the desk shows in a frame."""
_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "same-origin",  # with no-referrer, browsers send forms without an origin
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
# A page rather than a redirection: a browser that came from another site or from a file would not
# send the new cookie along a redirection.
_WELCOME_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=/"><title>Papershelf</title>
<link rel="icon" href="/static/icon.svg">
<link rel="stylesheet" href="/static/desk.css">
<main class="locked"><p><a href="/">Open the desk</a></p></main></html>"""
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Papershelf</title><link rel="icon" href="/static/icon.svg">
<link rel="stylesheet" href="/static/desk.css">
<main class="locked"><h1>{title}</h1>{body}</main></html>"""
_LOCKED_PAGE = _PAGE.format(
    title="This desk is locked",
    body="""<p>Open the whole address that <code>papershelf desk</code> printed, with the token at
its end. Each start of the desk has a token of its own.</p>""",
)
_SIGN_IN_FORM = """<p role="status">{words}</p><form method="post" action="/sign-in">
<label class="field wide"><span>Token</span><input type="password" name="token" required autofocus
autocomplete="current-password"></label><button type="submit">Sign in</button></form>"""
_HOW_TO_SIGN_IN = "Paste the token that the keeper of this shelf gave you."
_READ_ONLY_PAGE = _PAGE.format(
    title="Your token allows reading only",
    body="<p>Nothing was changed. Ask the keeper of this shelf for a token with the scope "
    "<code>download</code>.</p><p><a href='/'>Back to the shelf</a></p>",
)
SIGN_IN, SIGN_OUT = "/sign-in", "/sign-out"
_MAX_SIGN_IN_BYTES = 20_000
_MAX_SESSIONS = 500
_SESSION_S = 12 * 3600.0
_MAX_FAILURES, _FAILURES_S = 20, 60.0
_PUBLIC_ADDRESS = re.compile(r"https://([a-z0-9][a-z0-9.-]*(?::\d{1,5})?)/?")


class Grant(Protocol):
    """The scopes of a valid token, as the HTTP authentication of the MCP server reads it."""

    scopes: list[str]
    expires_at: int | None


Verify = Callable[[str], Awaitable[Grant | None]]


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that was let in: its cookie, the token of its forms, and what it may do."""

    may_write: bool = True
    ends_at: float = math.inf
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)


_NO_SESSION = Session(may_write=False)
current_session: ContextVar[Session] = ContextVar("session", default=_NO_SESSION)
"""The session of the request that is being answered."""


class Access:
    """The address of one running desk, and the browsers that were let in.

    On its own computer, a desk lets in the browser that opens the first address. A remote desk lets
    in whoever signs in with a token of the HTTP authentication.

    Parameters
    ----------
    port : int
        The port that the desk listens on.
    public_address : str
        The address of a remote desk, such as ``https://papers.lab.edu``; TLS ends at a proxy.
    verify : callable
        Returns what a token allows, for a remote desk.

    Raises
    ------
    BadRequest
        The public address is not one of https, or has a path.
    """

    def __init__(self, port: int, public_address: str = "", verify: Verify | None = None) -> None:
        self.token = secrets.token_urlsafe(32)
        self.verify = verify
        self.hosts: tuple[str, ...] = (f"{LOOPBACK}:{port}", f"localhost:{port}")
        self.cookie_name = f"papershelf_desk_{port}"
        self.scheme = "http"
        self.sessions: list[Session] = []
        self._failures: deque[float] = deque(maxlen=_MAX_FAILURES)
        if verify:
            self.hosts = (read_public_host(public_address),)
            self.cookie_name, self.scheme = "__Host-papershelf_desk", "https"
        else:
            self.sessions = [Session()]

    @property
    def is_remote(self) -> bool:
        """True if the desk is reached over the network."""
        return self.verify is not None

    @property
    def address(self) -> str:
        """The address of the desk, without the token."""
        return f"{self.scheme}://{self.hosts[0]}"

    @property
    def first_address(self) -> str:
        """The address to open first; on its own computer, its token is exchanged for a cookie."""
        return self.address if self.is_remote else f"{self.address}/?token={self.token}"

    def find_session(self, headers: Headers) -> Session | None:
        """Return the session whose cookie a request has; None without one."""
        cookies = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            return None
        given = cookies.get(self.cookie_name)
        value, now = given.value if given else "", time.time()
        self.sessions = [one for one in self.sessions if one.ends_at > now]
        return next((one for one in self.sessions if _is_equal(value, one.cookie)), None)

    def exchange_token(self, token: str) -> Response:
        """Return the response to a first address: the cookie, or the page of a locked desk."""
        if not _is_equal(token, self.token):
            return HTMLResponse(_LOCKED_PAGE, 403)
        response = HTMLResponse(_WELCOME_PAGE)
        self._set_cookie(response, self.sessions[0])
        return response

    async def sign_in(self, token: str) -> Response:
        """Return the response to a token of the HTTP authentication: a cookie, or the form again.

        A session ends with its token, and after half a day. Wrong tokens are throttled; a right one
        is always accepted, so that a stranger cannot lock the others out.
        """
        assert self.verify is not None
        now = time.time()
        grant = await self.verify(token)
        if grant is None or "read" not in grant.scopes:
            if len(self._failures) == _MAX_FAILURES and now - self._failures[0] < _FAILURES_S:
                page = self.render_locked_page("Too many wrong tokens. Try again in a minute.")
                return HTMLResponse(page, 429, {"retry-after": f"{_FAILURES_S:.0f}"})
            self._failures.append(now)
            words = "This token is wrong, or has expired. Ask for another one."
            return HTMLResponse(self.render_locked_page(words), 403)
        ends_at = min(now + _SESSION_S, grant.expires_at or math.inf)
        session = Session("download" in grant.scopes, ends_at)
        self.sessions = [*self.sessions[1 - _MAX_SESSIONS :], session]
        response = RedirectResponse("/", 303)
        self._set_cookie(response, session)
        return response

    def sign_out(self, session: Session) -> Response:
        """End a session, and return the page of a locked desk."""
        self.sessions = [one for one in self.sessions if one is not session]
        response = HTMLResponse(self.render_locked_page("You are signed out."))
        response.delete_cookie(self.cookie_name, secure=True, httponly=True, samesite="strict")
        return response

    def render_locked_page(self, words: str = _HOW_TO_SIGN_IN) -> str:
        """Return the page for a browser that was not let in; a remote desk's has a form."""
        if not self.is_remote:
            return _LOCKED_PAGE
        return _PAGE.format(title="Sign in", body=_SIGN_IN_FORM.format(words=words))

    def _set_cookie(self, response: Response, session: Session) -> None:
        age = None if session.ends_at == math.inf else int(session.ends_at - time.time())
        options: dict[str, Any] = {"httponly": True, "samesite": "strict", "path": "/"}
        options |= {"max_age": age, "secure": self.is_remote}
        response.set_cookie(self.cookie_name, session.cookie, **options)


def read_public_host(address: str) -> str:
    """Return the host of a public address, as browsers send it.

    >>> read_public_host("https://Papers.Lab.edu:443/")
    'papers.lab.edu'

    Raises
    ------
    BadRequest
        The address is not one of https, or has a path.
    """
    found = _PUBLIC_ADDRESS.fullmatch(address.strip().lower())
    if not found:
        msg = f"{address[:100]!r} is not the address of a desk on the network."
        hint = "Give https:// and a name without a path, such as https://papers.lab.edu."
        raise BadRequest(msg, hint)
    return found[1].removesuffix(":443")


def is_csrf_token(value: object) -> bool:
    """Return whether *value* is the token of the forms of the session that is being answered."""
    return isinstance(value, str) and _is_equal(value, current_session.get().csrf)


def _is_equal(value: str, secret: str) -> bool:
    """Compare in constant time; a text with other than ASCII letters is never equal."""
    return secrets.compare_digest(value.encode(), secret.encode())


class Gate:
    """ASGI middleware that answers only requests with access, and adds security headers."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or reject it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        session = self._access.find_session(Headers(scope=scope))
        rejection = self._reject(scope, session)
        answer: ASGIApp = rejection or self._app
        if session:
            current_session.set(session)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("content-security-policy", _POLICY)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        await answer(scope, receive, send_with_headers)

    def _reject(self, scope: Scope, session: Session | None) -> Response | None:
        """Return the response to a request without access, or to a first address."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self._access.hosts or len(headers.getlist("host")) != 1:
            return PlainTextResponse("The desk does not answer under this name.", 421)
        reads = scope["method"] in _READING_METHODS
        if scope["path"].startswith("/static/") and reads:
            return None
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if scope["path"] == "/" and "token" in query and reads and not self._access.is_remote:
            return self._access.exchange_token(query["token"][0])
        signs_in = self._access.is_remote and scope["path"] == SIGN_IN and not reads
        if session is None and not signs_in:
            return HTMLResponse(self._access.render_locked_page(), 403)
        if reads:
            return None
        if rejection := self._reject_change(scope, headers, host):
            return rejection
        if signs_in and int(headers["content-length"]) > _MAX_SIGN_IN_BYTES:
            return PlainTextResponse("This is too long for a token.", 413)
        may_change = signs_in or scope["path"] == SIGN_OUT or (session and session.may_write)
        return None if may_change else HTMLResponse(_READ_ONLY_PAGE, 403)

    def _reject_change(self, scope: Scope, headers: Headers, host: str) -> Response | None:
        """Return the response to a request that may not change anything; None if it may."""
        if scope["method"] != "POST":
            return PlainTextResponse("Only GET and POST are answered.", 405)
        if headers.get("origin") != f"{self._access.scheme}://{host}":
            return PlainTextResponse("This request came from another site.", 403)
        length = headers.get("content-length", "")
        if not length.isdigit():
            return PlainTextResponse("The request does not state its length.", 411)
        if int(length) > MAX_BODY_BYTES:
            return PlainTextResponse("The upload is too large: send fewer files at once.", 413)
        return None
