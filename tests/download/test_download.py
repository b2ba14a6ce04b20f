"""The ladder, climbed in the stand-in internet: every branch, every verdict, every promise."""

import csv
import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from utils import Library
from utils.errors import BadRequest, NotConfigured, NotFound, PaperError, Unreachable
from utils.model.identifiers import Ids

pytestmark = pytest.mark.story

FULL_TEXT_BY = {
    "pmc_cloud": "pmc_cloud", "pmc_cloud_versions": "pmc_cloud", "pmc_manuscript": "pmc_cloud",
    "efetch_only": "efetch", "europepmc_only": "europepmc", "retracted": "pmc_cloud",
    "retraction_notice": "pmc_cloud", "concern": "pmc_cloud", "correction_notice": "pmc_cloud",
    "editorial": "pmc_cloud", "non_english": "pmc_cloud", "arxiv": "arxiv",
    "unpaywall_pdf": "unpaywall", "unpaywall_html": "unpaywall", "unpaywall_pmc_url": "efetch",
    "publisher_html": "publisher", "publisher_pdf": "publisher", "publisher_multi_hop": "publisher",
    "publisher_meta_refresh": "publisher", "publisher_picky": "publisher",
    "scholar_copy": "semantic_scholar", "jina_only": "jina", "doi_only": "publisher",
    "sici": "publisher",
}  # fmt: skip
ACCEPTED = {"pmc_manuscript", "unpaywall_pdf", "unpaywall_html", "scholar_copy"}
ABSTRACT_BECAUSE = {
    "embargoed": "paywall", "paywall": "paywall", "scanned_pdf": "scanned",
    "wrong_paper": "wrong_paper", "captcha": "bot_check", "captcha_200": "bot_check",
    "bot_check": "bot_check", "cookie_wall": "cookie_wall", "login": "login",
    "error_page": "error_page", "gone": "not_offered", "partial": "abstract_only",
    "front_matter_only": "not_offered", "abstract_only": "skipped", "no_abstract": "skipped",
    "book_chapter": "skipped", "html_as_pdf": "login",
}  # fmt: skip


def ids_of(record):
    if record.pmid:
        return Ids(pmid=record.pmid)
    return Ids(doi=record.doi) if not record.arxiv else Ids(arxiv=record.arxiv)


def story(done):
    return [(attempt.source, attempt.outcome) for attempt in done.stored.attempts]


@pytest.fixture(autouse=True)
def _no_surprises(caplog):
    """A service that answers properly must never be called incomprehensible."""
    yield
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR]


@pytest.mark.parametrize(("branch", "via"), FULL_TEXT_BY.items())
def test_full_text_is_kept_from_the_first_rung_that_has_it(library, world, branch, via):
    record = world.paper(branch)
    done = library.download(ids_of(record))

    assert (done.stored.kind, done.stored.via, done.stored.verdict) == (
        "full_text",
        via,
        "full_text",
    )
    brought = "other_version" if branch in ACCEPTED else "saved"
    assert (via, brought) in story(done)
    assert brought == "other_version" or story(done)[-1] == (via, brought)
    text = Path(done.file_path).read_text(encoding="utf-8")
    assert record.sections[0].heading in text if hasattr(record, "sections") else text
    assert len(text.split()) > 150


@pytest.mark.parametrize(("branch", "verdict"), ABSTRACT_BECAUSE.items())
def test_what_is_not_the_paper_is_named_and_only_the_abstract_is_kept(
    library, world, branch, verdict
):
    record = world.paper(branch)
    done = library.download(ids_of(record))

    kind = "record" if branch == "no_abstract" else "abstract"
    assert done.stored.kind == kind
    assert done.source == "PubMed_Abstract"
    assert verdict in [outcome for _, outcome in story(done)]
    text = Path(done.file_path).read_text(encoding="utf-8")
    assert record.pmid in text
    assert done.file_path.endswith(f"pmid_{record.pmid}_{kind}.txt")


