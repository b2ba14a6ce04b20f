"""The running desk: its library, its templates, and the wrappers of pages and actions.

A page is a function of the desk and a request that returns a response; an action also gets the
form. Both run in a thread, since the library waits for disks and sites. A `PaperError` becomes a
page that says what happened and what to do.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import anyio
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from ..command_line import command_line
from ..errors import BadRequest, NotFound, PaperError
from ..reports.labels import format_duration, get_missing_reason, get_route_label, pluralize
from ..reports.page import shorten_to_line
from .access import CSRF_FIELD, CSRF_HEADER, Access, current_session, is_csrf_token
from .plans import PlannedHarvests
from .tasks import Tasks

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request

    from ..harvest.background import BackgroundHarvests
    from ..library import Library
    from ..model.paper import StoredPaper

log = logging.getLogger(__name__)
FOLDER = Path(__file__).parent
Page = Callable[["Desk", "Request"], Response]
Action = Callable[["Desk", "Request", "FormData"], Response]
_SETUP = ("/setup", "Setup")
SECTIONS = (
    ("/", "Shelf"),
    ("/find", "Find"),
    ("/inbox", "Inbox"),
    ("/harvests", "Harvests"),
    ("/reviews", "Reviews"),
    ("/ask", "Ask"),
    ("/data", "Data"),
    ("/check", "Check"),
    _SETUP,
)
"""The sections of the desk: address and name."""
_FRAGMENT_WORDS = 6
_EVENT_INTERVAL_S = 1.0
_MAX_FORM_FIELDS = 20_000
_MAX_FIELD_BYTES = 5_000_000
_FAULT = "This page could not be made: a fault of Papershelf. The log has the details."


class Desk:
    """The state of one running desk.

    Parameters
    ----------
    library : Library
    access : Access
    """

    def __init__(self, library: Library, access: Access) -> None:
        self.library = library
        self.access = access
        self.plans = PlannedHarvests()
        self.tasks = Tasks()
        self.checks: dict[str, tuple[str, str]] = {}  # names and pages of checked manuscripts
        self.orders: dict[str, tuple[int, dict[str, int]]] = {}  # of screening, by review

    @cached_property
    def harvests(self) -> BackgroundHarvests:
        """The harvests that this desk runs."""
        from ..harvest.background import BackgroundHarvests

        return BackgroundHarvests(
            lambda job_id: self.library.harvest(job_id=job_id),
            "Wait until one of them has ended, or cancel it.",
        )

    @cached_property
    def templates(self) -> Environment:
        """The compiled templates; every value is escaped."""
        made = Environment(
            loader=FileSystemLoader(FOLDER / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        made.filters |= {
            "short": shorten_to_line,
            "command": command_line,
            "plural": pluralize,
            "duration": format_duration,
            "route": get_route_label,
            "reason": get_missing_reason,
            "day": lambda moment: str(moment)[:10],
        }
        # Trusted: `.rendering` escapes every letter of a paper's text.
        made.filters["trusted"] = Markup
        made.globals |= {
            "link": build_link,
            "file_name": to_name,
            "sections": [one for one in SECTIONS if not (self.access.is_remote and one == _SETUP)],
            "is_remote": self.access.is_remote,
        }
        return made

    def render(self, template: str, http_status: int = 200, **values: Any) -> Response:
        """Return a page made from a template."""
        values["csrf"] = current_session.get().csrf
        return HTMLResponse(self.templates.get_template(template).render(**values), http_status)

    def render_part(self, template: str, block: str, **values: Any) -> str:
        """Return one block of a template, for a page that replaces only this part."""
        found = self.templates.get_template(template)
        values["csrf"] = current_session.get().csrf
        return "".join(found.blocks[block](found.new_context(values)))

    def render_error(self, error: PaperError, status: int = 0) -> Response:
        """Return the page of an error: what happened, and what to do."""
        status = status or (404 if isinstance(error, NotFound) else 400)
        return self.render("error.html", status, message=error.message, hints=error.hints)


def build_link(path: str, **values: Any) -> str:
    """Return an address of the desk, without the values that are empty.

    >>> build_link("/paper", id="10.1000/a b", start=0)
    '/paper?id=10.1000%2Fa%20b'
    """
    given = {name: value for name, value in values.items() if value not in ("", None, False, 0)}
    return f"{path}?{urlencode(given, doseq=True, quote_via=quote, safe='')}" if given else path


def build_text_fragment(text: str) -> str:
    """Return the end of an address by which browsers scroll to the first words of a text.

    >>> build_text_fragment("Moss **grew** in light.")
    '#:~:text=Moss%20grew%20in%20light'
    """
    words = re.findall(r"\w[\w-]*", text)[:_FRAGMENT_WORDS]
    return f"#:~:text={quote(' '.join(words))}"


def to_name(stored: StoredPaper) -> str:
    """Return the name of a text in the desk's addresses, which is its file name."""
    return stored.path.replace("\\", "/").rpartition("/")[2]


