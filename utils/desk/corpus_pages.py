"""Questions to the texts of the shelf, datasets in SQL, and the check of a manuscript."""

from __future__ import annotations

import re
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.datastructures import UploadFile
from starlette.responses import HTMLResponse, Response

from ..errors import BadRequest, NotFound
from ..model.passage import Filters
from ..model.sites import KEYS
from ..reports.labels import pluralize
from .desk import Desk, build_link, build_text_fragment, read_number, read_text, redirect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.datastructures import FormData
    from starlette.requests import Request

    from ..model.passage import Passage

_MAX_HITS = 20
_MAX_ROWS = 100
_MAX_CHECKS = 10
_MANUSCRIPTS = (".docx", ".md", ".pdf", ".tex", ".txt")
_MAX_MANUSCRIPT_BYTES = 50_000_000
_STYLE_HASH = re.compile(r"style-src '(sha256-[A-Za-z0-9+/=]{20,100})'")


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that answers a question, and the place of the passage in its paper's page."""

    passage: Passage
    place: str


def show_question(desk: Desk, request: Request) -> Response:
    """Return the form for a question, and the passages that answer it."""
    query = request.query_params.get("query", "").strip()
    answer, passages = None, []
    if query:
        answer = desk.library.corpus.find(query, top_k=_MAX_HITS, filters=Filters())
        passages = [FoundPassage(one.passage, _find_place(one.passage)) for one in answer.hits]
    return desk.render(
        "ask.html", query=query, answer=answer, passages=passages, task=desk.tasks.get("index")
    )


def _find_place(passage: Passage) -> str:
    """Return the address of a passage in the text of its paper, which browsers scroll to."""
    page = build_link("/paper", id=passage.file or passage.paper)
    return f"{page}{build_text_fragment(passage.text)}"


def index_texts(desk: Desk, _: Request, __: FormData) -> Response:
    """Start indexing new and changed texts, to make them searchable."""
    desk.tasks.start("index", _index_and_describe_progress(desk))
    return redirect("/ask")


def _index_and_describe_progress(desk: Desk) -> Iterator[str]:
    """Index the texts, and yield the progress in words."""
    for step in desk.library.corpus.index():
        yield f"{step.done:,} of {pluralize(step.total, 'paper')} looked at."
    yield "All texts are indexed."


def show_datasets(desk: Desk, request: Request) -> Response:
    """Return the datasets, and the rows of a statement in SQL."""
    name = request.query_params.get("dataset", "")
    statement = request.query_params.get("sql", "").strip()
    start = read_number(request.query_params, "start")
    datasets = desk.library.datasets
    page = (
        datasets.query(name, statement, start=start, max_results=_MAX_ROWS)
        if name and statement
        else None
    )
    following = page.next_start if page and page.next_start else 0
    return desk.render(
        "data.html",
        datasets=list(datasets.list()),
        name=name,
        statement=statement,
        schema=datasets.schema(name) if name else None,
        page=page,
        next_page=build_link("/data", dataset=name, sql=statement, start=following)
        if following
        else "",
    )


def show_check(desk: Desk, request: Request) -> Response:
    """Return the form for a manuscript, and the findings of a check."""
    name = request.query_params.get("check", "")
    title = desk.checks[name][0] if name in desk.checks else ""
    return desk.render("check.html", name=name if title else "", title=title)


def check_manuscript(desk: Desk, _: Request, form: FormData) -> Response:
    """Check an uploaded manuscript; the file itself is not kept."""
    from ..manuscript.page import render_check_page

    upload = form.get("file")
    if not isinstance(upload, UploadFile) or not upload.filename:
        raise BadRequest("No file was chosen.", "Choose a manuscript.")
    suffix = next((one for one in _MANUSCRIPTS if upload.filename.lower().endswith(one)), "")
    if not suffix:
        msg = "This is not a manuscript that can be read."
        raise BadRequest(msg, f"Choose a file that ends with {', '.join(_MANUSCRIPTS)}.")
    body = upload.file.read(_MAX_MANUSCRIPT_BYTES + 1)
    if len(body) > _MAX_MANUSCRIPT_BYTES:
        raise BadRequest("The manuscript is larger than 50 MB.", "Send it without its pictures.")
    with tempfile.TemporaryDirectory(prefix="papershelf-check-") as folder:
        path = Path(folder) / f"manuscript{suffix}"
        path.write_bytes(body)
        checked = desk.library.check(path, fetch=bool(read_text(form, "fetch")))
        page = render_check_page(checked.row())
    name = secrets.token_urlsafe(12)
    desk.checks[name] = (upload.filename[:100], page)
    while len(desk.checks) > _MAX_CHECKS:
        desk.checks.pop(next(iter(desk.checks)))
    return redirect("/check", check=name)


def send_check(desk: Desk, request: Request) -> Response:
    """Return the page of a check, whose only style is named in its policy by a checksum."""
    name = request.query_params.get("check", "")
    if name not in desk.checks:
        raise NotFound("This check has expired.", "Check the manuscript again.")
    page = desk.checks[name][1]
    found = _STYLE_HASH.search(page)
    style = f"style-src '{found[1]}'; " if found else ""
    policy = f"default-src 'none'; {style}base-uri 'none'; form-action 'none'; "
    headers = {"content-security-policy": f"{policy}frame-ancestors 'self'"}
    return HTMLResponse(page, headers=headers)


def show_setup(desk: Desk, request: Request) -> Response:
    """Return the settings, and on request the state of this installation and of the services."""
    from ..curation.mcp_hosts import (
        build_host_settings,
        build_server_command,
        describe_missing_keys,
    )
    from ..settings import find_user_settings_file

    root = Path(__file__).resolve().parents[2]
    settings = desk.library.settings
    checks: list[Any] = []
    if request.query_params.get("examine"):
        order = ("problem", "warning", "ok")
        checks = sorted(desk.library.doctor(), key=lambda one: order.index(one.state))
    keys = [(key, bool(settings.key(key.setting))) for key in KEYS]
    return desk.render(
        "setup.html",
        email=settings.pubmed_email,
        folder=desk.library.shelf.folder,
        file=find_user_settings_file() or "none: this user has no home folder",
        keys=keys,
        hosts=build_host_settings(settings, build_server_command(root)),
        missing_keys=describe_missing_keys(settings, root),
        checks=checks,
        is_saved=bool(request.query_params.get("saved")),
    )


def save_settings(desk: Desk, _: Request, form: FormData) -> Response:
    """Write the e-mail address and the keys of the form into the user's settings file."""
    from ..curation.installation import (
        get_journal_file,
        get_settings_file,
        plan_settings_change,
        require_valid_settings,
    )
    from ..curation.mcp_host_files import write_changes

    names = ("PUBMED_EMAIL", *(key.setting.upper() for key in KEYS))
    values = {name: value for name in names if (value := read_text(form, name))}
    if not values:
        raise BadRequest("Nothing was filled in.", "Write an e-mail address or a key.")
    require_valid_settings(values)
    write_changes([plan_settings_change(values, get_settings_file())], get_journal_file())
    return redirect("/setup", saved=1)
