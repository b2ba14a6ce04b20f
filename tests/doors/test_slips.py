"""Slips that people make, in the shell, in Python and over MCP, and how each is answered.

Each answer names the thing that is wrong, and then what to type in the same door. No slip here
needs the network: what is wrong with a call is said before a site or an e-mail address is needed.
"""

import io
import json
import os
import shlex

import pytest

from tests.mcp.calling import call
from tests.shelf.papers import document, fetched, paper
from utils import Library, cli
from utils.command_line import PROGRAM
from utils.errors import BadRequest, NotConfigured, StoreFailed, UnknownName, UnknownOption
from utils.errors import NotFound as Missing
from utils.errors import WrongType as Wrong

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a shelf of one paper, a review and a harvest, and files of every kind."""
    folder = tmp_path_factory.mktemp("slips")
    library = Library(papers_dir=folder / "papers", mcp_toolsets=("all",))
    library.shelf.save_full_text(paper(pmid="7"), document(), fetched(), source="PMC", attempts=())
    library.reviews.create("moss")
    library.harvest(["7"], title="Seven").ledger.close()
    (folder / "folder").mkdir()
    for name, text in {
        "a.md": "# A\n\nCells move.\n",
        "list.txt": "7\n",
        "included.ris": "7\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name in ("empty.ris", "empty.md"):
        (folder / name).touch()
    for name in ("picture.ris", "picture.docx"):
        (folder / name).write_bytes(PNG)
    yield folder
    library.close()


@pytest.fixture
def library(place, monkeypatch):
    """The library of the folder, which is the current one."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("PAPERS_DIR", str(place / "papers"))
    monkeypatch.setattr("utils.settings.find_user_settings_file", lambda: place / "settings.env")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b""), encoding="utf-8"))
    library = Library(pubmed_email="tester@lab.edu", mcp_toolsets=("all",))
    yield library
    library.close()


