"""What all of PubMed and all of PMC's open articles cost, on paper, from measured rates.

    uv run --extra mirror python -m quality.benchmarks.mirror_cost [--price 0.04] [--line 12.5]

Rates are those by which `mirror plan` reckons (`utils/mirror/rates.py`). Assumed are the price of a
core-hour in dollars, the line in MB/s, how many records, articles and passages there are, and that
many cores work as one does; what does not grow with cores is the line, and PMC's limit on requests.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

from utils.mirror.rates import Rates

_RATES = Rates()
_HOUR = 3600.0
_CORES = (1, 16, 256)


class Step(NamedTuple):
    """One step: core-hours of it, of which one process does the share *alone*."""

    name: str
    core_hours: float
    disk_gb: float
    network_gb: float = 0.0
    line_hours: float = 0.0
    alone: float = 0.0

    def hours(self, cores: int) -> float:
        """On so many cores."""
        divided = self.core_hours * (self.alone + (1 - self.alone) / cores)
        return max(divided, self.line_hours)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--price", type=float, default=0.04, help="of a core-hour, dollars")
    parser.add_argument("--line", type=float, default=12.5, help="MB/s")
    parser.add_argument("--pubmed-bytes", type=float, default=64e9)
    parser.add_argument("--articles", type=float, default=7e6)
    parser.add_argument("--passages-an-article", type=float, default=34.0)
    args = parser.parse_args()
    pubmed = args.pubmed_bytes * _RATES.pubmed_passages
    pmc = args.articles * args.passages_an_article
    for name, steps, passages in (
        ("PubMed", _pubmed(args), pubmed),
        ("PMC's open articles", _pmc(args), pmc),
    ):
        _print(name, [*steps, *_search(passages)], passages, args.price)


def _pubmed(args: argparse.Namespace) -> list[Step]:
    size = args.pubmed_bytes
    return [
        Step("fetch", 0, size / 1e9, size / 1e9, size / (args.line * 1e6) / _HOUR),
        Step("read", size / _RATES.pubmed_bytes / _HOUR, size * _RATES.pubmed_parts / 1e9),
    ]


def _pmc(args: argparse.Namespace) -> list[Step]:
    size = args.articles * _RATES.pmc_article_bytes
    asked = 2 * args.articles / _RATES.pmc_requests / _HOUR
    line = max(asked, size / (args.line * 1e6) / _HOUR)
    work = args.articles * _RATES.pmc_article_s / _HOUR
    return [
        Step("fetch", 0, size / 1e9, size / 1e9, line),
        Step("read", work, size * _RATES.pmc_parts / 1e9),
    ]


def _search(passages: float) -> list[Step]:
    def step(name: str, rate: float, each: float, alone: float = 0.0) -> Step:
        return Step(name, passages / rate / _HOUR, passages * each / 1e9, alone=alone)

    return [
        step("words", _RATES.words, _RATES.words_bytes, _RATES.joining_share),
        step("vectors, CPU", _RATES.vectors, _RATES.vector_bytes),
    ]


def _print(name: str, steps: list[Step], passages: float, price: float) -> None:
    print(f"\n{name}: {passages / 1e6:,.0f} M passages, {price:.2f} $ a core-hour assumed\n")
    heads = [f"{cores} core{'s' * (cores > 1)}" for cores in _CORES]
    print(f"| step | core-hours | $ | {' | '.join(heads)} | GB on disk | GB of network |")
    print("|---" * (6 + len(heads) - 1) + "|")
    for one in steps:
        hours = " | ".join(_span(one.hours(cores)) for cores in _CORES)
        money = one.core_hours * price
        numbers = f"{one.core_hours:,.1f} | {money:,.2f} | {hours}"
        print(f"| {one.name} | {numbers} | {one.disk_gb:,.0f} | {one.network_gb:,.0f} |")


def _span(hours: float) -> str:
    if hours >= 72:
        return f"{hours / 24:,.1f} d"
    return f"{hours:,.1f} h" if hours >= 1 else f"{hours * 60:,.0f} min"


if __name__ == "__main__":
    main()