def test_rejected_bytes_lie_in_quarantine_with_their_reason(library, world):
    done = library.download(ids_of(world.paper("captcha_200")))
    folder = Path(done.file_path).parent / ".papershelf" / "quarantine"
    reasons = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
    assert any(reason["verdict"] == "bot_check" for reason in reasons)


def test_second_time_asks_nobody_by_any_of_its_names(library, world):
    record = world.paper("pmc_cloud")
    library.download(Ids(pmid=record.pmid))
    before = len(world.requests)

    for name in (record.pmid, record.pmcid, record.doi):
        again = library.download(name)
        assert again.source == "Cache"
        assert again.stored.kind == "full_text"
    assert len(world.requests) == before


def test_abstract_is_served_at_once_and_full_text_tried_again_after_thirty_days(
    library, world, settings, clock
):
    record = world.paper("paywall")
    library.download(Ids(pmid=record.pmid))
    before = len(world.requests)
    assert library.download(Ids(pmid=record.pmid)).cached
    assert len(world.requests) == before

    impatient = Library(**{**settings, "papers_retry_abstract_days": 0})
    assert not impatient.download(Ids(pmid=record.pmid)).cached
    assert len(world.requests) > before


def test_an_abstract_is_upgraded_in_place(library, world, settings):
    record = world.paper("efetch_only")
    first = Library(**{**settings, "papers_sources": ("jina",)})
    world.mood("down", "doi")
    assert first.download(record.pmid).stored.kind == "abstract"
    first.shelf.close()
    world.calm()

    later = Library(**{**settings, "papers_retry_abstract_days": 0})
    done = later.download(record.pmid)
    assert done.stored.kind == "full_text"
    assert not list(Path(done.file_path).parent.glob("*_abstract.txt"))
    assert later.list_papers()[0] == 1


def test_prefer_pmc_false_asks_the_publishers_side_first(library, world):
    record = world.paper("pmc_cloud")
    done = library.download(record.pmid, prefer_pmc=False)
    assert story(done)[0][0] == "unpaywall"


def test_sources_can_be_switched_off(settings, world):
    library = Library(**{**settings, "papers_sources": ("europepmc",)})
    done = library.download(world.paper("pmc_cloud").pmid)
    assert {source for source, _ in story(done)} == {"europepmc"}


def test_force_fetches_again_and_keeps_the_better_text(library, world):
    record = world.paper("pmc_cloud")
    library.download(record.pmid)
    world.mood("down", "pmc_cloud")
    world.mood("down", "europepmc")
    world.mood("captcha", "publishers")
    world.mood("down", "jina_reader")
    again = library.download(record.pmid, force=True)
    assert again.stored.kind == "full_text"
    assert len(list(Path(again.file_path).parent.glob("*.txt"))) == 1


def test_two_identifiers_of_different_papers_are_refused(library, world):
    one, other = world.paper("pmc_cloud"), world.paper("editorial")
    with pytest.raises(BadRequest, match="different papers"):
        library.download(Ids(pmid=one.pmid, doi=other.doi))


def test_unknown_paper_is_not_found_and_nothing_is_kept(library, world):
    with pytest.raises(NotFound):
        library.download("39999999")
    assert library.list_papers() == (0, [])


def test_could_not_tell_is_never_not_found(library, world):
    world.mood("down", "eutils")
    world.mood("down", "europepmc")
    with pytest.raises(Unreachable):
        library.download("39999999")


def test_text_is_had_even_when_nobody_can_say_what_the_paper_is(library, world):
    record = world.paper("pmc_cloud")
    for service in ("eutils", "europepmc", "idconv", "crossref"):
        world.mood("down", service)
    done = library.download(record.pmcid)
    assert done.stored.kind == "full_text"
    assert done.stored.paper.ids.pmid == record.pmid