# Words with a dollar sign are commands: $ stands for the command of this installation.
SHELL = {
    # commands, options, values
    "downlod 31452104": (2, "Did you mean $ download?"),
    "shelf adit": (2, "Did you mean $ shelf audit?"),
    "staus": (2, "Did you mean $ harvest status?"),
    "help downlod": (2, "Did you mean $ download?"),
    "--json list": (2, "Write it after the command"),
    "--verison": (2, "Did you mean $ --version?"),
    "search moss --limt 5": (2, "Did you mean --limit?"),
    "harvest moss --souce pubmed": (2, "Did you mean --source?"),
    "download 7 --source pubmed": (2, "It has --no-pmc-first, --force, --pdf"),
    "cite 7 --style": (2, "--style needs a value"),
    "export too many": (2, "'too' is one argument too many"),
    "corpus find": (2, "QUERY is missing. For example: $ corpus find"),
    "search moss --limit five": (2, "'five' is not a whole number"),
    "list --limit -5": (2, "'-5' is not a whole number from 0 on"),
    "search moss --limit 0": (2, "--limit is 0; it must lie between 1 and 1,000"),
    "search moss --limit 1000000000000": (2, "For the next page: --start 1000"),
    "list --start 99999999999999999999999": (0, "lies beyond the end"),
    "read 7 --start 999999": (0, "--start 999999 lies beyond the end"),
    "read 7 --max-chars -5": (2, "max_chars is 1 to 50000"),
    "search moss --since 2024-13-01": (2, "'2024-13-01' is not a date: write 2020"),
    "search moss --until 31/12/2024": (2, "'31/12/2024' is not a date: write 2020"),
    "list --since lastyear": (2, "'lastyear' is not a date: write 2020"),
    "search moss --since 2024 --until 2020": (2, "--since 2024 is later than --until 2020. Swap"),
    "list --since 2024 --until 2020": (2, "2024, is later than the last, 2020. Swap them."),
    "list --since 2199": (0, "leaves no papers. Without it: 1."),
    "list --kind fulltext": (2, "Did you mean full_text?"),
    "cite 7 --style harvrd": (2, "Choose among apa, mla, plos, vancouver"),
    "search moss --format endnote": (2, "Choose among ris, bibtex"),
    "search moss --source pubmd": (2, "Did you mean pubmed?"),
    "harvest moss --source pubmd": (2, "Did you mean pubmed?"),
    "search moss --sort-by datum": (2, "Choose among pub_date, relevance"),
    "harvest 7 --media figurs": (2, "Did you mean figures?"),
    "harvest report JOB --draw gif": (2, "Choose among png, pptx"),
    "harvest --job JOB --retry faild": (2, "Did you mean failed?"),
    "review related 7 --kind citedby": (2, "Did you mean cited-by?"),
    "review export moss --for excel": (2, "Choose among rayyan, covidence, asreview"),
    "setup serve --transport htp": (2, "Did you mean http?"),
    "setup serve --port abc": (2, "--port: 'abc' is not a whole number"),
    "setup serve --transport http --port 99999": (2, "it must lie between 0 and 65,535"),
    "setup token bob --scopes raed": (2, "Did you mean read?"),
    "setup token bob --days x": (2, "'x' is not a number of days"),
    "setup completion powershel": (2, "Did you mean powershell?"),
    # options that exclude each other
    "harvest moss --job JOB": (2, "cannot be combined"),
    "harvest list.txt --since 2020": (2, "Leave them out"),
    "harvest --job JOB --plan --retry failed": (2, "Leave one of them out"),
    "harvest moss 31452104": (2, "Put a query into quotes"),
    "download 7 8 --output a.txt": (2, "--output can only be used with exactly one paper"),
    "download 7 --output /etc/a.txt": (2, "Give a name like my_paper.txt"),
    "shelf keep 7": (2, "Give --as full_text, --as rejected, or --undo"),
    "shelf keep 7 --as full_text": (2, '--because "a short letter"'),
    "search --lr CXCL12": (2, "For example: $ search --lr CXCL12 CXCR4"),
    "shelf media": (2, "For example: $ shelf media --job JOB"),
    "shelf verify": (2, "For example: $ shelf verify page.html"),
    "status epilepticus": (2, "write $ harvest 'status epilepticus'"),
    # what is not an identifier of a paper
    "download 978-3-16-148410-0": (2, "the ISBN of a book"),
    "download 1476-4687": (2, "$ search '1476-4687[ta]'"),
    "download 0000-0002-1825-0097": (2, "$ search '0000-0002-1825-0097[auid]'"),
    "download R01CA123456": (2, "$ search 'CA123456[gr]'"),
    "download NCT01234567": (2, "$ search 'NCT01234567[si]'"),
    "download 123456789012": (2, "A PMID has at most 8 digits"),
    "download 10.10/short": (2, "A DOI is 10."),
    "download arXiv:2601.1": (2, "An arXiv identifier is like"),
    "download 'Watson JD'": (2, "$ search 'Watson JD'"),
    "download https://www.nature.com/articles/171737a0": (2, "Give the DOI that the page shows"),
    "download https://pubmed.ncbi.nlm.nih.gov/?term=moss": (2, "$ search 'moss'"),
    "download ''": (2, "No identifier was given"),
    "review related PMC3258128": (2, "To find its PMID: $ search 'PMC3258128'"),
    "read https://doi.org/10.1000%2Fa.": (1, "$ download doi:10.1000/a"),
    "read hep-th/9901001": (1, "$ download arxiv:hep-th/9901001"),
    # files
    "harvest missing.ris": (2, "There is no file missing.ris. Check its name"),
    "harvest incldued.ris": (2, "Did you mean included.ris?"),
    "download nowhere.txt": (2, "There is no file nowhere.txt."),
    "check nowhere.docx": (2, "There is no file nowhere.docx."),
    "check a.md --references nowhere.bib": (2, "There is no file nowhere.bib."),
    "harvest --lock nowhere.json": (2, "There is no file nowhere.json."),
    "corpus learn nowhere.owl": (2, "There is no file nowhere.owl."),
    "shelf verify a.md --record nowhere.json": (2, "There is no file nowhere.json."),
    "review snowball list.txt --known nowhere.ris": (2, "There is no file nowhere.ris."),
    "download folder/": (2, "folder is a folder. Name a file in it."),
    "check folder": (2, "folder is a folder. Name a file in it."),
    "list --papers-dir a.md": (4, "is a file, not a folder. Set PAPERS_DIR"),
    "mirror status --folder a.md": (2, "Give another --folder"),
    "harvest inbox --folder nowhere": (2, "--folder ~/Downloads"),
    "cite empty.ris": (2, "empty.ris: No identifier was given"),
    "check empty.md": (2, "empty.md has no text"),
    "harvest picture.ris": (2, "picture.ris: The list is not a text file"),
    "check picture.docx": (2, "Give DOCX, Markdown, LaTeX, PDF"),
    "check a.md --output nowhere/a.html": (2, "Make the folder first"),
    "check a.md --output a.txt": (2, "Name it a.html"),
    "export --tables cells.xlsx": (2, "Give a name that ends in .csv or .parquet"),
    # names that are not there
    "harvest status nosuch": (2, "There is no harvest nosuch. There are: "),
    "harvest --job nosuch": (2, "There is no harvest nosuch"),
    "harvest report nosuch": (2, "There is no harvest nosuch"),
    "list --job nosuch": (2, "There is no harvest nosuch"),
    "export --job nosuch": (2, "There is no harvest nosuch"),
    "shelf pdf --job nosuch": (2, "There is no harvest nosuch"),
    "shelf media --job nosuch": (2, "There is no harvest nosuch"),
    "review status mos": (2, "There is no review mos. Did you mean moss?"),
    "review snowball nosuch": (2, "There is no review nosuch"),
    "review new 'My Review!'": (2, "Use small letters, digits and hyphens"),
    "data datasets nosuch": (2, "A dataset is named like gene_0a1b2c3d"),
    "corpus checkpoint moss --set yesterday": (2, "Give an ISO 8601 date"),
    "mirror use nosuch": (2, "There is no generation nosuch"),
    "read 7 --section methds": (2, "There is no section 'methds'"),
    "read 31452104": (1, "Download it first: $ download pmid:31452104"),
    # nothing to work on
    "search ''": (2, "The query is empty"),
    "harvest ' '": (2, "Give a query, identifiers or a file of them"),
    "download": (2, "No identifier was given"),
    "corpus find moss": (1, "Fill it: $ corpus sync KEY TERM"),
    "search moss --source mirror": (1, "Make it: $ mirror pubmed"),
    "list zebra": (0, "leaves no papers. Without it: 1."),
}  # fmt: skip
_MIRROR = {"mirror status --folder a.md", "mirror use nosuch", "search moss --source mirror"}
BARE = {"harvest missing.ris", "harvest --job nosuch", "harvest moss --source pubmd"}
"""Slips that are answered alike where the e-mail address is missing."""


