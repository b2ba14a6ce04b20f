"""Lines are broken by measure, and measuring stays cheap."""

import pytest

from utils.reports.prisma import layout


def test_a_word_is_measured_once_however_often_it_is_laid_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured: list[str] = []
    letter = layout._measure_letter

    def measuring(one: str) -> int:
        measured.append(one)
        return letter(one)

    monkeypatch.setattr(layout, "_measure_letter", measuring)
    layout._measure_word.cache_clear()
    for room in (60, 140, 300, 140):
        layout.wrap_text("records of records that were sought and sought again", room, 14)
    assert "".join(measured) == "recordsofthatweresoughtandagain"
    measured.clear()
    assert len(layout.wrap_text("x" * 5_000, 140, 14)) > 1  # a hostile word grows linearly
    assert len(measured) < 4 * 5_000
