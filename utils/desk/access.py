"""Decide which requests the desk answers, and add security headers to every response.

A page on the web can make a browser send requests to this computer, and a name on the web can be
made to point at it (DNS rebinding). A request is therefore answered only if

1. its ``Host`` is the desk's own address,
2. it has the cookie that the browser got in exchange for the token in the first address, and
3. for anything but reading, its ``Origin`` is the desk's own and it carries the form token.

The cookie is ``SameSite=Strict``, so that a browser does not send it from another site, and
``HttpOnly``, so that no script reads it. The content security policy allows scripts, styles and
pictures of the desk itself and nothing inline: text of a paper that were taken for markup could
still load and run nothing.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response

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
_LOCKED_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Locked · Papershelf</title><link rel="icon" href="/static/icon.svg">
<link rel="stylesheet" href="/static/desk.css">
<main class="locked"><h1>This desk is locked</h1>
<p>Open the whole address that <code>papershelf desk</code> printed, with the token at its end.
Each start of the desk has a token of its own.</p></main></html>"""


class Access:
    """The address and the secrets of one running desk.

    Parameters
    ----------
    port : int
        The port that the desk listens on.
    """

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self.csrf = secrets.token_urlsafe(32)
        self.session = secrets.token_urlsafe(32)
        self.hosts = (f"{LOOPBACK}:{port}", f"localhost:{port}")
        self.cookie_name = f"papershelf_desk_{port}"

    @property
    def address(self) -> str:
        """The address of the desk, without the token."""
        return f"http://{self.hosts[0]}"

    @property
    def first_address(self) -> str:
        """The address to open first; its token is exchanged for a cookie."""
        return f"{self.address}/?token={self.token}"

    def has_cookie(self, headers: Headers) -> bool:
        """Return whether a request has the desk's cookie."""
        cookies = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            return False
        cookie = cookies.get(self.cookie_name)
        return cookie is not None and _is_equal(cookie.value, self.session)

    def is_csrf_token(self, value: object) -> bool:
        """Return whether *value* is the token of this desk's forms."""
        return isinstance(value, str) and _is_equal(value, self.csrf)

    def exchange_token(self, token: str) -> Response:
        """Return the response to a first address: the cookie, or the page of a locked desk."""
        if not _is_equal(token, self.token):
            return HTMLResponse(_LOCKED_PAGE, 403)
        response = HTMLResponse(_WELCOME_PAGE)
        response.set_cookie(
            self.cookie_name, self.session, httponly=True, samesite="strict", path="/"
        )
        return response


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
        rejection = self._reject(scope)
        answer: ASGIApp = rejection or self._app

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("content-security-policy", _POLICY)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        await answer(scope, receive, send_with_headers)

    def _reject(self, scope: Scope) -> Response | None:
        """Return the response to a request without access, or to a first address."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self._access.hosts or len(headers.getlist("host")) != 1:
            return PlainTextResponse("The desk does not answer under this name.", 421)
        reads = scope["method"] in _READING_METHODS
        if scope["path"].startswith("/static/") and reads:
            return None
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if scope["path"] == "/" and "token" in query and reads:
            return self._access.exchange_token(query["token"][0])
        if not self._access.has_cookie(headers):
            return HTMLResponse(_LOCKED_PAGE, 403)
        return None if reads else self._reject_change(scope, headers, host)

    def _reject_change(self, scope: Scope, headers: Headers, host: str) -> Response | None:
        """Return the response to a request that may not change anything; None if it may."""
        if scope["method"] != "POST":
            return PlainTextResponse("Only GET and POST are answered.", 405)
        if headers.get("origin") != f"http://{host}":
            return PlainTextResponse("This request came from another site.", 403)
        length = headers.get("content-length", "")
        if not length.isdigit():
            return PlainTextResponse("The request does not state its length.", 411)
        if int(length) > MAX_BODY_BYTES:
            return PlainTextResponse("The upload is too large: send fewer files at once.", 413)
        return None