def marked(typed):
    return pytest.param(typed, marks=pytest.mark.extras("duckdb")) if typed in _MIRROR else typed


@pytest.mark.parametrize("typed", [marked(typed) for typed in SHELL])
def test_in_the_shell(typed, library, monkeypatch, capsys):
    status, words = SHELL[typed]
    if typed not in BARE:
        monkeypatch.setenv("PUBMED_EMAIL", "tester@lab.edu")
    [job] = [job.job_id for job in library.harvests.all()]
    assert cli.main(shlex.split(typed.replace("JOB", job))) == status
    said = capsys.readouterr()
    assert words.replace("$", PROGRAM) in said.out + said.err
    assert "Traceback" not in said.err


def test_without_an_address_the_address_is_what_is_missing(library, capsys):
    assert cli.main(["harvest", "moss"]) == 2
    assert "Set PUBMED_EMAIL" in capsys.readouterr().err


PYTHON = {
    "a misspelt method": (lambda one: one.donwload("7"), AttributeError, "Did you mean download?"),
    "a misspelt method of a part": (
        lambda one: one.upkeep.adit(), AttributeError, "Did you mean audit?"),
    "a misspelt option": (
        lambda one: one.search("moss", max_result=5), UnknownOption, "Did you mean max_results?"),
    "an option of another method": (
        lambda one: one.download("7", source="pubmed"), UnknownOption, "Its options: paper"),
    "a word for a number": (
        lambda one: one.search("moss", max_results="five"), Wrong, "must be a number, not str"),
    "a number as text": (
        lambda one: one.list_papers(max_results="5"), Wrong, "Write max_results=5"),
    "a negative limit": (
        lambda one: one.list_papers(max_results=-5), BadRequest, "neither can be negative"),
    "a huge limit": (
        lambda one: one.search("moss", max_results=10**12), BadRequest, "start=1000"),
    "a month 13": (
        lambda one: one.search("moss", min_date="2024-13"), BadRequest, "For example 2020-01-31"),
    "years in the wrong order": (
        lambda one: one.list_papers(min_date=2024, max_date=2020), BadRequest, "Swap them"),
    "an unknown style": (
        lambda one: one.cite(["7"], style="harvrd"), BadRequest, "styles: apa"),
    "a style as a list": (
        lambda one: one.cite(["7"], style=["apa"]), Wrong, "style must be text, not list"),
    "a misspelt source": (
        lambda one: one.search_papers("moss", sources=["pubmd"]),
        BadRequest, "Did you mean pubmed"),
    "a misspelt kind of object": (
        lambda one: one.objects("7", kinds=["figurs"]), BadRequest, "Did you mean figure?"),
    "no reason": (
        lambda one: one.upkeep.keep("7", "full_text", ""), BadRequest, 'because="a short letter"'),
    "a trial": (lambda one: one.download("NCT01234567"), BadRequest, "NCT01234567[si]"),
    "None": (lambda one: one.download(None), Wrong, "paper must be text, not NoneType"),
    "bytes": (lambda one: one.download(b"7"), BadRequest, "Give it as text"),
    "a list for one paper": (lambda one: one.download(["7", "8"]), BadRequest, "of type list"),
    "one paper for a list": (
        lambda one: one.download_many("7"), Wrong, "Write papers=['7']"),
    "one paper for a list to cite": (lambda one: one.cite("7"), Wrong, "Write papers=['7']"),
    "one paper for a list to harvest": (
        lambda one: one.harvest("7"), Wrong, "Write papers=['7']"),
    "one file for a list": (lambda one: one.verify("a.md"), Wrong, "Write files=['a.md']"),
    "a list for a query": (
        lambda one: one.search(["moss", "light"]), Wrong, "query must be text, not list"),
    "no manuscript": (lambda one: one.check(None), Wrong, "manuscript must be text"),
    "a missing manuscript": (
        lambda one: one.check("nowhere.md"), BadRequest, "There is no file nowhere.md"),
    "a folder for a manuscript": (
        lambda one: one.check("folder"), BadRequest, "Name a file in it"),
    "a file for the shelf": (
        lambda _: Library(papers_dir="a.md").list_papers(), StoreFailed, "Set PAPERS_DIR"),
    "an unknown harvest": (
        lambda one: one.harvest(job_id="nosuch"), UnknownName, "There are: "),
    "an unknown review": (
        lambda one: one.reviews.open("mos"), UnknownName, "Did you mean moss?"),
    "an unknown dataset": (
        lambda one: one.datasets.schema("nosuch"), BadRequest, "A dataset is named like"),
    "a paper that is not there": (lambda one: one.read("8"), Missing, "Download it first"),
    "a misspelt setting": (
        lambda _: Library(pubmed_emial="a@b.edu"), BadRequest, "Did you mean pubmed_email?"),  # type: ignore[call-arg]
    "a folder for the settings": (
        lambda _: Library("papers"), BadRequest, 'Library(papers_dir="corpus")'),
    "a wrong value of a setting": (
        lambda _: Library(mcp_http_port="abc"), BadRequest, "MCP_HTTP_PORT"),
    "no address": (
        lambda _: Library(pubmed_email="").search("moss"), NotConfigured, "Set PUBMED_EMAIL"),
    "query and job": (
        lambda one: one.harvest(query="moss", job_id="x"), BadRequest, "Leave the job out"),
    "nothing to harvest": (
        lambda one: one.harvest(), BadRequest, 'or papers=["31452104"]'),
    "an empty query": (lambda one: one.search(""), BadRequest, "The query is empty"),
}  # fmt: skip


