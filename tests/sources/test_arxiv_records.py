"""What arXiv's entries say: names, titles, journals, versions; on real feeds where we have them."""

from xml.etree import ElementTree as ET

import pytest

from utils.errors import NotAvailable, Unreachable
from utils.http import Answer
from utils.sources.arxiv import (
    _WITHDRAWN_NOTE,
    ATOM,
    _get_total,
    _parse_reference,
    _read_papers,
    _require_hits,
    parse_author_name,
    read_feed,
    tex_to_text,
    to_paper,
)
from utils.sources.loose_json import MAX_NAME_CHARS


@pytest.mark.parametrize(
    ("name", "family", "given", "suffix"),
    [
        ("Jane Doe", "Doe", "Jane", ""),
        ("Peter H. N. de With", "de With", "Peter H. N.", ""),
        ("Ludwig van der Berg", "van der Berg", "Ludwig", ""),
        ("Joost Van der Putten", "Van der Putten", "Joost", ""),
        ("Adrian Del Maestro", "Del Maestro", "Adrian", ""),
        ("Zoë de la Cruz Jr.", "de la Cruz", "Zoë", "Jr."),
        ("John Doe, III", "Doe", "John", "III"),
        ("Quoc V. Le", "Le", "Quoc V.", ""),
        ("Le Song", "Song", "Le", ""),
        ("Nguyen Van Anh", "Anh", "Nguyen Van", ""),
        ("Kevin Taylor-Sakyi", "Taylor-Sakyi", "Kevin", ""),
        ("Doe, Jane", "Doe", "Jane", ""),
        ("Suharto", "Suharto", "", ""),
        ("de Finetti", "Finetti", "de", ""),
        ("Jane Doe (for the ATLAS Collaboration)", "Doe", "Jane", ""),
    ],
)
def test_a_name_taken_apart(name, family, given, suffix):
    author = parse_author_name(name)
    assert (author.family, author.given, author.suffix) == (family, given, suffix)


@pytest.mark.parametrize(
    "name",
    ["ATLAS Collaboration", "The LIGO Scientific Collaboration", "Planck Collaboration (2015)",
     "Gemini Team", "The 1000 Genomes Project Consortium"],
)  # fmt: skip
def test_a_group_is_no_person(name):
    author = parse_author_name(name)
    assert author.collective == author.name == name


@pytest.mark.parametrize("name", [":", "et al.", "and others", "", " , "])
def test_what_is_no_name_is_left_out(name):
    assert not parse_author_name(name).name


@pytest.mark.parametrize(
    ("reference", "parts"),
    [
        ("Phys. Rev. B 85, 115117 (2012)", ("Phys. Rev. B", "85", "", "115117")),
        ("Int. J. Mod. Phys. B, 26, 1244002 (2012)", ("Int. J. Mod. Phys. B", "26", "", "1244002")),
        ("Nature 521, 436-444 (2015)", ("Nature", "521", "", "436-444")),
        ("J. Stat. Phys. 12 (2026) 11--19", ("J. Stat. Phys.", "12", "", "11-19")),
        ("Phys.Rev.Lett.98:010505,2007", ("Phys.Rev.Lett.", "98", "", "010505")),
        ("Phys. Rev. D13 (2009) 3398", ("Phys. Rev. D", "13", "", "3398")),
        ("Biometrika, vol. 12(3), pp. 45–67 (1999).", ("Biometrika", "12", "3", "45-67")),
        ("ICML 2019", None),
        ("Proceedings of the 3rd Workshop on Old Cells, Delft 2012", None),
        ("IJSEA, Vol.3, No.1, January 2012", None),
        ("Phys. Rev. B 85, 115117 (2012); Erratum ibid. 86, 1 (2012)", None),
        ("2015 IEEE Conference on X, 1 (2015) 2", None),
    ],
)
def test_a_journal_reference_is_taken_apart_where_that_is_safe(reference, parts):
    found = _parse_reference(reference)
    if parts is None:
        assert found == {"journal": reference}
    else:
        assert tuple(found.get(n, "") for n in ("journal", "volume", "issue", "pages")) == parts


@pytest.mark.parametrize(
    ("tex", "words"),
    [
        (r"Schr\"odinger and Poincar\'e", "Schrödinger and Poincaré"),
        (r"Erd{\H o}s, Erd\H{o}s and \v{S}koda", "Erdős, Erdős and Škoda"),
        (r"na{\"\i}ve, M{\o}ller, \L{}ód\'{z}, Stra\ss e", "naïve, Møller, Łódź, Straße"),
        (r"$\hat{H}$ of \~nu at $x=\"a$", r"$\hat{H}$ of ñu at $x=\"a$"),
        (r"50\% of A\&B", "50% of A&B"),
        ("plain {braces} stay", "plain {braces} stay"),
        (r"\textbf{bold} \unknown", r"\textbf{bold} \unknown"),
    ],
)
def test_accents_become_letters_and_formulas_stay(tex, words):
    assert tex_to_text(tex) == words