def test_without_an_address_it_says_so_at_once(settings, world):
    library = Library(**{**settings, "pubmed_email": ""})
    with pytest.raises(NotConfigured, match="PUBMED_EMAIL"):
        library.download("31452104")
    assert not world.requests


def test_offline_serves_the_shelf_and_says_what_is_missing(library, settings, world):
    record = world.paper("pmc_cloud")
    library.download(record.pmid)
    before = len(world.requests)
    offline = Library(**{**settings, "papers_offline": True})
    assert offline.download(record.doi).cached
    with pytest.raises(NotFound, match="PAPERS_OFFLINE"):
        offline.download("31452104")
    assert len(world.requests) == before


@pytest.mark.parametrize("path", ["../x.txt", "/etc/x.txt", ".papershelf/x.txt", "index.csv"])
def test_output_path_stays_on_the_shelf_and_is_refused_before_anything_is_asked(
    library, world, path
):
    with pytest.raises(BadRequest):
        library.download("41000001", output_path=path)
    assert not world.requests


def test_output_path_gets_a_copy(library, world):
    done = library.download(world.paper("pmc_cloud").pmid, output_path="review/first.txt")
    assert Path(done.file_path).name == "first.txt"
    assert Path(done.file_path).read_text(encoding="utf-8") == Path(done.stored.path).read_text(
        encoding="utf-8"
    )


def test_retracted_papers_say_so_in_the_first_line(library, world):
    done = library.download(world.paper("retracted").pmid)
    assert done.row()["retracted"] is True
    assert "RETRACTED" in Path(done.file_path).read_text(encoding="utf-8").splitlines()[0]
    notice = library.download(world.paper("retraction_notice").pmid)
    assert notice.row()["retracted"] is False


def test_two_dois_with_the_same_file_name_do_not_share_a_file(library, world):
    twins = [record for record in world.papers if record.branch == "same_file_name"]
    files = {library.download(record.doi).file_path for record in twins}
    assert len(twins) == len(files) == 2


def test_many_at_once_are_looked_up_in_batches_and_none_is_fetched_twice(library, world):
    wanted = [ids_of(r) for r in world.papers if r.branch in FULL_TEXT_BY and r.pmid]
    doubles = [Ids(doi=r.doi) for r in world.papers if r.branch == "pmc_cloud"]
    outcomes = dict(library.download_many([*wanted, *doubles]))

    assert set(outcomes) == {*wanted, *doubles}
    assert not [o for o in outcomes.values() if isinstance(o, PaperError)]
    records = [r for r in world.requests if r.service == "eutils" and "pubmed" in str(r.params)]
    assert len(records) <= 3
    asked = [
        (r.service, r.path, json.dumps(r.params, sort_keys=True))
        for r in world.requests
        if r.status != 403  # a closed door is tried once more, with plain headers
    ]
    assert len(asked) == len(set(asked))


def test_the_index_is_current(library, world):
    for branch in ("pmc_cloud", "paywall", "editorial"):
        library.download(world.paper(branch).pmid)
    folder = library.settings.papers_dir
    rows = list(csv.DictReader((folder / "index.csv").open(newline="", encoding="utf-8")))
    assert [row["file"] for row in rows] == [
        Path(one.path).name for one in reversed(library.shelf.list_papers()[1])
    ]
    assert {row["kind"] for row in rows} == {"full_text", "abstract"}


def test_an_interrupted_batch_goes_on_where_it_was(library, world):
    wanted = [ids_of(world.paper(b)) for b in ("pmc_cloud", "editorial", "non_english")]
    first = library.download_many(wanted)
    next(first)
    first.close()
    assert not [o for _, o in library.download_many(wanted) if isinstance(o, PaperError)]


def test_the_record_that_comes_with_the_text_is_complete(library, world):
    record = world.paper("pmc_cloud")
    paper = library.download(record.pmid).stored.paper
    assert paper.title.rstrip(".") == record.title
    assert replace(paper.ids, s2="") == Ids(pmid=record.pmid, pmcid=record.pmcid, doi=record.doi)


