"""Figures of texts that are not from PubMed Central: LaTeX sources, pages of arXiv and others."""

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from tests.world import World, arxiv_texts
from utils import Library
from utils.demo import pages
from utils.media import StoredObject, is_copying_allowed
from utils.model.paper import Fetched
from utils.readers import latex as in_latex
from utils.readers.html import pictures as in_html
from utils.readers.submission import extract_submission_files

PNG = b"\x89PNG\r\n\x1a\n"


def packed(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for name, data in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(data)
            tar.addfile(about, io.BytesIO(data))
    return made.getvalue()


def latex(body: str, **files: bytes) -> Fetched:
    main = rf"\documentclass{{article}}\begin{{document}}{body}\end{{document}}".encode()
    return Fetched(packed({"main.tex": main, **files}), "latex", "", "arxiv", "arxiv")


def html(body: str, url: str = "https://a.test/articles/1") -> Fetched:
    page = f"<html><body><article>{body}</article></body></html>".encode()
    return Fetched(page, "html", url, "publisher", "publisher")


def figure(library: Library, paper: str) -> StoredObject:
    [kept] = library.objects(paper, kinds=("figure",)).objects
    return kept


@pytest.mark.extras("pypandoc")
def test_a_latex_source_gives_its_figures_and_nobody_is_asked(
    library: Library, world: World
) -> None:
    library.download("2602.00002")
    sent = len(world.requests)
    kept = figure(library, "2602.00002")
    assert (kept.label, kept.caption, Path(kept.file).name) == (
        *("Figure 1", "Rates."),
        "figure-1.pdf",
    )
    assert Path(kept.file).read_bytes() == b"%PDF-1.5 a picture"
    assert "arxiv.org/licenses" in kept.license
    assert kept.url.endswith("/e-print/2602.00002")
    assert len(world.requests) == sent


def test_a_page_of_arxiv_gives_its_figures_at_arxivs_pace(library: Library, world: World) -> None:
    library.download("2601.00001")
    kept = figure(library, "2601.00001")
    assert Path(kept.file).read_bytes() == arxiv_texts.PICTURE
    assert kept.url.endswith("/html/2601.00001v2/x1.png")
    assert kept.caption == "Rates over a season."
    asked = [request for request in world.requests if request.path.endswith("x1.png")]
    assert figure(library, "2601.00001") == kept
    assert len([one for one in world.requests if one.path.endswith("x1.png")]) == len(asked) == 1


def test_a_page_under_an_open_licence_gives_its_figures(library: Library, world: World) -> None:
    record = world.paper("unpaywall_html")
    library.download(record.doi)
    kept = figure(library, record.doi)
    assert Path(kept.file).read_bytes() == pages.PICTURE
    assert kept.license == "CC BY"


def test_a_page_without_a_licence_is_listed_with_the_address_and_not_copied(
    library: Library, world: World
) -> None:
    record = world.paper("publisher_html")
    library.download(record.doi)
    kept = figure(library, record.doi)
    assert not kept.file
    assert kept.url.endswith("fig1.jpg")
    assert "No licence lets programs copy it" in kept.reason
    assert not any(request.path.endswith("fig1.jpg") for request in world.requests)


@pytest.mark.parametrize("mood", ["captcha", "garbage", "down"])
def test_what_is_no_picture_is_not_kept(library: Library, world: World, mood: str) -> None:
    record = world.paper("unpaywall_html")
    library.download(record.doi)
    world.mood(mood, path="fig1.jpg")
    kept = figure(library, record.doi)
    world.reset()
    assert not kept.file
    assert kept.reason
    assert figure(library, record.doi).file


@pytest.mark.extras("pypandoc")
def test_labels_are_those_that_print_gives_and_files_those_of_the_source() -> None:
    source = latex(
        r"""
        \graphicspath{{img/}}
        \begin{figure*}\centering\includegraphics[width=3cm]{a}\caption{One.}\end{figure*}
        \begin{figure}
          \begin{subfigure}{3cm}\includegraphics{./img/b.png}\caption{left}\end{subfigure}
          \begin{tabular}{c}\includegraphics{c}\\\end{tabular}
          \caption{Two.}
        \end{figure}
        \includegraphics{logo}
        \begin{figure}
          \begin{minipage}{3cm}\includegraphics{d}\end{minipage}
          \begin{minipage}{3cm}\includegraphics{e}\end{minipage}\caption{Three.}
        \end{figure}
        """
    )
    assert in_latex.find_picture_files(source) == {
        "Figure 1": ("a",),
        "Figure 2": ("./img/b.png", "c"),
        "Figure 3": ("d", "e"),
    }


def test_names_in_a_source_mean_the_files_that_tex_would_find() -> None:
    files = {"img/a.pdf": b"1", "img/b.png": b"2", "deep/img/c.eps": b"3", "a.tex": b"no picture"}
    held = extract_submission_files(
        latex("", **files).body, ("a", "./img/b.png", "img/c", "none"), 100
    )
    assert held == {"a": ("a.pdf", b"1"), "./img/b.png": ("b.png", b"2"), "img/c": ("c.eps", b"3")}


def test_a_source_that_unpacks_to_gigabytes_gives_no_more_than_asked_for() -> None:
    bomb = latex(r"\begin{figure}\includegraphics{a}\caption{B.}\end{figure}", **{
        "a.png": bytes(30_000_000),
        "b.png": PNG,
    })  # fmt: skip
    assert len(bomb.body) < 100_000
    assert extract_submission_files(bomb.body, ("a", "b"), 1000) == {"b": ("b.png", PNG)}
    cut = Fetched(gzip.compress(gzip.decompress(bomb.body)[:3000]), "latex", "", "arxiv", "arxiv")
    assert extract_submission_files(cut.body, ("a", "b"), 1000) == {}


def test_names_that_lead_out_of_a_source_mean_nothing() -> None:
    source = latex("", **{"../../etc/passwd.png": PNG, "/abs.png": PNG})
    assert extract_submission_files(source.body, ("../../etc/passwd", "passwd.png"), 1000) == {}


def test_pictures_of_pages_belong_to_the_caption_around_them() -> None:
    page = html(
        """
        <base href="/cdn/">
        <figure id="f1"><a href="full/1.png"><img src="small/1.png"></a>
          <figcaption><b>Fig. 1</b> | Growth.</figcaption></figure>
        <div class="fig"><div><img data-src="2.jpg" src="data:image/gif;base64,R0"></div>
          <div class="caption"><span>Figure 2.</span> <p>Decay, as in Fig. 1.</p></div></div>
        <p>Figure 1 shows <img src="formula.png"> growth.</p>
        <figure><img src="g003.png"><img src="big/g003-1024.png"><img src="g004.png">
          <figcaption>Figure 3. Where <i>x is <img src="x.gif"></i> large.</figcaption></figure>
        <img src="logo.png">
        """
    )
    assert in_html.find_figure_urls(page) == {
        "Figure 1": ("https://a.test/cdn/full/1.png",),
        "Figure 2": ("https://a.test/cdn/2.jpg",),
        "Figure 3": ("https://a.test/cdn/g003.png", "https://a.test/cdn/g004.png"),
    }


def test_a_page_of_many_pictures_takes_time_that_grows_with_it() -> None:
    deep = "<div>" * 90 + "<img src='a.png'>" * 3000 + "</div>" * 90
    assert in_html.find_figure_urls(html(deep)) == {}
    several = "".join(
        f"<figure><img src='{n}.png'><figcaption>Fig. {n}. X</figcaption></figure>"
        for n in range(1, 400)
    )
    assert len(in_html.find_figure_urls(html(several))) == 399


def test_which_licences_let_programs_copy() -> None:
    allowed = ("CC BY", "CC BY-NC-ND 4.0", "https://creativecommons.org/publicdomain/zero/1.0/")
    assert all(map(is_copying_allowed, allowed))
    refused = (
        "",
        "TDM",
        "© 2026 A publisher",
        "http://arxiv.org/licenses/nonexclusive-distrib/1.0/",
    )
    assert not any(map(is_copying_allowed, refused))


# Pages of eight publishers, and how many figures each has.
RECORDED = {
    "bmc/1471-2148-14-70": 3, "elife/e04407": 12, "mdpi/04-00932": 5, "peerj/727": 4,
    "plosone/journal.pone.0111303": 5, "springer/s40643-016-0099-3": 5,
    "tandf/20550308.2015.1135230": 8,
}  # fmt: skip


@pytest.mark.shared
@pytest.mark.parametrize("name", RECORDED)
def test_every_figure_of_recorded_pages_has_its_picture(shared: Path, name: str) -> None:
    page = (shared / "html" / "publisher" / name / "fulltext.html").read_bytes()
    found = in_html.find_figure_urls(Fetched(page, "html", "https://a.test/b/c", "", ""))
    figures = {label: urls for label, urls in found.items() if label.startswith("Figure")}
    assert list(figures) == [f"Figure {number}" for number in range(1, RECORDED[name] + 1)]
    # One has supplements of its own in the same frame.
    assert sum(len(urls) > 1 for urls in figures.values()) <= (name == "elife/e04407")
    every = [url for urls in figures.values() for url in urls]
    assert len(set(every)) == len(every)
