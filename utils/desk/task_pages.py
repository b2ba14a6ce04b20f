"""The page of long work that the desk does in a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import NotFound
from .desk import Desk

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

TITLES = {"index": "Index of the texts", "media": "Figures, tables and files"}


def show_task(desk: Desk, request: Request) -> Response:
    """Return the page of a task."""
    name = request.query_params.get("name", "")
    task = desk.tasks.get(name)
    if task is None or name not in TITLES:
        raise NotFound("This task does not exist.", "Start it again on the page of the papers.")
    return desk.render("task.html", task=task, name=name, title=TITLES[name])


def follow_task(desk: Desk, request: Request) -> tuple[str, bool]:
    """Return the progress of a task, and whether the task ended."""
    task = desk.tasks.get(request.query_params.get("name", ""))
    part = desk.templates.get_template("progress.html").render(task=task)
    return part, not (task and task.is_alive)
