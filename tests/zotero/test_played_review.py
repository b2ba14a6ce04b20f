"""A harvest in the stand-in internet is pushed, undone and pushed again; processes are killed."""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.processes import run
from tests.world.zotero import Zotero
from utils import Library

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(300)
BRANCHES = ("pmc_cloud", "unpaywall_pdf", "paywall", "pmc_manuscript", "retracted")
PUSH = """
import json, os, sys
from utils import Library
from utils.http.transport import Transport

settings, job, at = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
send, count = Transport.send_request, 0

def counted(self, hop, *args, **options):
    global count
    if hop.method == "POST":
        count += 1
        if count == at:
            os._exit(9)
    answer = send(self, hop, *args, **options)
    if hop.method == "POST" and count == at - 1 and at % 2:
        os._exit(9)
    return answer

Transport.send_request = counted
done = Library(**settings).zotero.push(job, collection="Played", attach="stored", dry_run=False)
print(len(done.problems), done.written)
"""


@pytest.fixture
def played(settings, world, zotero):
    """A library with a harvest of a few papers, and the harvest's name."""
    pmids = [world.paper(branch).pmid for branch in BRANCHES if has_branch(world, branch)]
    library = Library(**settings | zotero.settings)
    harvest = library.harvest(pmids)
    harvest.run(progress=False)
    for _ in library.texts.fetch_pdfs(job_id=harvest.job_id):
        pass
    yield library, harvest.job_id
    library.close()


def has_branch(world, branch):
    return any(record.branch == branch for record in world.papers)


def count_live(shelf):
    """Objects that are not in the trash, by what tells them apart; keys differ in each push."""
    names = ("itemType", "title", "name", "DOI", "md5", "note")
    return Counter(
        (*(str(one.get(name)) for name in names), get_title(shelf, one.get("parentItem")))
        for one in (*shelf.find_live(), *shelf.collections.values())
        if not one.get("deleted")
    )


def get_title(shelf, key):
    return shelf.items[key]["title"] if key else ""


@pytest.mark.parametrize("attach", ["linked", "stored"])
def test_pushed_undone_and_pushed_again_nothing_is_doubled(played, zotero, attach):
    library, job = played
    before = count_live(zotero.local)
    done = library.zotero.push(job, collection="Played", attach=attach, dry_run=False)
    held = count_live(zotero.local)
    assert not done.problems
    assert set((held - before).values()) == {1}
    assert sum(one[0] == "attachment" for one in held) >= 2
    library.zotero.push(undo=True, dry_run=False)
    assert count_live(zotero.local) == before
    library.zotero.push(job, collection="Played", attach=attach, dry_run=False)
    assert count_live(zotero.local) == held
    again = library.zotero.push(job, collection="Played", attach=attach, dry_run=False)
    assert (again.steps, again.written) == ([], 0)
    for key, body in zotero.local.files.items():
        name = zotero.local.items[key]["filename"]
        assert body == (library.settings.papers_dir / name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("at", range(2, 12))
def test_a_process_killed_between_requests_doubles_nothing(played, zotero, settings, at):
    library, job = played
    given = json.dumps({**settings, **zotero.settings}, default=str)
    killed = run([sys.executable, "-c", PUSH, given, job, str(at)], cwd=ROOT)
    assert killed.returncode == 9, killed.stderr
    library.zotero.push(job, collection="Played", attach="stored", dry_run=False)
    held = count_live(zotero.local)
    assert set(held.values()) == {1}
    attachments = zotero.local.find_live(itemType="attachment")
    assert all(one.get("md5") for one in attachments)
    assert {one["key"] for one in attachments} == set(zotero.local.files)
    with Zotero() as clean:
        clean.local.collections = {}
        other = Library(**settings | clean.settings)
        other.zotero.push(job, collection="Played", attach="stored", dry_run=False)
        fresh = count_live(clean.local)
    assert all(held[one] == 1 for one in fresh)