@pytest.mark.parametrize(
    ("comment", "gone"),
    [
        ("This paper has been withdrawn by the author due to a crucial error", True),
        ("Withdrawn", True),
        ("12 pages. The paper is withdrawn because of a sign error", True),
        ("Paper withdrawn", True),
        ("This submission has been withdrawn by arXiv administrators", True),
        ("supersedes the withdrawn paper arXiv:1201.0001", False),
        ("the talk at the meeting was withdrawn from the programme", False),
        ("12 pages, 4 figures", False),
    ],
)
def test_a_withdrawal_is_told_from_the_word(comment, gone):
    assert bool(_WITHDRAWN_NOTE.search(comment)) is gone


def answer(shared, name, status=200):
    body = (shared / "arxiv" / name).read_bytes()
    return Answer(status, "https://export.arxiv.org/api/query", body, "application/atom+xml")


@pytest.mark.shared
def test_every_recorded_entry_is_a_whole_paper(shared):
    papers = []
    for path in sorted((shared / "arxiv").glob("*.xml")):
        told = answer(shared, path.name)
        if b"api/errors" in told.body:
            continue
        _require_hits(told)
        papers += _read_papers(told)
    assert len(papers) > 60
    for paper in papers:
        assert paper.ids.arxiv
        assert paper.version.isdigit()
        assert paper.title
        assert "  " not in paper.title
        assert len(paper.abstract) > 50
        assert all(author.family or author.collective for author in paper.authors)
        assert paper.categories
        assert paper.published <= paper.revised
        assert "Withdrawn" not in paper.publication_types


@pytest.mark.shared
def test_a_recorded_entry_in_full(shared):
    [paper] = _read_papers(answer(shared, "id_list_1111.2011v2.xml"))
    assert (paper.ids.arxiv, paper.version) == ("1111.2011", "2")
    assert (paper.published, paper.revised) == ("2011-11-08", "2012-04-02")
    assert paper.title == (
        "Quantum Criticality for Extended Nodes on a Bethe Lattice in the Large Connectivity Limit"
    )
    assert paper.author_names == "James M. Murray, Adrian Del Maestro, Zlatko Tesanovic"
    assert paper.authors[1].family == "Del Maestro"
    assert (paper.journal, paper.volume, paper.pages) == ("Phys. Rev. B", "85", "115117")
    assert paper.ids.doi == "10.1103/physrevb.85.115117"
    assert paper.categories == ("cond-mat.str-el", "cond-mat.stat-mech")


@pytest.mark.shared
def test_affiliations_and_old_names_of_recorded_entries(shared):
    [paper] = _read_papers(answer(shared, "id_hep-ex_0406020v1_s0_m100_84b15d66c0ce.atom.xml"))
    assert (paper.ids.arxiv, paper.version) == ("hep-ex/0406020", "1")
    assert paper.authors[0].affiliations == ("for the ATLAS and CMS Collaborations",)


@pytest.mark.shared
def test_a_recorded_page_counts_all_hits(shared):
    told = answer(shared, "q_testing_s40_m10_96dd32eb854c.atom.xml")
    assert _get_total(told) > 1000
    assert len(_read_papers(told)) == 10


@pytest.mark.shared
def test_a_recorded_error_and_a_recorded_nothing(shared):
    with pytest.raises(NotAvailable, match="incorrect id format for abc"):
        read_feed(answer(shared, "id_abc_s0_m100_b79c8dcf6bc3.atom.xml", 400))
    nothing = answer(shared, "id_0000.0000_s0_m100_8b51d9633a68.atom.xml")
    _require_hits(nothing)
    assert _read_papers(nothing) == []


def test_a_feed_without_a_count_is_no_answer():
    body = b'<feed xmlns="http://www.w3.org/2005/Atom"></feed>'
    with pytest.raises(Unreachable):
        _get_total(Answer(200, "https://export.arxiv.org/api/query", body))


def test_an_entry_may_lack_everything_but_its_name():
    body = b"""<feed xmlns="http://www.w3.org/2005/Atom"><entry>
        <id>http://arxiv.org/abs/2601.00001v3</id><author/></entry></feed>"""
    entry = read_feed(Answer(200, "https://export.arxiv.org/api/query", body)).find(f"{ATOM}entry")
    paper = to_paper(entry)
    assert (paper.ids.arxiv, paper.version, paper.authors) == ("2601.00001", "3", ())
    assert paper.journal == "arXiv"


@pytest.mark.parametrize("piece", [" (for", "(", " ", "(for ATLAS) ", "van "])
def test_a_name_of_any_length_is_read_at_once(piece):
    parse_author_name("Jane Doe" + piece * 200_000)
    entry = ET.fromstring(f'<entry xmlns="{ATOM[1:-1]}"><title>A{piece * 200_000}</title></entry>')
    assert len(to_paper(entry).title) <= MAX_NAME_CHARS
