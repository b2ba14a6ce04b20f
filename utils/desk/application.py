"""The addresses of the desk, each with the function that answers it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from . import (
    corpus_pages,
    finding_pages,
    harvest_pages,
    paper_pages,
    review_pages,
    selection_pages,
    shelf_pages,
    task_pages,
)
from .access import SIGN_IN, SIGN_OUT, Access, Gate
from .desk import (
    FOLDER,
    Action,
    Desk,
    Page,
    serve_action,
    serve_events,
    serve_page,
    serve_sign_in,
    show_http_error,
    sign_out,
)

if TYPE_CHECKING:
    from ..library import Library

PAGES: dict[str, Page] = {
    "/": shelf_pages.show_shelf,
    "/selection": selection_pages.show_selection,
    "/selection/references": selection_pages.send_references,
    "/paper": paper_pages.show_paper,
    "/paper/pdf": paper_pages.send_pdf,
    "/paper/picture": paper_pages.send_picture,
    "/find": finding_pages.show_search,
    "/inbox": finding_pages.show_inbox,
    "/harvests": harvest_pages.show_harvests,
    "/harvest": harvest_pages.show_harvest,
    "/reviews": review_pages.show_reviews,
    "/review": review_pages.show_review,
    "/review/screen": review_pages.show_screening,
    "/review/conflicts": review_pages.show_conflicts,
    "/review/duplicates": review_pages.show_duplicates,
    "/ask": corpus_pages.show_question,
    "/data": corpus_pages.show_datasets,
    "/check": corpus_pages.show_check,
    "/check/page": corpus_pages.send_check,
    "/setup": corpus_pages.show_setup,
    "/task": task_pages.show_task,
}
ACTIONS: dict[str, Action] = {
    "/selection/pack": selection_pages.pack_selection,
    "/selection/zotero": selection_pages.push_selection,
    "/selection/review": selection_pages.add_to_review,
    "/selection/media": selection_pages.fetch_media,
    "/paper/keep": paper_pages.keep_paper,
    "/paper/note": paper_pages.annotate_paper,
    "/paper/undo-keep": paper_pages.undo_keep,
    "/find/get": harvest_pages.get_papers,
    "/inbox/upload": finding_pages.file_uploads,
    "/harvests/plan": harvest_pages.plan_harvest,
    "/harvests/start": harvest_pages.start_harvest,
    "/harvest/resume": harvest_pages.resume_harvest,
    "/harvest/cancel": harvest_pages.cancel_harvest,
    "/reviews/create": review_pages.create_review,
    "/review/protocol": review_pages.set_protocol,
    "/review/update": review_pages.update_review,
    "/review/harvest": review_pages.harvest_review,
    "/review/import": review_pages.import_decisions,
    "/review/list": review_pages.add_list,
    "/review/export": review_pages.export_records,
    "/review/report": review_pages.write_report,
    "/review/decide": review_pages.decide_record,
    "/review/duplicates/decide": review_pages.decide_pair,
    "/review/undo": review_pages.undo_decision,
    "/ask/index": corpus_pages.index_texts,
    "/check/manuscript": corpus_pages.check_manuscript,
    "/setup/save": corpus_pages.save_settings,
}


def build_application(library: Library, access: Access) -> Starlette:
    """Return the ASGI application of a desk; a remote desk does not show the settings."""
    desk = Desk(library, access)
    pages, actions = dict(PAGES), dict(ACTIONS)
    if access.is_remote:
        del pages["/setup"], actions["/setup/save"]
        actions[SIGN_OUT] = sign_out
    application = Starlette(
        routes=[
            *(Route(path, serve_page(desk, page)) for path, page in pages.items()),
            *(
                Route(path, serve_action(desk, action), methods=["POST"])
                for path, action in actions.items()
            ),
            Route(SIGN_IN, serve_sign_in(access), methods=["POST"]),
            Route("/harvest/events", serve_events(desk, harvest_pages.follow_harvest)),
            Route("/task/events", serve_events(desk, task_pages.follow_task)),
            Mount("/static", StaticFiles(directory=FOLDER / "static")),
        ],
        middleware=[Middleware(Gate, access=access)],
        exception_handlers={
            status: partial(show_http_error, desk) for status in (403, 404, 405, 400)
        },
    )
    application.state.desk = desk
    return application
