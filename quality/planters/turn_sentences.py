"""Plant true and false statements about real articles, to test `check`.

The problem: whoever writes a checker also knows which faults it finds. This planter was
written before its author read the code of `check`, and shares no word list with it.

1. Take the sentences of an article's abstract and body (JATS).
2. Apply each rule of `FAULTS` to a sentence: the result contradicts the sentence.
3. Apply each rule of `PARAPHRASES`: the result says the same in other words.
4. Keep a fixed number of statements of each kind, spread over the articles.

Example: "Mortality decreased by 12% (p<0.05)." gives the faults "Mortality increased by
12% (p<0.05)." and "Mortality decreased by 12% (p>0.05)." and the paraphrase "Mortality
fell by 12 percent (P < .05)."

    python -m quality.planters.turn_sentences ARTICLES > statements.jsonl
"""

import hashlib
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from lxml import etree

PER_FAULT = 16
PER_PARAPHRASE = 18
WORDS_MIN, WORDS_MAX = 8, 45
DROPPED = (
    *("xref", "table-wrap", "fig", "disp-formula", "inline-formula", "sub-article", "ref-list"),
    *("fn", "supplementary-material"),
)
NUMBER = r"(?<![\w.,−–-])\d+(?:\.\d+)?"


class Statement(NamedTuple):
    """One planted statement about one article."""

    pmid: str
    statement: str
    source: str
    truth: bool
    kind: str


def swap(pairs: str) -> Callable[[str], str]:
    """Return a rule that replaces the first word of a table by the word opposite it."""
    table = {}
    for pair in pairs.split():
        left, right = pair.split("/")
        table[left] = right.replace("_", " ")
        table[right.replace("_", " ")] = left
    return replace(table)


def replace(table: dict[str, str]) -> Callable[[str], str]:
    """Return a rule that replaces the first phrase of `table` found in a sentence."""
    pattern = re.compile(
        r"\b(" + "|".join(sorted(map(re.escape, table), key=len, reverse=True)) + r")\b"
    )
    return lambda sentence: pattern.sub(lambda found: table[found[1]], sentence, count=1)


def edit(pattern: str, by: str | Callable[[re.Match[str]], str]) -> Callable[[str], str]:
    """Return a rule that rewrites the first match of a regular expression."""
    return lambda sentence: re.sub(pattern, by, sentence, count=1)


def _change_number(found: re.Match[str]) -> str:
    """Return the number with its first digit changed."""
    first = found[0][0]
    return str((int(first) + 2) % 9 + 1) + found[0][1:]


def _shift_decimal(found: re.Match[str]) -> str:
    """Return the number with its decimal point one place to the right."""
    whole, part = found[1], found[2]
    return f"{whole}{part[0]}.{part[1:]}" if len(part) > 1 else f"{whole}{part}"


def _widen_range(found: re.Match[str]) -> str:
    """Return the range with a larger upper end."""
    return f"{found[1]}{found[2]}{(int(found[3][0]) + 2) % 9 + 1}{found[3][1:]}"


MEMBERS = "patients|mice|cells|women|men|children|rats|controls?|participants|subjects"
NAMED = rf"[\w-]+ (?:group|{MEMBERS})"
UNITS = {
    "mg": "g", "µg": "mg", "μg": "mg", "kg": "g", "ml": "l", "mL": "L", "days": "weeks",
    "weeks": "months", "months": "years", "years": "months", "hours": "minutes", "min": "h",
    "mm": "cm", "cm": "mm", "nM": "µM", "mM": "µM", "h": "min",
}  # fmt: skip
TWO_GROUPS = (
    rf"({NUMBER})( ?%[^.;,%\d]{{3,45}}?\b(?:and|versus|vs\.?|compared (?:with|to)) )({NUMBER})( ?%)"
)
QUOTED = r"^.*?\b((?:\w[\w’'-]* ){7,12}\w+)\b.*$"

