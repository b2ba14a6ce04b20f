"""Harvests that never happened, as large and as strange as one likes."""

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from utils.model.identifiers import Ids
from utils.model.job import Harvested, Job, JobCounts, PaperState
from utils.model.paper import Attempt, Notice, Paper

JOURNALS = (
    *("PLoS One", "Nature Communications", "Scientific Reports", "The Lancet", "BMJ Open", "eLife"),
    *("Frontiers in Immunology", "The Journal of Biological Chemistry", "Cell", "JAMA", "Gut"),
    "Proceedings of the National Academy of Sciences of the United States of America",
    *("Cochrane Database of Systematic Reviews", "Blood", "Nucleic Acids Research", "Science"),
    *("International Journal of Molecular Sciences", "The New England Journal of Medicine"),
)
TITLES = (
    "Interleukin-6 and the outcome of severe infection: a multicentre cohort study",
    "Single-cell atlas of the ageing human thymus",
    "Effect of early mobilisation on days alive and at home after stroke: a randomised trial",
    "Structure of a bacterial transporter in its inward-facing state",
    "Home blood pressure monitoring in primary care: systematic review and meta-analysis",
    "Loss of TET2 in clonal haematopoiesis accelerates atherosclerosis in mice",
)
WITH_TEXT = ("pmc_cloud", "pmc_cloud", "pmc_cloud", "europepmc", "unpaywall", "publisher", "jina")
LICENSES = ("CC BY 4.0", "CC BY 4.0", "CC BY-NC-ND 4.0", "CC BY-NC 4.0", "", "CC0 1.0", "TDM terms")
REASONS = (
    *("paywall", "paywall", "paywall", "paywall", "not_offered", "not_offered", "bot_check"),
    *("captcha", "unreachable", "login", "scanned", "abstract_only", "wrong_paper"),
)
BEGUN = datetime(2026, 11, 20, 9, 12, 5, tzinfo=UTC)


def job(**changes: object) -> Job:
    """A job that found 1,247 records for 1,000 papers."""
    query = '("cytokine storm"[Title/Abstract] OR interleukin-6[MeSH Terms]) AND 1980:2026[pdat]'
    made = Job(
        job_id="h-3f9c2a71",
        title='("cytokine storm" OR interleukin-6[MeSH]) AND 1980:2026[pdat]',
        query=query,
        effective_query=query.replace(" OR ", " OR Interleukin-6[MeSH Terms:noexp] OR "),
        hits=1_047,
        duplicates=47,
        begun_at=BEGUN.isoformat(),
        ended_at=(BEGUN + timedelta(hours=2, minutes=13)).isoformat(),
        counts=JobCounts(requested=1_000),
        notes=("PubMed does not know the phrase “cytokine tempest” and ignored it.",),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def rows(n: int, seed: int = 1, pending: float = 0.0) -> Iterator[Harvested]:
    """*n* papers as a harvest of a real query may have left them."""
    dice = random.Random(seed)
    for number in range(1, n + 1):
        year = min(2026, 2026 - int(dice.expovariate(1 / 11)))
        open_ = 0.35 + 0.55 * max(0, year - 1995) / 31
        roll = dice.random()
        state: PaperState = "full_text" if roll < open_ else "abstract" if roll < 0.97 else "failed"
        if dice.random() < pending:
            state = "pending"
        yield row(number, state, dice, year)


def row(number: int, state: PaperState, dice: random.Random, year: int) -> Harvested:
    """One paper that ended as *state*."""
    ids = Ids(pmid=str(10_000_000 + number), doi=f"10.1016/j.cell.{year}.{number:06d}")
    if state == "full_text":
        ids |= Ids(pmcid=f"PMC{7_000_000 + number}")
    retracted = dice.random() < 0.008
    paper = Paper(
        ids,
        title=dice.choice(TITLES),
        journal=dice.choice(JOURNALS[:6] if dice.random() < 0.4 else JOURNALS)
        if dice.random() < 0.8
        else f"Journal of Invented Medicine {dice.randrange(180)}",
        published=str(year),
        notices=(Notice("retraction", f"Cell. {year + 1} Jan 3;12:4", "31000000"),)
        if retracted
        else (),
    )
    ended = BEGUN + timedelta(seconds=8000 * dice.random() ** 1.3)
    done = Harvested(number, f"PMID {ids.pmid}", state, paper, ended_at=ended.isoformat())
    via = dice.choice(WITH_TEXT)
    if state == "full_text":
        return replace(
            done,
            file=f"{ids.doi.replace('/', '_')}.txt",
            source="PMC" if via == "pmc_cloud" else "DOI",
            via=via,
            license=dice.choice(LICENSES),
            sha256=f"{number:064x}",
            attempts=(Attempt("pmc_cloud", "not_offered"), Attempt(via, "saved"))
            if via != "pmc_cloud"
            else (Attempt(via, "saved"),),
        )
    if state == "pending":
        return replace(done, ended_at="")
    reason = dice.choice(REASONS) if state == "abstract" else dice.choice(("not_found", "paywall"))
    return replace(
        done,
        file=f"pmid_{ids.pmid}_abstract.txt" if state == "abstract" else "",
        via="pubmed" if state == "abstract" else "",
        sha256=f"{number:064x}" if state == "abstract" else "",
        reason=reason,
        detail="The page at linkinghub.example sells the paper instead of showing it.",
        attempts=(
            Attempt("pmc_cloud", "skipped", "the paper has no pmcid"),
            Attempt("unpaywall", "not_offered"),
            Attempt("publisher", reason),
        ),
    )
