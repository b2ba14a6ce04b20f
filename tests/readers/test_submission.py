"""LaTeX submissions are unpacked in memory, within bounds, and their main file is found."""

import gzip
import io
import json
import tarfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import often
from tests.readers.submissions import pack, wrap
from tests.readers.test_any_input import SAME
from utils.errors import BadContent
from utils.readers import submission
from utils.readers.submission import unpack_submission

PAPER = {"main.tex": wrap("perch " * 3000), "x.tex": "% x" * 9000, "a.png": bytes(900)}


def outcome(body: bytes) -> str:
    """Return whether a body unpacks whole, in part, or why it is refused."""
    try:
        return "partial" if unpack_submission(body).cut_off else "whole"
    except BadContent as refused:
        return str(refused.outcome)


@often(80, **SAME)
@given(st.binary(max_size=2000))
def test_any_bytes_are_unpacked_or_refused(body: bytes) -> None:
    for packed in (body, gzip.compress(body), pack({"main.tex": b"\\documentclass{a}" + body})):
        outcome(packed)


@often(60, **SAME)
@given(st.data())
def test_a_broken_archive_is_unpacked_or_refused(data: st.DataObject) -> None:
    body = bytearray(pack(PAPER, data.draw(st.sampled_from(["w", "w:gz"]))))
    for _ in range(data.draw(st.integers(0, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    outcome(bytes(body[: data.draw(st.integers(0, len(body)))]))


@pytest.mark.parametrize("mode", ["w:gz", "w"])
def test_a_truncated_archive_is_never_taken_for_whole(mode: str) -> None:
    whole = pack(PAPER, mode)
    assert outcome(whole) == "whole"
    for share in (0.5, 0.9):
        cut = whole[: int(share * len(whole.rstrip(b"\0")))]
        assert outcome(cut) in ("partial", "not_a_paper")


def test_no_file_is_written_and_no_link_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, kind, target in (
            ("../out.tex", tarfile.REGTYPE, ""),
            ("/abs.tex", tarfile.REGTYPE, ""),
            ("link.tex", tarfile.SYMTYPE, "/etc/passwd"),
            ("hard.tex", tarfile.LNKTYPE, "main.tex"),
            ("device", tarfile.CHRTYPE, ""),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            archive.addfile(member, io.BytesIO())
        member = tarfile.TarInfo("main.tex")
        body = wrap("text").encode()
        member.size = len(body)
        archive.addfile(member, io.BytesIO(body))
    assert set(unpack_submission(packed.getvalue()).files) == {"abs.tex", "main.tex"}
    assert not list(tmp_path.iterdir())
    assert not (tmp_path.parent / "out.tex").exists()


def test_an_archive_that_unpacks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission, "_MOST_UNPACKED", 1_000_000)
    monkeypatch.setattr(submission, "_MOST_TEXT", 500_000)
    with pytest.raises(BadContent, match="unpacks to more"):
        unpack_submission(pack({"main.tex": wrap("text"), "a.png": bytes(2_000_000)}))
    assert (
        unpack_submission(pack({"main.tex": wrap("text"), "a.bib": bytes(600_000)})).main
        == "main.tex"
    )
    many = {f"{n}.tex": "" for n in range(submission._MOST_FILES + 1)}
    with pytest.raises(BadContent, match="unpacks to more"):
        unpack_submission(pack(many))


@pytest.mark.parametrize("body", [b"%PDF-1.7", b"%!PS-Adobe", b"PK\x03\x04", b"", b"<html>", b"x"])
def test_a_body_without_tex_is_refused(body: bytes) -> None:
    assert outcome(body) == "not_a_paper"


# --- headers of a tar -----------------------------------------------------------------------------

EXTENDED = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)


def header(kind: bytes, size: int) -> bytes:
    """Return a tar header of a kind, which says that so many bytes follow."""
    member = tarfile.TarInfo("x")
    member.type, member.size = kind, size
    return member.tobuf(tarfile.USTAR_FORMAT)


@pytest.mark.parametrize("kind", EXTENDED)
def test_a_name_is_never_read_as_long_as_it_says(kind: bytes) -> None:
    long = gzip.compress(header(kind, 40_000_000) + bytes(40_000_000), 1)
    tracemalloc.start()
    try:
        with pytest.raises(BadContent, match="unpacks to more"):
            unpack_submission(long)
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", EXTENDED)
def test_names_without_end_are_refused(kind: bytes) -> None:
    with pytest.raises(BadContent, match="unpacks to more"):
        unpack_submission(gzip.compress(header(kind, 0) * 3000))


def test_a_map_of_holes_is_not_followed() -> None:
    sparse = bytearray(header(tarfile.GNUTYPE_SPARSE, 0))
    sparse[482] = 1  # more of the map follows
    sparse[148:156] = b" " * 8
    sparse[148:156] = b"%06o\0 " % sum(sparse)
    block = (b"00000000000\0" * 42).ljust(504, b"\0") + b"\1".ljust(8, b"\0")
    packed = gzip.compress(bytes(sparse) + block * 40_000, 1)
    tracemalloc.start()
    try:
        with pytest.raises(BadContent):
            unpack_submission(packed)
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_are_read_in_every_form(form: int) -> None:
    folder = "/".join(["folder"] * (14 if form == tarfile.USTAR_FORMAT else 60))
    name = f"{folder}/groesse.tex" if form == tarfile.USTAR_FORMAT else f"{folder}/größe.tex"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=form, encoding="utf-8") as archive:
        for path, text in {name: "one", "main.tex": wrap("two")}.items():
            member = tarfile.TarInfo(path)
            member.size = len(text)
            member.mtime = 0.5  # pax has a header for that too
            archive.addfile(member, io.BytesIO(text.encode()))
    found = unpack_submission(packed.getvalue())
    assert (found.files[name], found.cut_off) == ("one", False)


@pytest.mark.parametrize("packed", [gzip.compress, bytes])
def test_a_source_longer_than_is_read_is_cut_off(
    packed: type[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = wrap("word " * 500).encode()
    monkeypatch.setattr(submission, "_MOST_TEXT", len(source))
    assert outcome(packed(source)) == "whole"
    monkeypatch.setattr(submission, "_MOST_TEXT", len(source) - 1)
    assert outcome(packed(source)) == "partial"


# --- the main file --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "told",
    [
        {"00README.json": json.dumps({"sources": [{"filename": "b.tex", "usage": "toplevel"}]})},
        {"00README.XXX": "a.tex ignore\nb.tex toplevelfile\n"},
        {"b.bbl": ""},
    ],
)
def test_the_main_file_is_the_declared_one_or_has_a_list(told: dict[str, str]) -> None:
    files = {"a.tex": wrap("wrong and longer"), "b.tex": wrap("right")}
    assert unpack_submission(pack({**files, **told})).main == "b.tex"


@pytest.mark.parametrize(
    "packed",
    [
        wrap("text").encode(),
        wrap("text").encode("utf-8-sig"),
        gzip.compress(wrap("text").encode()),
        pack({"main.tex": wrap("text")}, "w"),
        pack({"main.tex": wrap("text"), "._main.tex": b"\0\5\xff"}),
    ],
    # Packed bytes hold the time: as names they would differ from one worker to the next.
    ids=["plain", "with a mark", "gzip", "tar", "tar.gz"],
)
def test_every_form_arxiv_sends_is_unpacked(packed: bytes) -> None:
    found = unpack_submission(packed)
    assert (found.files[found.main], found.cut_off) == (wrap("text"), False)


def test_an_old_encoding_is_read() -> None:
    assert "Müller" in unpack_submission(wrap("Müller").encode("latin-1")).files["main.tex"]