@pytest.mark.parametrize("slip", PYTHON)
def test_in_python(slip, library):
    attempt, error, words = PYTHON[slip]
    with pytest.raises(error) as raised:
        attempt(library)
    assert words in str(raised.value)


@pytest.mark.parametrize("seven", [7, "7", "pmid:7", 7.0], ids=repr)
def test_a_paper_has_one_name_in_every_type_that_is_meant(library, seven):
    assert library.read(seven).title == "On cells"


def test_a_closed_library_opens_again(library):
    library.close()
    assert library.list_papers()[0] == 1


MCP = [
    ("search_pubmed", {"query": "moss", "limmit": 5}, "VALIDATION", "There are: query"),
    ("harvest_papers", {"query": "moss", "souces": ["x"]}, "VALIDATION", "Did you mean sources?"),
    ("read_paper", {}, "VALIDATION", "paper is missing"),
    ("search_pubmed", {"query": "moss", "max_results": "five"}, "VALIDATION", "valid integer"),
    ("search_pubmed", {"query": "moss", "max_results": 0}, "VALIDATION", "max_results is 0"),
    ("search_pubmed", {"query": "moss", "min_date": "2024-13"}, "VALIDATION", "2020-01-31"),
    ("list_papers", {"min_date": "2024", "max_date": "2020"}, "VALIDATION", "Swap them"),
    ("list_papers", {"kind": "fultext"}, "VALIDATION", "'full_text'"),
    ("cite_papers", {"papers": ["7"], "style": "harvrd"}, "VALIDATION", "styles: apa"),
    ("harvest_papers", {"query": "a", "sources": ["pubmd"]}, "VALIDATION", "Did you mean pubmed?"),
    ("download_paper", {"pmid": "978-3-16-148410-0"}, "VALIDATION",
     'search_pubmed(query=\\"978-3-16-148410-0[isbn]\\")'),
    ("download_paper", {}, "VALIDATION", "Give one of pmid, doi, pmcid, arxiv_id"),
    ("get_pubmed_paper", {"pmid": "10.1371/journal.pone.0111303"}, "VALIDATION",
     'convert_ids(papers=[\\"10.1371/journal.pone.0111303\\"])'),
    ("read_paper", {"paper": "10.1000%2Fa."}, "NOT_FOUND",
     'download_papers(papers=[\\"doi:10.1000/a\\"])'),
    ("read_paper", {"paper": "Molecular structure of nucleic acids"}, "VALIDATION",
     'search_pubmed(query=\\"Molecular structure of nucleic acids\\")'),
    ("read_paper", {"paper": ["7", "8"]}, "VALIDATION", "valid string"),
    ("read_paper", {"paper": None}, "VALIDATION", "No identifier was given"),
    ("read_paper", {"paper": "7", "references": "maybe"}, "VALIDATION", "references is 'maybe'"),
    ("read_papers", {"papers": {"first": "7"}}, "VALIDATION", "papers[0]"),
    ("download_papers", {"papers": ["7"] * 2000}, "VALIDATION", "at most 20 items; it has 2000"),
    ("check_manuscript", {"text": "nowhere.docx"}, "VALIDATION", "Give the text itself"),
    ("check_manuscript", {"text": ""}, "VALIDATION", "The manuscript is empty"),
    ("verify_file", {"file": "nowhere.pdf"}, "VALIDATION", "There is no file"),
    ("harvest_status", {"job_id": "nosuch"}, "NOT_FOUND", "There are: "),
    ("review_board", {"review": "mos"}, "NOT_FOUND", '"Did you mean moss?"'),
    ("entrez_data", {"operation": "schema", "dataset": "nosuch"}, "VALIDATION", "is named like"),
    ("rag_search", {"query": "moss"}, "STORE", "Fill it: pubmed_sync_delta."),
    ("harvest_papers", {}, "VALIDATION", 'or papers=[\\"31452104\\"]'),
]  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize(("tool", "arguments", "code", "words"), MCP)
async def test_over_mcp(library, tool, arguments, code, words):
    result = await call(library, tool, arguments)
    assert result.is_error
    text = result.content[0].text
    assert json.loads(text)["error"]["code"] == code
    assert words in text


