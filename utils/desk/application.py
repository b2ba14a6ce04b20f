"""The addresses of the desk, each with the function that answers it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from . import paper_pages, shelf_pages
from .access import Access, Gate
from .desk import FOLDER, Action, Desk, Page, serve_action, serve_page, show_http_error

if TYPE_CHECKING:
    from ..library import Library

PAGES: dict[str, Page] = {
    "/": shelf_pages.show_shelf,
    "/selection": shelf_pages.show_selection,
    "/selection/references": shelf_pages.send_references,
    "/paper": paper_pages.show_paper,
    "/paper/pdf": paper_pages.send_pdf,
    "/paper/picture": paper_pages.send_picture,
}
ACTIONS: dict[str, Action] = {
    "/paper/keep": paper_pages.keep_paper,
    "/paper/undo-keep": paper_pages.undo_keep,
}


def build_application(library: Library, access: Access) -> Starlette:
    """Return the ASGI application of a desk."""
    desk = Desk(library, access)
    return Starlette(
        routes=[
            *(Route(path, serve_page(desk, page)) for path, page in PAGES.items()),
            *(
                Route(path, serve_action(desk, action), methods=["POST"])
                for path, action in ACTIONS.items()
            ),
            Mount("/static", StaticFiles(directory=FOLDER / "static")),
        ],
        middleware=[Middleware(Gate, access=access)],
        exception_handlers={
            status: partial(show_http_error, desk) for status in (403, 404, 405, 400)
        },
    )
