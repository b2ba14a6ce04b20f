"""No key is left anywhere: not in an answer, a log, an error or a file, in any spelling.

The keys are those of the settings, whichever there are. A run does everything that a user does, at
sites that are well and at sites that are not, among them an NCBI that repeats a wrong key in its
answer. Then every byte that came out or was left behind is searched, also inside of archives,
compressed files and databases.
"""

import base64
import bz2
import gzip
import io
import json
import lzma
import signal
import sqlite3
import sys
import zipfile
import zlib
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from pydantic import SecretStr

from tests import processes
from tests.clients import hasty_server
from tests.clients.python_clients import PatientWorld, Place, environment, fastmcp_client
from tests.clients.tour import visit
from tests.examples import some
from tests.mcp import test_http
from tests.world.eutils import KEY
from utils.mcp.auth import make_token
from utils.settings import Settings, load_settings

pytestmark = pytest.mark.slow

NOWHERE = "http://127.0.0.1:9/latest/meta-data/"  # where nobody listens
ROOT = Path(__file__).resolve().parent.parent
SECRETS = [
    name
    for name, field in Settings.model_fields.items()
    # A proxy whose address is not one would keep every other key at home; see `tests/test_proxies`.
    if "SecretStr" in str(field.annotation) and not name.endswith("_proxy")
]
# Those that no site of a session is told: tokens are signed with the first, and the others are of
# services of a corpus, which has a run of its own.
OWN = {
    *("mcp_auth_secret_key", "database_url", "openai_api_key", "weaviate_api_key", "hf_token"),
    "zotero_api_key",
}
# What is not URL-safe, not JSON-safe, and not a word: so that every spelling is another.
PLANTED = {name: f"pl4nted+{name}/0{turn}=&'\"~" for turn, name in enumerate(SECRETS)}
EMAIL = "pl4nted.person@lab.edu"
BRANCHES = some(
    (
        *("pmc_cloud", "efetch_only", "europepmc_only", "arxiv", "unpaywall_pdf", "publisher_html"),
        *("publisher_pdf", "publisher_multi_hop", "jina_only", "captcha", "paywall", "scanned_pdf"),
    ),
    every=2,
)
# Which the service of each publisher is asked for, with the reader's own keys.
MINED = ("elsevier_subscribed", "wiley_subscribed", "springer_open", "springer_subscribed")
FOLDERS = ("papers", "pace", "logs")


# The search


def spellings(secret):
    """Every form a secret could be left in, as bytes."""
    words = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret)}
    for spell in (json.dumps, repr):  # and a spelling in a spelling
        words |= {spell(word)[1:-1] for word in words}
        words |= {json.dumps(word)[1:-1] for word in words}
    yield from (word.encode().lower() for word in words)
    yield secret.encode("utf-16-le").lower()
    yield secret.encode().hex().encode()
    for before in range(3):  # base64 looks different at every place in a text
        whole = b"\0" * before + secret.encode()
        first, last = (before * 8 + 5) // 6, len(whole) * 8 // 6
        yield base64.b64encode(whole)[first:last].lower()
        yield base64.urlsafe_b64encode(whole)[first:last].lower()


def leaks(secrets, *everything):
    """The names of *secrets* found in *everything* (bytes or text), however it is packed."""
    pieces = [piece if isinstance(piece, bytes) else piece.encode() for piece in everything]
    layers = [layer.lower() for piece in pieces for layer in unpacked(piece)]
    return sorted(
        name
        for name, secret in secrets.items()
        if any(form in layer for form in set(spellings(secret)) for layer in layers)
    )


def unpacked(data, depth=0):
    """*data*, and what it holds when it is an archive, a database or compressed."""
    yield data
    inside = []
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            inside += [archive.read(name) for name in archive.namelist()]
    if data.startswith(b"SQLite format 3"):
        inside += cells(data)
    # Where somebody begins to keep such files, this must learn to look into them.
    assert not data.startswith(b"\x28\xb5\x2f\xfd"), "cannot look into zstd"
    for unpack in (gzip.decompress, zlib.decompress, bz2.decompress, lzma.decompress):
        with suppress(OSError, EOFError, zlib.error, lzma.LZMAError):
            inside.append(unpack(data))
    for each in inside if depth < 4 else ():
        yield from unpacked(each, depth + 1)


def cells(data):
    """Every value in a database, as bytes."""
    with closing(sqlite3.connect(":memory:")) as database:
        # Said to keep a log beside it, which an image in memory has not.
        database.deserialize(data[:18] + b"\1\1" + data[20:])
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            with suppress(sqlite3.Error):  # a table of an extension that is not here
                for row in database.execute(f'SELECT * FROM "{table}"'):
                    values = (cell for cell in row if isinstance(cell, (str, bytes)))
                    yield from (c if isinstance(c, bytes) else c.encode() for c in values)