@pytest.mark.anyio
@pytest.mark.parametrize("papers", ['["7"]', "7", 7, [7]], ids=repr)
async def test_a_list_has_one_meaning_over_mcp(library, papers):
    result = await call(library, "cite_papers", {"papers": papers})
    assert not result.is_error
    assert "On cells" in result.content[0].text


@pytest.mark.anyio
async def test_a_misspelt_tool_over_mcp(library):
    with pytest.raises(Exception, match="Did you mean download_paper"):
        await call(library, "download_papr", {"pmid": "7"})


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs another user")
@pytest.mark.parametrize(
    ("typed", "status", "words"),
    [
        ("harvest closed.ris", 2, "closed.ris cannot be read: you lack the permission"),
        ("check a.md --output sealed/a.html", 2, "you may not write into"),
        ("shelf rebuild --papers-dir sealed/papers", 4, "PAPERS_DIR"),
    ],
)
def test_without_the_permission(library, place, monkeypatch, capsys, typed, status, words):
    (place / "closed.ris").write_text("7", encoding="utf-8")
    (place / "closed.ris").chmod(0)
    (place / "sealed").mkdir(mode=0o555, exist_ok=True)
    opened = [one for one in (place, *place.parents) if "pytest" in str(one)]
    modes = [(one, one.stat().st_mode) for one in opened]
    for one in opened:
        one.chmod(0o755)
    monkeypatch.setenv("PUBMED_EMAIL", "tester@lab.edu")
    os.seteuid(65_534)
    try:
        assert cli.main(typed.split()) == status
    finally:
        os.seteuid(0)
        for one, mode in modes:
            one.chmod(mode)
    assert words in capsys.readouterr().err