def redirect(path: str, **values: Any) -> Response:
    """Return a redirection to a page of the desk, after an action."""
    return RedirectResponse(build_link(path, **values), 303)


def read_number(values: Mapping[str, Any], name: str, default: int = 0) -> int:
    """Return a number from an address or a form.

    Raises
    ------
    BadRequest
        The value is not a natural number.
    """
    text = str(values.get(name, "") or default)
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise BadRequest(f"{name} is {text[:40]!r}, not a number.", "Open the page again.")
    return int(text)


def read_texts(form: FormData, name: str) -> list[str]:
    """Return the texts that a form has under one name; files are left out."""
    return [value for value in form.getlist(name) if isinstance(value, str) and value.strip()]


def read_text(form: FormData, name: str) -> str:
    """Return the first text that a form has under a name; empty if it has none."""
    return next(iter(read_texts(form, name)), "").strip()


def serve_page(desk: Desk, page: Page) -> Callable[[Request], Any]:
    """Return the endpoint of a page."""

    async def answer_request(request: Request) -> Response:
        return await run_in_threadpool(_answer, desk, partial(page, desk, request))

    return answer_request


def serve_action(desk: Desk, action: Action) -> Callable[[Request], Any]:
    """Return the endpoint of an action, which checks the form's token first."""

    async def answer_request(request: Request) -> Response:
        sent = request.form(
            max_files=1000, max_fields=_MAX_FORM_FIELDS, max_part_size=_MAX_FIELD_BYTES
        )
        async with sent as form:
            given = request.headers.get(CSRF_HEADER) or form.get(CSRF_FIELD)
            if not is_csrf_token(given):
                raise HTTPException(403, "The form is out of date.")
            return await run_in_threadpool(_answer, desk, partial(action, desk, request, form))

    return answer_request


def _answer(desk: Desk, make: Callable[[], Response]) -> Response:
    """Return a response; an error becomes a page that explains it."""
    try:
        return make()
    except PaperError as error:
        return desk.render_error(error)
    except HTTPException:
        raise
    except Exception:
        log.exception("A page of the desk failed")
        return desk.render("error.html", 500, message=_FAULT, hints=())


def serve_sign_in(access: Access) -> Callable[[Request], Any]:
    """Return the endpoint of the sign-in form of a remote desk."""

    async def answer_request(request: Request) -> Response:
        async with request.form(max_files=0, max_fields=5) as form:
            return await access.sign_in(read_text(form, "token"))

    return answer_request


def sign_out(desk: Desk, _: Request, __: FormData) -> Response:
    """End the session of a browser."""
    return desk.access.sign_out(current_session.get())


def serve_events(
    desk: Desk, follow: Callable[[Desk, Request], tuple[str, bool]]
) -> Callable[[Request], Any]:
    """Return the endpoint of server-sent events.

    *follow* returns a part of a page, and whether it is the last one. A part that changed is sent.
    """

    async def send_parts(request: Request) -> AsyncIterator[str]:
        before, ended = "", False
        while not ended:
            try:
                part, ended = await run_in_threadpool(follow, desk, request)
            except PaperError as error:
                log.info("Events ended: %s", error)
                ended, part = True, ""
            if part and part != before:
                lines = "\n".join(f"data: {line}" for line in part.splitlines() if line.strip())
                yield f"{lines}\n\n"
                before = part
            else:
                yield ": waiting\n\n"  # notices a window that was closed
            if not ended:
                await anyio.sleep(_EVENT_INTERVAL_S)
        yield "event: ended\ndata: ended\n\n"

    async def answer_request(request: Request) -> Response:
        return StreamingResponse(send_parts(request), media_type="text/event-stream")

    return answer_request


async def show_http_error(desk: Desk, _: Request, error: Exception) -> Response:
    """Return the page of an HTTP error, such as an unknown address."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    messages = {404: "There is no such page.", 403: "The form is out of date."}
    hints = {403: ("Go back, reload the page, and send the form again.",)}
    message = messages.get(status, "The request cannot be answered.")
    return desk.render("error.html", status, message=message, hints=hints.get(status, ()))