def kept(*folders):
    """Every byte a run has left, names included."""
    paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert paths
    return [b for path in paths for b in (str(path).encode(), path.read_bytes())]


def database(blob):
    with closing(sqlite3.connect(":memory:")) as made:
        made.execute("CREATE TABLE answers (body BLOB)")
        made.execute("INSERT INTO answers VALUES (?)", (blob,))
        made.commit()
        return made.serialize()


def archive(data):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as whole:
        whole.writestr("inner.txt.gz", gzip.compress(data))
    return made.getvalue()


@pytest.mark.parametrize(
    "hide",
    [
        lambda secret: secret,
        lambda secret: f"GET /?api_key={quote(secret, safe='')}&x",
        lambda secret: json.dumps({"headers": {"authorization": secret}}),
        lambda secret: json.dumps(json.dumps([secret])),
        lambda secret: json.dumps([repr(secret)]),
        lambda secret: base64.b64encode(f"me:{secret}!".encode()),
        lambda secret: base64.b64encode(f"user:{secret}".encode()),
        lambda secret: secret.encode("utf-16"),
        lambda secret: gzip.compress(secret.encode()),
        lambda secret: archive(secret.encode()),
        lambda secret: database(zlib.compress(secret.encode())),
        database,
    ],
)
@pytest.mark.parametrize("name", SECRETS)
def test_the_search_finds_what_is_hidden(name, hide):
    assert leaks(PLANTED, b"x" * 5000, hide(PLANTED[name])) == [name]


def test_the_search_finds_nothing_where_nothing_is():
    assert leaks(PLANTED, "pl4nted", *map(gzip.compress, (b"x", b""))) == []


# The runs


@pytest.fixture(scope="module")
def patient_world():
    with PatientWorld() as world:
        yield world


@pytest.fixture
def world(patient_world):
    patient_world.reset()
    return patient_world


@pytest.fixture
def secrets():
    return {**PLANTED, "pubmed_email": EMAIL}


def told(world, folder, secrets):
    """The environment of a server that knows *secrets* and logs all it can."""
    own = {name.upper(): value for name, value in secrets.items()}
    logs = {"LOGS_DIR": str(folder / "logs"), "MCP_LOG_LEVEL": "debug", "NCBI_MAX_RETRIES": "2"}
    return {**environment(world, folder), **own, **logs, "PYTHONPATH": str(ROOT)}


class Ear:
    """A session that remembers every answer, errors included."""

    def __init__(self, session):
        self._session = session
        self.protocol_version = session.protocol_version
        self.heard = []

    async def listing(self):
        listed = await self._session.listing()
        self.heard.append(json.dumps(listed))
        return listed

    async def take(self, step):
        from mcp import MCPError

        try:
            answer = await self._session.take(step)
        except MCPError as error:
            answer = {
                "isError": True,
                "content": [{"text": str(error)}],
                "contents": [{"text": " "}],
            }
        self.heard.append(json.dumps(answer, ensure_ascii=False))
        return answer

    async def call(self, name, **arguments):
        return await self.take({"kind": "tool", "name": name, "arguments": arguments})


async def everything(session, world):
    """All that a user meets, and what can go wrong on the way; what was answered."""
    ear = Ear(session)
    await visit(ear, world, "a user", "any")
    for branch in (*BRANCHES, *MINED):
        paper = world.paper(branch)
        await ear.call(
            "download_paper", **({"pmid": paper.pmid} if paper.pmid else {"doi": paper.doi})
        )
    ids = [paper.pmid for paper in world.papers if paper.pmid][:20]
    begun = await ear.call("harvest_papers", ids=ids)
    if not begun.get("isError"):
        job = begun["structuredContent"]["job_id"]
        for _ in range(3):
            await ear.call("harvest_status", job_id=job, wait_s=20)
        await ear.take({"kind": "resource", "uri": f"papers://report/{job}"})
    for mood in ("down", "storm", "garbage", "reset", "redirect_loop", "ssrf", "captcha"):
        world.mood(mood, seconds=0, to=NOWHERE)
        for tool in ("search_pubmed", "search_papers", "search_semantic_scholar"):
            await ear.call(tool, query=f"coral {mood}")
        await ear.call("fetch_article_details", pmids=ids[:2])
        await ear.call("download_paper", pmid=world.paper("jina_only").pmid, force=True)
        world.calm()
    await ear.call("no_such_tool", api_key="mine")
    await ear.call("search_pubmed", query="((")
    return ear.heard


def sent(world):
    """The secrets that the sites were told; else there was nothing to leak."""
    said = "".join(f"{one.params} {one.headers} {one.path}" for one in world.requests)
    return {name for name in PLANTED if leaks({name: PLANTED[name]}, said)}


