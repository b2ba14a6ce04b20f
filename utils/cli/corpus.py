"""Commands of the corpus: sync and index from cron, find and quote in a terminal."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..model.versions import UNPUBLISHED_VERSIONS
from ..outline import terms
from ..system.plain_text import clean_text, one_line
from ..system.progress_display import LINE
from .commands import CommandParser, Commands, command
from .options import add_date_options, add_limit_option, add_types_option, get_year
from .output import (
    UNREACHABLE_STATUS,
    make_console,
    pluralize,
    print_answer,
    print_note,
    print_warnings,
)
from .progress import show_count, show_steps

if TYPE_CHECKING:
    from rich.text import Text

    from ..corpus.index import IndexProgress
    from ..corpus.quotations import Quotation
    from ..corpus.search import ScoredPassage
    from ..library import Library
    from ..model.passage import Passage

NOT_VERBATIM_STATUS = 1
_SECTION_MAX_CHARS = 200  # of a piece of a table, the section names all columns
_SNIPPET_MAX_CHARS, _CHARS_BEFORE = 320, 40
_NESTED_STATS = ("kinds", "years", "synced")


def add(commands: Commands) -> None:
    """Register the commands."""
    sync = command(commands, "corpus sync", _sync_query)
    sync.add_argument("key", help="your name for the query; the next sync continues under it")
    sync.add_argument("term", help="the query, in PubMed's syntax")
    sync.add_argument("--overlap-days", type=int, default=5, help="fetch the last N days again (5)")
    sync.add_argument("--full", action="store_true", help="fetch every record again")
    checkpoint = command(commands, "corpus checkpoint", _show_checkpoint)
    checkpoint.add_argument("key", help="the name given to `corpus sync`")
    checkpoint.add_argument(
        "--set", default="", metavar="DATE", help="move the date, forwards or backwards"
    )
    index = command(commands, "corpus index", _index_corpus)
    index.add_argument("--all", action="store_true", help="index everything again")
    learn = command(commands, "corpus learn", _learn_names)
    learn.add_argument("file", nargs="+", type=Path, help="J_Medline.txt, desc*.xml, *.gene_info")
    _add_find_options(command(commands, "corpus find", _find_passages))
    _add_quote_options(command(commands, "corpus quote", _verify_quote))
    command(commands, "corpus stats", _print_stats)


def _add_source_option(parser: CommandParser) -> None:
    parser.add_argument(
        "--source",
        choices=["corpus", "mirror"],
        default="corpus",
        help="where to search: synced and downloaded papers, or your mirror of PubMed and PMC",
    )


def _add_quote_options(quote: CommandParser) -> None:
    _add_source_option(quote)
    quote.add_argument("text", help="the quotation; - reads stdin")
    quote.add_argument(
        "--paper", default="", help="search only this paper, by identifier or file name"
    )


def _add_find_options(find: CommandParser) -> None:
    find.add_argument("query", nargs="+")
    _add_source_option(find)
    add_limit_option(find, "passages", 10, former_names=["--top-k"])
    find.add_argument("--by", choices=["both", "words", "meaning"], default="both")
    add_date_options(find)
    find.add_argument(
        "--journal", default="", help="only this journal: name, NLM abbreviation or ISSN"
    )
    add_types_option(find)
    find.add_argument(
        "--mesh",
        action="append",
        default=[],
        help="only this MeSH heading (mirror only); can be repeated",
    )
    find.add_argument("--kind", choices=["full_text", "abstract"])
    find.add_argument("--retracted", action="store_true", help="include retracted papers")
    find.add_argument(
        "--no-widen", dest="widen", action="store_false", help="do not search for synonyms"
    )
    find.add_argument(
        "--no-quality-bias",
        dest="quality_bias",
        action="store_false",
        former=["--no-quality"],
        help="rank by score alone, without quality of evidence",
    )


def _sync_query(args: argparse.Namespace, library: Library) -> int:
    from ..corpus.stored_records import day_to_timestamp

    synced = library.corpus.sync(
        args.key,
        args.term,
        overlap_days=args.overlap_days,
        full=args.full,
        progress=show_count,
        waiting=print_note,
    )
    text = (
        f"{args.key}: {pluralize(synced.pmids_processed, 'record')}: {synced.inserted:,} "
        f"new, {synced.updated:,} updated, {synced.skipped:,} unchanged."
    )
    if synced.members is not None:
        there = synced.members_at_pubmed
        told = "not counted" if there is None else f"{there:,}"
        text += f" Papers of the query: {synced.members:,} here, {told} at PubMed."
    row = {**asdict(synced), "query_key": args.key}
    row["max_edat_seen"] = day_to_timestamp(synced.max_edat_seen)
    print_answer(row if args.json else text, args.json)
    print_warnings(synced.warnings)
    if synced.unfinished:
        print_note("PubMed did not answer every request. Run the same command to continue.")
        return UNREACHABLE_STATUS
    if synced.inserted or synced.updated:
        print_note(f"To make them findable: {command_line('corpus index')}")
    return 0


def _show_checkpoint(args: argparse.Namespace, library: Library) -> int:
    from ..corpus.stored_records import day_to_timestamp

    corpus = library.corpus
    if args.set:
        corpus.set_checkpoint(args.key, args.set, by="shell")
    checkpoint = corpus.checkpoint(args.key)
    row = asdict(checkpoint) if checkpoint else {"query_key": args.key, "last_edat": None}
    text = f"{args.key}: {row['last_edat'] or 'never synced'}"
    row["last_edat"] = day_to_timestamp(row["last_edat"])
    print_answer(row if args.json else text, args.json)
    return 0


def _index_corpus(args: argparse.Namespace, library: Library) -> int:
    last = show_steps(
        library.corpus.index(everything=args.all, waiting=print_note),
        _describe_index_progress,
        print_note,
    )
    if last is None:
        return 0
    text = (
        f"{pluralize(last.done, 'paper')}: {last.cut:,} indexed again, {last.dropped:,} removed; "
        f"{last.passages:,} passages added, {last.removed:,} removed, {last.vectors:,} vectors."
    )
    print_answer(asdict(last) if args.json else text, args.json)
    print_warnings(last.warnings)
    return 0


def _describe_index_progress(indexed: IndexProgress) -> str:
    vectors = f"{indexed.vectors:,} of {indexed.vectors_due:,} vectors"
    return f"{indexed.done:,} of {indexed.total:,} papers, {vectors} …"


def _learn_names(args: argparse.Namespace, library: Library) -> int:
    for file in args.file:
        count = library.corpus.learn(file)
        row = {"file": str(file), "names": count}
        print_answer(
            row if args.json else f"{one_line(file.name)}: {pluralize(count, 'name')}.", args.json
        )
    return 0


def _find_passages(args: argparse.Namespace, library: Library) -> int:
    from ..corpus.local_model import explain_missing_fastembed
    from ..model.passage import Filters

    filters = Filters(
        year_from=get_year(args.since) or None,
        year_to=get_year(args.until) or None,
        journal=args.journal,
        publication_types=tuple(args.publication_types),
        kind=args.kind,
        retracted=args.retracted,
        mesh=tuple(args.mesh),
    )
    query = " ".join(args.query)
    answer = library.passages_of(args.source).find(
        query,
        top_k=args.limit,
        quality_bias=args.quality_bias,
        filters=filters,
        by=args.by,
        widen=args.widen,
    )
    if args.json:
        for found in answer.hits:
            print_answer(_to_hit_row(found), as_json=True)
    else:
        _print_hits(answer.hits, query)
    if answer.wordings:
        others = (f"{one_line(one.term)} = {one_line(one.other)}" for one in answer.wordings)
        print_note(f"Also asked: {'; '.join(others)} (not with --no-widen)")
    # What could be installed is told once, by `doctor` and `stats`; here with --verbose.
    missing = "" if args.verbose else explain_missing_fastembed()
    print_warnings(one for one in answer.warnings if not (missing and missing in one))
    return 0


def _to_hit_row(found: ScoredPassage) -> dict[str, Any]:
    passage = found.passage
    return {
        **asdict(passage),
        "uuid": passage.uuid,
        "score": found.score,
        "sim": found.sim,
        "bm25": found.bm25,
        "quality": found.quality.to_row(),
        "version": found.version,
    }


def _print_hits(hits: tuple[ScoredPassage, ...], query: str) -> None:
    """Print snippets; on a terminal the words of the query are highlighted."""
    if not sys.stdout.isatty():
        for number, found in enumerate(hits, 1):
            print_answer(_format_hit(number, found, query))
        return
    console = make_console()
    LINE.clear_line()
    for number, found in enumerate(hits, 1):
        console.print(_highlight_words(_format_hit(number, found, query), query), soft_wrap=True)


def _format_hit(number: int, found: ScoredPassage, query: str) -> str:
    passage = found.passage
    flag = "[RETRACTED] " if passage.retracted else ""
    flag += f"[{found.version}] " if found.version in UNPUBLISHED_VERSIONS else ""
    about = [one_line(passage.journal), str(passage.year or "")]
    ranked = f"quality {found.quality.total}  score {found.score:.4f}"
    lines = [
        f"{number:>3}. {flag}{one_line(passage.title)}",
        f"     {passage.paper}  {' '.join(filter(None, about))}  {ranked}",
        f"     {_describe_location(passage)}",
        f"     {cut_snippet(passage.text, query)}",
    ]
    return clean_text("\n".join(lines))


def _describe_location(found: Passage | Quotation) -> str:
    """Return section, file, block and characters; without a file, positions in the abstract."""
    anchor = getattr(found, "anchor", "")
    section = one_line(found.section)[:_SECTION_MAX_CHARS]
    where = filter(None, (section, found.file or "record", anchor))
    return f"{' · '.join(where)} [{found.start}:{found.end}]"


def cut_snippet(text: str, query: str) -> str:
    """Return the part of a passage, on one line, that has the most words of the query.

    >>> cut_snippet("Corals bleach in warm water.", "bleaching")
    'Corals bleach in warm water.'
    """
    line = one_line(text)
    if len(line) <= _SNIPPET_MAX_CHARS:
        return line
    matches = [
        (found.start(), terms.to_index_terms(found[0])) for found in _find_query_words(line, query)
    ]

    def count_words_from(start: int) -> int:
        return len({word for at, word in matches if start <= at < start + _SNIPPET_MAX_CHARS})

    first = max((at for at, _ in matches), key=count_words_from, default=0)
    start = max(0, min(first - _CHARS_BEFORE, len(line) - _SNIPPET_MAX_CHARS))
    start = line.rfind(" ", 0, start) + 1
    end = (
        line.rfind(" ", 0, start + _SNIPPET_MAX_CHARS)
        if start + _SNIPPET_MAX_CHARS < len(line)
        else len(line)
    )
    end = end if end > start else start + _SNIPPET_MAX_CHARS
    return "… " * (start > 0) + line[start:end] + " …" * (end < len(line))


def _find_query_words(text: str, query: str) -> Iterator[re.Match[str]]:
    """Return the words of *text* that an index matches with words of *query*."""
    wanted = set(terms.to_query_terms(query))
    found = re.finditer(r"[^\W_]+(?:[-\u2010\u2011'’][^\W_]+)*", text)
    return (word for word in found if wanted.intersection(terms.to_index_terms(word[0]).split()))


def _highlight_words(entry: str, query: str) -> Text:
    from rich.text import Text

    head, *others = entry.split("\n")
    text = Text(head, style="bold")
    for line in others[:-1]:
        text.append(f"\n{line}", style="dim not bold")
    body = Text(f"\n{others[-1]}", style="not bold")
    for word in _find_query_words(body.plain, query):
        body.stylize("bold yellow", word.start(), word.end())
    return text.append_text(body)


def _verify_quote(args: argparse.Namespace, library: Library) -> int:
    text = sys.stdin.read() if args.text == "-" else args.text
    corpus = library.passages_of(args.source)
    found = corpus.verify_quote(text, args.paper)
    if args.json:
        print_answer(asdict(found), as_json=True)
    elif not found.found:
        print_answer(f"Not found in {args.paper or f'the {args.source}'}, and no similar passage.")
    else:
        _print_quotation(found)
    return 0 if found.verbatim else NOT_VERBATIM_STATUS


def _print_quotation(found: Quotation) -> None:
    head = (
        "Verbatim"
        if found.verbatim
        else f"Not found word for word; nearest passage ({found.likeness:.2f})"
    )
    print_answer(f"{head}: {found.paper} {one_line(found.title)}\n  {_describe_location(found)}")
    if not found.verbatim:
        print_answer(f"  {one_line(found.text)}")
    for one in found.differences if found.verdict == "near" else ():
        print_answer(f"  - {one_line(str(one))}")


def _print_stats(args: argparse.Namespace, library: Library) -> int:
    stats = library.corpus.stats()
    row = asdict(stats)
    if args.json:
        print_answer(row, as_json=True)
        return 0
    for name, value in row.items():
        if name == "warnings":
            continue
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if name in _NESTED_STATS else value
        number = f"{shown:,}" if isinstance(shown, int) else one_line(str(shown)) or "–"
        print_answer(f"{name.replace('_', ' '):<16} {number}")
    print_warnings(stats.warnings)
    return 0