FAULTS: dict[str, Callable[[str], str]] = {
    "direction": swap("""
        increased/decreased increase/decrease increases/decreases increasing/decreasing
        rose/fell elevated/reduced upregulated/downregulated up-regulated/down-regulated
        gained/lost
    """),
    "comparison": swap("""
        higher/lower greater/smaller more_than/less_than larger/smaller longer/shorter
        faster/slower older/younger stronger/weaker above/below earlier/later
    """),
    "better or worse": swap("""
        improved/worsened improvement/deterioration improve/worsen better/worse
        superior/inferior beneficial/harmful effective/ineffective
    """),
    "negation dropped": edit(
        r"\b(did|do|does|was|were|is|are|could|can) not ",
        lambda m: {"did": "", "do": "", "does": ""}.get(m[1], m[1] + " "),
    ),
    "negation added": edit(
        r"\b(was|were|is|are|can|could|has|have) (?=\w+(?:ed|en|ly|nt|ve)\b)", r"\1 not "
    ),
    "significance": lambda s: (
        replace(
            {
                "not significantly": "significantly",
                "no significant": "a significant",
                "not significant": "significant",
            }
        )(s)
        if re.search(r"\bno[t]? significant", s)
        else replace(
            {
                "significantly": "not significantly",
                "a significant": "no significant",
                "were significant": "were not significant",
                "was significant": "was not significant",
                "statistically significant": "statistically insignificant",
            }
        )(s)
    ),
    "sign of p": edit(
        r"\b([pP]) ?([<>]) ?(?=0?\.\d)", lambda m: m[1] + (">" if m[2] == "<" else "<")
    ),
    "number": edit(NUMBER + r"(?= ?[%\w(])(?! ?% ?CI)", _change_number),
    "decimal point": edit(r"(?<![\w.,−–-])(\d+)\.(\d+)", _shift_decimal),
    "unit": edit(rf"({NUMBER}) ?({'|'.join(UNITS)})\b(?![/·])", lambda m: f"{m[1]} {UNITS[m[2]]}"),
    "points for percent": edit(
        rf"(\bby (?:about |approximately )?{NUMBER}) ?(?:%|percent|per cent)(?! ?points)",
        r"\1 percentage points",
    ),
    "groups swapped": edit(TWO_GROUPS, r"\3\2\1\4"),
    "sign": edit(r"(?<![\w.)\]−–-])[−–-](?=\d+\.\d)", ""),
    "range": edit(
        r"(?<![\w.])(\d+(?:\.\d+)?)( ?[–-] ?| to )(\d+(?:\.\d+)?)(?![\w.–-])", _widen_range
    ),
    "before or after": swap("""
        before/after preceding/following prior/subsequent pre-treatment/post-treatment
        preoperatively/postoperatively baseline/follow-up
    """),
    "with or without": edit(
        rf"\b({MEMBERS}|individuals|those|cases|people) (with|without)\b",
        lambda m: m[1] + (" without" if m[2] == "with" else " with"),
    ),
    "risk or protection": swap("""
        protective/harmful positive/negative positively/negatively
        risk_factor/protective_factor agonist/antagonist activation/inhibition
        activated/inhibited inhibits/activates inhibit/activate inhibited/stimulated
        sensitive/resistant hypermethylated/hypomethylated overexpression/underexpression
    """),
    "compared sides": edit(
        rf"\b(in|among|for) (the )?({NAMED}) (than|compared (?:with|to)|versus)"
        rf" (?:in |among |for |that in )?(the )?({NAMED})\b",
        r"\1 the \6 \4 \1 the \3",
    ),
}

SYNONYMS = {
    "increased": "rose",
    "decreased": "fell",
    "higher": "greater",
    "showed": "demonstrated",
    "shown": "demonstrated",
    "patients": "persons",
    "participants": "subjects",
    "compared with": "in comparison with",
    "compared to": "relative to",
    "associated with": "linked to",
    "approximately": "about",
    "in order to": "to",
    "however": "nevertheless",
    "important": "relevant",
    "several": "a number of",
    "performed": "carried out",
    "obtained": "gained",
    "because": "since",
    "suggest": "indicate",
    "observed": "seen",
    "found": "observed",
    "investigated": "studied",
    "examined": "looked at",
    "used": "employed",
    "identified": "detected",
    "demonstrated": "showed",
    "although": "though",
}
OPENERS = (
    "In this study, ",
    "The authors report that ",
    "As reported, ",
    "According to this article, ",
)


def _lower_first(sentence: str) -> str:
    """Return the sentence with a small first letter, unless it opens with an abbreviation."""
    return (
        sentence[0].lower() + sentence[1:]
        if re.match(r"(?:The|A|An|In|We|These|This|Our|There|All|Most|Both|After|No)\b", sentence)
        else ""
    )


def _invert_comparison(found: re.Match[str]) -> str:
    """Return "B was lower than A" for "A was higher than B"."""
    opposite = {
        "higher": "lower",
        "lower": "higher",
        "greater": "smaller",
        "larger": "smaller",
        "smaller": "larger",
        "longer": "shorter",
    }[found[3]]
    return f"{found[1]} {opposite} in the {found[6]} than in the {found[5]}"


