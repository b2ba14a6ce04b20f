"""Explain an empty listing of the shelf: which filters leave nothing."""

from __future__ import annotations

from collections.abc import Mapping

from ..shelf import Shelf

_CALLED = {"text": "Words", "kind": "Kind", "min_date": "From", "max_date": "Until"}


def explain_empty_listing(
    shelf: Shelf,
    filters: Mapping[str, str | bool],
    among: frozenset[str] | None = None,
    job_id: str = "",
) -> list[str]:
    """Return a sentence for each filter that leaves nothing, with the count without that filter.

    Parameters
    ----------
    shelf : Shelf
    filters : mapping
        Filters by name, as for `Shelf.list_papers`; empty values are ignored.
    among : frozenset of str, optional
        The names of the papers of the harvest *job_id*.
    """
    chosen = {name: value for name, value in filters.items() if value}

    def count_papers(names: frozenset[str] | None, left: Mapping[str, str | bool]) -> int:
        return shelf.list_papers(**left, among=names, max_results=0)[0]  # type: ignore[arg-type]

    said = [
        f"{_describe_filter(name, value)} leaves no papers. Without it: {found:,}."
        for name, value in chosen.items()
        if (found := count_papers(among, {one: chosen[one] for one in chosen if one != name}))
    ]
    if among is not None and (found := count_papers(None, chosen)):
        said.append(
            f"The harvest {job_id} has none of these papers. On the whole shelf: {found:,}."
        )
    if not said and (chosen or among is not None) and (found := count_papers(None, {})):
        said.append(f"Together these filters leave no papers. Without them: {found:,}.")
    return said


def _describe_filter(name: str, value: str | bool) -> str:
    if name == "has_pdf":
        return "The filter for papers with a PDF"
    if name == "retracted":
        return "The filter for retracted papers"
    return f"{_CALLED.get(name, name.capitalize())} “{value}”"
