"""Parts of PMC's texts: what the reader, the judges and the cutting rules make of an article."""

import hashlib
import json
from dataclasses import replace

import pytest

from tests.readers.jats_snippets import article
from utils.mirror.bundles import Member, get_bundle_md5, write_bundle
from utils.mirror.parts import READERS, ReadJob
from utils.mirror.texts import read_texts
from utils.sources.pmc_inventory import ObjectVersion

pytestmark = pytest.mark.extras("pyarrow")
# The output of today's reader, judges and cutting rules for two articles. With a change, raise
# PMC's number in `READERS` (for the judges: `JUDGE_VERSION`), so that mirrors are rebuilt, and
# write the new digest here.
AS_READ = (506, "f6f93705cd4f8fd5a817d8ff0e5dd32466e6a24204552c3c5ac507e4bf47cab0")
_META = """
<article-id pub-id-type="pmcid">PMC71</article-id><article-id pub-id-type="pmid">71</article-id>
<article-id pub-id-type="doi">10.1000/reef</article-id><title-group><article-title>On the reefs of
<italic>Acropora</italic></article-title></title-group><permissions><license
license-type="open-access"><license-p>CC BY 4.0</license-p></license></permissions>
<abstract><sec><title>Aim</title><p>To count what bleached.</p></sec></abstract>
"""
_TABLE = """
<table-wrap id="t1"><label>Table 1</label><caption><p>Counts.</p></caption><table><thead><tr>
<th>Reef</th><th>n</th></tr></thead><tbody><tr><td>North</td><td>12</td></tr></tbody></table>
</table-wrap>
<p>So <inline-formula><mml:math><mml:mi>x</mml:mi><mml:mo>=</mml:mo><mml:mn>2</mml:mn></mml:math>
</inline-formula> and 10<sup>2</sup>.</p>
"""
_LIST = """
<ref-list><title>References</title><ref id="r1"><mixed-citation>Roe A. Of reefs. 2019.
</mixed-citation></ref></ref-list>
"""


def body():
    """Four sections of prose, the third with a table and a formula."""
    words = [
        f"In reef {at} we counted {at * 7} colonies by day {at % 5}; <bold>{at}</bold> bleached."
        for at in range(160)
    ]
    names = ("Introduction", "Methods", "Results", "Discussion")
    return "".join(
        f"<sec><title>{name}</title><p>{' '.join(words[at * 40 : at * 40 + 20])}</p>"
        f"{_TABLE if name == 'Results' else ''}"
        f"<p>{' '.join(words[at * 40 + 20 : at * 40 + 40])}</p></sec>"
        for at, name in enumerate(names)
    )


def members():
    record = {
        "pmcid": "PMC71", "pmid": 71, "doi": "10.1000/reef", "license_code": "CC BY",
        "title": "On the reefs of Acropora", "citation": "Coral Reefs. 2021 Mar; 4(2): 7",
        "xml_url": "s3://pmc-oa-opendata/PMC71.1/PMC71.1.xml",
    }  # fmt: skip
    about = json.dumps(record).encode()
    whole = article(body(), meta=_META, back=_LIST, kind="research-article").encode()
    made = Member(ObjectVersion(71, 1, "e1"), "text", "", False, about, whole)
    stub = article("<p>Soon.</p>", meta=_META, kind="research-article").encode()
    gone = Member(ObjectVersion(73, 1, "e3"), "gone", "It is not listed any more.", True)
    return [made, replace(made, listed=ObjectVersion(72, 1, "e2"), xml=stub), gone]


def job_of(folder):
    bundle = write_bundle(members(), folder / "source" / "pmc", "0000001")
    about = (bundle.name, "0000001", 1, get_bundle_md5(bundle), str(folder))
    return ReadJob(str(bundle), "pmc", *about)


def rows(path):
    from pyarrow import parquet

    return parquet.read_table(path).to_pylist()


def test_whoever_changes_what_is_made_of_articles_raises_the_reader(tmp_path):
    job = job_of(tmp_path)
    made = read_texts(job)
    assert (made.records, made.deletions) == (1, 2)
    assert any("|" in row["text"] for row in rows(job.passages))
    text = json.dumps([rows(job.records), rows(job.passages)], default=bytes.hex, sort_keys=True)
    assert (READERS["pmc"], hashlib.sha256(text.encode()).hexdigest()) == AS_READ, (
        "The reader, the judges or the cutting rules make something else of articles of PMC: raise "
        "PMC's number in READERS (utils/mirror/parts.py), and put the new digest here."
    )


def test_a_text_that_is_no_utf8_article_ends_no_batch(tmp_path):
    torn = [replace(one, xml=one.xml[:300]) if one.xml else one for one in members()]
    bundle = write_bundle(torn, tmp_path / "source" / "pmc", "0000001")
    about = (bundle.name, "0000001", 1, get_bundle_md5(bundle), str(tmp_path))
    made = read_texts(ReadJob(str(bundle), "pmc", *about))
    assert (made.records, made.deletions, made.reason) == (0, 3, "")