def test_force_in_vain_says_so_and_keeps_what_was_tried(library, world):
    record = world.paper("pmc_cloud")
    first = library.download(record.pmid)
    for service in ("pmc_cloud", "europepmc", "publisher", "jina_reader", "doi"):
        world.mood("down", service)
    world.mood("down", "eutils", path="db=pmc")
    again = library.download(record.pmid, force=True)
    assert again.cached
    assert again.stored.sha256 == first.stored.sha256
    assert ("pmc_cloud", "unreachable") in story(again)


def test_an_embargoed_paper_is_not_asked_for_at_pmc(library, world):
    done = library.download(ids_of(world.paper("embargoed")))
    reasons = {a.source: a.detail for a in done.stored.attempts}
    assert "embargoed until" in reasons["pmc_cloud"]
    assert not [r for r in world.requests if r.service in {"pmc_cloud", "europepmc"}]


def test_a_contradiction_never_spoils_a_good_request_beside_it(library, world):
    good, other = world.paper("pmc_cloud"), world.paper("editorial")
    mixed = Ids(pmid=other.pmid, doi=good.doi)
    outcomes = dict(library.download_many([mixed, Ids(doi=good.doi)]))
    assert isinstance(outcomes[mixed], BadRequest)
    assert outcomes[Ids(doi=good.doi)].stored.kind == "full_text"


def test_one_refused_lookup_never_costs_the_other_papers(library, world):
    known, unknown = world.paper("arxiv"), world.paper("pmc_cloud")
    world.mood("captcha", "eutils")
    outcomes = dict(library.download_many([Ids(arxiv=known.arxiv), Ids(pmid=unknown.pmid)]))
    assert outcomes[Ids(arxiv=known.arxiv)].stored.kind == "full_text"
    assert len(outcomes) == 2


def test_two_threads_that_want_the_same_paper_fetch_it_once(library, world):
    from concurrent.futures import ThreadPoolExecutor

    record = world.paper("pmc_cloud")
    with ThreadPoolExecutor(4) as pool:
        done = list(
            pool.map(library.download, [record.pmid, record.doi, record.pmcid, record.pmid])
        )
    assert {d.stored.sha256 for d in done} == {done[0].stored.sha256}
    texts = [r for r in world.requests if r.service == "pmc_cloud" and r.path.endswith(".xml")]
    assert len(texts) == 1


def test_every_route_that_was_asked_is_in_the_story(settings, world):
    library = Library(**{**settings, "jina_api_key": "k", "papers_sources": ("jina",)})
    done = library.download(world.paper("abstract_only").pmid)
    assert {source for source, _ in story(done)} == {"jina", "jina_search"}


def test_an_abstract_says_who_keeps_the_record(library, world):
    for service in ("publisher", "jina_reader", "unpaywall", "doi"):
        world.mood("down", service)
    done = library.download(Ids(doi=world.paper("doi_only").doi))
    assert (done.stored.kind, done.stored.via) == ("abstract", "europepmc")


def test_a_preprints_text_is_called_one(library, world):
    done = library.download(f"arXiv:{world.paper('arxiv_published').arxiv}")
    assert done.stored.is_preprint
    assert "the preprint of" in done.message
    header = Path(done.file_path).read_text(encoding="utf-8").partition("---")[0]
    assert "- Version: preprint; the published article may differ" in header


def test_a_withdrawn_preprint_says_so_wherever_a_retraction_does(library):
    done = library.download("arXiv:2604.00005")
    assert done.row()["retracted"]
    assert Path(done.file_path).read_text(encoding="utf-8").startswith("RETRACTED:")
    [made] = library.references.citations([done.stored.paper], ["bibtex"])
    assert "etracted" in made["bibtex"]