@pytest.mark.anyio
async def test_no_key_leaves_over_stdio(world, tmp_path, secrets):
    """NCBI refuses the key, and repeats it."""
    log = tmp_path / "stderr"
    place = Place(told(world, tmp_path, secrets), log=log)
    async with fastmcp_client(place, "legacy") as session:
        heard = await everything(session, world)
    assert any("API key" in answer for answer in heard)
    assert '"tool": "download_paper"' in log.read_text(encoding="utf-8")
    left = kept(*(tmp_path / name for name in FOLDERS if (tmp_path / name).exists()))
    assert leaks(PLANTED, *heard, log.read_bytes(), *left) == []
    assert leaks({"pubmed_email": EMAIL}, log.read_bytes(), *left) == []


@pytest.mark.anyio
async def test_no_key_leaves_over_http(world, tmp_path, secrets, monkeypatch):
    """NCBI takes the key, so that searches, downloads and harvests go all the way."""
    secrets["ncbi_api_key"] = KEY
    monkeypatch.setattr(test_http, "SERVER", hasty_server.__file__)
    environ = told(world, tmp_path, secrets)
    known = {name.lower(): value for name, value in environ.items() if name not in ("PATH", "HOME")}
    token = make_token(
        load_settings(**{**secrets, "mcp_toolsets": "all"}), "alice", ["read", "download"], 1
    )
    with test_http.Process(known) as process:
        async with fastmcp_client(Place(url=process.url, token=token), "auto") as session:
            heard = await everything(session, world)
        _, out = process.end(signal.SIGTERM)
    asked = set(PLANTED) - OWN - {"ncbi_api_key"}
    assert sent(world) >= asked, asked - sent(world)
    assert any(request.params.get("api_key") == KEY for request in world.requests)
    assert list((tmp_path / "papers").rglob("report.html"))
    left = kept(*(tmp_path / name for name in FOLDERS))
    hidden = {**secrets, "token": token, "signature": token.rpartition(".")[2]}
    del hidden["pubmed_email"]
    assert leaks(hidden, *heard, process.said, out, *left) == []
    assert leaks({"pubmed_email": EMAIL}, process.said, *left) == []


def test_no_key_leaves_through_the_shell(world, tmp_path, secrets):
    environ = told(world, tmp_path, secrets)

    def run(*arguments):
        command = [sys.executable, hasty_server.__file__, *arguments]
        done = processes.run(command, env=environ, text=False)
        return done.stdout + done.stderr

    pmid = world.paper("pmc_cloud").pmid
    said = [run("search", "coral", "--json"), run("harvest", pmid, world.paper("paywall").pmid)]
    world.mood("garbage")
    said += [run("download", "99999999", "--json")]
    world.calm()
    said += [run("settings", "--json"), run("doctor")]
    left = kept(*(tmp_path / name for name in FOLDERS if (tmp_path / name).exists()))
    assert leaks(PLANTED, *said, *left) == []
    # Whoever asks for the settings is shown the address; keys are not.
    assert leaks({"pubmed_email": EMAIL}, *said[:3], *left) == []


# One process for all: what a start of its own says is searched above.
SEVERAL = """
import contextlib, json, os, runpy, sys
program, *runs = json.load(sys.stdin)
for environ, arguments in runs:
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = [program, *arguments]
    with contextlib.suppress(SystemExit):
        runpy.run_path(program, run_name="__main__")
"""


def test_no_key_leaves_a_corpus(world, tmp_path, secrets):
    """A database's address that is none, a service that repeats the key, one that is not there."""
    del secrets["ncbi_api_key"]
    environ = told(world, tmp_path, secrets) | {"EMBEDDINGS_PROVIDER": "openai"}
    runs = []

    def run(*arguments):
        runs.append((dict(environ), arguments))

    run("stats")
    run("sync", "corals", "coral")
    environ["DATABASE_URL"] = (
        f"postgresql://me:{quote(PLANTED['database_url'], safe='')}@127.0.0.1:9/x"
    )
    run("stats")
    run("index")
    del environ["DATABASE_URL"]
    run("sync", "corals", "coral")
    run("index")
    run("find", "reef", "--json")
    environ |= {"VECTOR_STORE": "weaviate", "WEAVIATE_URL": "http://127.0.0.1:9"}
    run("index")
    run("stats", "--json")
    run("settings")
    run("doctor")
    done = processes.run(
        [sys.executable, "-c", SEVERAL],
        env=environ,
        input=json.dumps([hasty_server.__file__, *runs]).encode(),
        text=False,
    )
    said = done.stdout, done.stderr
    assert "openai_api_key" in sent(world)
    assert b"did not accept OPENAI_API_KEY" in done.stderr
    left = kept(*(tmp_path / name for name in FOLDERS if (tmp_path / name).exists()))
    assert leaks(PLANTED, *said, *left) == []


def test_settings_do_not_show_a_key(secrets):
    known = load_settings(**secrets)
    assert all(isinstance(getattr(known, name), SecretStr) for name in SECRETS)
    assert leaks(PLANTED, repr(known), str(known), known.model_dump_json()) == []