SIDE = rf"(?:the )?({NAMED}|women|men|children|boys|girls|controls|males|females|cases)"
PARAPHRASES: dict[str, Callable[[str], str]] = {
    "verbatim": lambda s: s + " ",
    "synonym": replace(SYNONYMS),
    "two synonyms": lambda s: (
        replace({k: v for k, v in SYNONYMS.items() if k > "h"})(t)
        if (t := replace({k: v for k, v in SYNONYMS.items() if k < "h"})(s)) != s
        else s
    ),
    "opener": lambda s: OPENERS[len(s) % 4] + low if (low := _lower_first(s)) else s,
    "percent spelled": edit(rf"({NUMBER}) ?%(?! ?CI)", r"\1 percent"),
    "p spaced": edit(r"\b[pP] ?([<>=]) ?0?(?=\.\d)", r"P \1 "),
    "p closed up": edit(r"\b[pP] ([<>=]) (?=0?\.\d)", r"p\1"),
    "aside dropped": edit(r" \([^()]*\)(?=[ ,.])", ""),
    "clause dropped": edit(
        r"^([^,;]{50,}), (?:which|whereas|while|although|but|suggesting|indicating)\b[^.]*\.$",
        r"\1.",
    ),
    "rounded": edit(r"(?<![\w.,<>−–-])([1-9]\d*\.\d\d) ?%", lambda m: f"{float(m[1]):.1f}%"),
    "comparison inverted": edit(
        r"\b((was|were) (?:significantly )?)(higher|lower|greater|larger|smaller|longer)()?"
        rf" (?:in|among) {SIDE} (?:than|compared (?:with|to)|versus) (?:in |among )?{SIDE}",
        _invert_comparison,
    ),
    "negation moved": replace(
        {
            "There was no": "We found no",
            "did not show": "failed to show",
            "did not differ": "were not different",
            "no significant difference": "no statistically significant difference",
            "was not significant": "did not reach significance",
            "were not significantly": "did not become significantly",
        }
    ),
    "list reordered": edit(r"\b([a-z]{5,}), ([a-z]{5,}),? and ([a-z]{5,})\b", r"\2, \1 and \3"),
    "thousands closed up": edit(r"\b(\d{1,3}),(\d{3})\b(?!,)", r"\1\2"),
    "direction reworded": replace(
        {
            "increased": "went up",
            "decreased": "declined",
            "reduced": "lowered",
            "elevated": "raised",
            "reduction in": "decrease in",
            "increase in": "rise in",
            "significantly higher": "significantly greater",
            "up-regulated": "upregulated",
            "upregulated": "increased",
            "downregulated": "decreased",
        }
    ),
}


def sentences_of(jats: Path) -> Iterator[str]:
    """Yield the sentences of an article's abstract and body, without tables and references."""
    root = etree.parse(
        str(jats), etree.XMLParser(load_dtd=False, resolve_entities=False, recover=True)
    ).getroot()
    etree.strip_elements(root, *DROPPED, with_tail=False)
    for paragraph in root.xpath("(.//abstract[not(@abstract-type)] | .//body)//p"):
        text = " ".join("".join(paragraph.itertext()).split())
        text = re.sub(r"\s*[\[(][\s,;–-]*[\])]", "", text)
        for sentence in re.split(r"(?<=[a-z)%\d]\.) (?=[A-Z])", text):
            if (
                WORDS_MIN <= len(sentence.split()) <= WORDS_MAX
                and sentence.endswith(".")
                and re.match(r"[A-Z]", sentence)
            ):
                yield sentence


def plant(articles: list[tuple[str, Path]]) -> list[Statement]:
    """Return the planted statements, the same for the same articles."""
    planted: dict[str, list[Statement]] = defaultdict(list)
    for pmid, jats in articles:
        sentences = sorted(
            sentences_of(jats), key=lambda text: hashlib.sha256(text.encode()).digest()
        )
        for truth, rules in ((False, FAULTS), (True, PARAPHRASES)):
            for kind, rule in rules.items():
                turned = ((sentence, rule(sentence)) for sentence in sentences)
                planted[kind] += [
                    Statement(pmid, " ".join(new.split()), old, truth, kind)
                    for old, new in turned
                    if new != old
                ][:2]
        planted["quotation"] += _misquote(pmid, sentences)
    limits = {False: PER_FAULT, True: PER_PARAPHRASE}
    return [statement for kind in planted.values() for statement in _spread(kind, limits)]


def _misquote(pmid: str, sentences: list[str]) -> list[Statement]:
    """Return a quotation in which one word was left out, and one that is verbatim."""
    quotable = [
        found[1]
        for sentence in sentences
        if '"' not in sentence and (found := re.match(QUOTED, sentence))
    ]
    if len(quotable) < 2:
        return []
    words = quotable[0].split()
    false = Statement(
        pmid,
        f"The authors write “{' '.join(words[:3] + words[4:])}”.",
        quotable[0],
        False,
        "quotation",
    )
    return [
        false,
        Statement(pmid, f"The authors write “{quotable[1]}”.", quotable[1], True, "quotation"),
    ]


def _spread(statements: list[Statement], limits: dict[bool, int]) -> list[Statement]:
    """Return up to the limit of true and of false statements, chosen by their hash."""
    by_hash = sorted(statements, key=lambda one: hashlib.sha256(one.statement.encode()).digest())
    return [
        one
        for truth in (True, False)
        for one in [s for s in by_hash if s.truth is truth][: limits[truth]]
    ]


def read_articles(folder: Path) -> list[tuple[str, Path]]:
    """Return PMID and JATS file of the articles whose licence allows reuse."""
    rows = [
        json.loads(line)
        for line in (folder / "articles.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    free = [
        row
        for row in rows
        if row["jats_status"] == "full" and row["licence"].startswith(("CC-BY-", "CC0", "PD"))
    ]
    return sorted((row["pmid"], folder / row["files"]["jats"]) for row in free if row.get("pmid"))


if __name__ == "__main__":
    for statement in plant(read_articles(Path(sys.argv[1]))):
        sys.stdout.write(json.dumps(statement._asdict(), ensure_ascii=False) + "\n")
