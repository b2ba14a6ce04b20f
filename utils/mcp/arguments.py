"""Convert the arguments of a call from the forms that language models write, and explain errors.

Models call tools from memory. They write a parameter under the name that another tool has for it,
a number as text, a list as one text with commas, one value where a list belongs, ``"Vancouver"``
for ``vancouver``. Each of these has one possible meaning, and refusing it costs a whole turn.

`normalize_arguments` turns such arguments into those of the tool's input schema, before they are
validated. What has no meaning, or more than one, stays as it is: validation then names it.

Every idea has one name in all input schemas, the first of its row in `_SYNONYM_ROWS`. The row's
other names, those of the reference documents among them, are read and not described.

`to_bad_request` turns what pydantic says then into sentences that a model can act on: with the
argument's name, the value it sent, and the names there are where it made one up.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from reprlib import Repr
from typing import Any

from pydantic import ValidationError

from ..errors import BadRequest
from ..model.identifiers import Ids

Schema = Mapping[str, Any]
_LIST_TEXT_MAX_CHARS = 100_000  # of a text that may be a list; a manuscript is not
# One idea a row: its own name, then the others that are read.
_SYNONYM_TABLE = """\
papers ids pmids dois identifiers paper_ids paper identifier paper_id pmid source_pmid doi pmcid \
arxiv_id doc_id id
query query_term term search_term search_query q search keywords keyword question text
text quote quotation manuscript content query
quotes quotations quote texts text
min_date start_year year_from date_from from_date start_date min_year from_year since after \
mindate published_after from
max_date end_year year_to date_to to_date end_date max_year to_year until before maxdate \
published_before to
sort_by sort order_by order
max_results top_k max_related_results max_papers max_records max_rows limit num_results n k \
count retmax page_size
start offset skip retstart from_index
publication_types filter_by_publication_types publication_type pub_types article_types types
style citation_style citation_styles styles format
styles citation_styles citation_style style formats format
section sections heading
sections section headings
source sources
sources source databases
database db
budget_tokens budget max_tokens token_budget
max_chars max_characters max_length
fields_of_study field_of_study
category categories
author authors first_author
journal journals journal_title journal_name
first_page pages page
mesh mesh_terms mesh_term
job_id job harvest_id
wait_s wait wait_seconds timeout
force overwrite refresh
output_path output path
file output output_path path
which object label figure table
operation action op
tool_name tool name
detail_level level
relationship_type relationship relation
review review_name name
abstracts include_abstracts include_abstract abstract
"""
_SYNONYM_ROWS = tuple(tuple(row.split()) for row in _SYNONYM_TABLE.splitlines())
_PAPER_NAMES = _SYNONYM_ROWS[0]
_ROWS_BY_NAME: dict[str, list[tuple[str, ...]]] = {}
for _row in _SYNONYM_ROWS:
    for _name in _row:
        _ROWS_BY_NAME.setdefault(_name, []).append(_row)
_KIND_BY_PARAMETER = {"pmid": "pmid", "doi": "doi", "pmcid": "pmcid", "arxiv_id": "arxiv"}
_ANY_IDENTIFIER_NAMES = ("paper", "id", "identifier", "paper_id")
_DATE_LIMITS = ("min_date", "max_date")
_DATE_RANGE_NAMES = (
    "year",
    "years",
    "date",
    "dates",
    "date_range",
    "publication_year",
    "year_range",
)
_BUNDLE_NAMES = ("filters", "filter", "options", "date_range")
# Words for a value of a fixed set, by the set's own word: the first that the set has counts.
_CHOICES_BY_WORD = {
    "date": ("pub_date", "pdat"),
    "publicationdate": ("pub_date", "pdat"),
    "published": ("pub_date", "pdat"),
    "mostrecent": ("pub_date",),
    "recent": ("pub_date",),
    "submitteddate": ("pub_date",),
    "submitted": ("pub_date",),
    "lastupdateddate": ("update_date",),
    "updated": ("update_date",),
    "journalname": ("journal",),
    "firstauthor": ("author",),
    "bestmatch": ("relevance",),
    "relevant": ("relevance",),
    "entrezdate": ("edat",),
    "entrydate": ("edat",),
    "modificationdate": ("mdat",),
    "similar": ("pubmed_similar_articles",),
    "similararticles": ("pubmed_similar_articles",),
    "related": ("pubmed_similar_articles",),
    "citedby": ("pubmed_citedin",),
    "citedin": ("pubmed_citedin",),
    "citing": ("pubmed_citedin",),
    "references": ("pubmed_references",),
    "citations": ("citation_formats", "pubmed_citedin"),
    "abstract": ("abstract", "abstract_plus"),
    "xml": ("full_xml",),
    "medline": ("medline_text",),
    "citation": ("citation_data",),
    "medrxiv": ("europepmc",),
    "biorxiv": ("europepmc",),
    "s2": ("semantic_scholar",),
    "global": ("global_query",),
    "egquery": ("global_query",),
    "stage": ("fetch_and_stage",),
    "sql": ("query",),
    "any": ("",),
    "all": ("",),
}
_NULL_WORDS = ("", "0", "null", "none", "na", "unknown")
_TRUE_WORDS, _FALSE_WORDS = ("true", "yes", "1", "on"), ("false", "no", "0", "off", "none")
_SEPARATOR_PATTERN = re.compile(r"\s*[,;\n|]\s*")
_WHOLE_NUMBER_PATTERN = re.compile(r"[+-]?\d{1,3}(?:[,_]?\d{3})*(?:\.0+)?|[+-]?\d+(?:\.0+)?", re.A)
# What goes on behind the comma in names of publication types: "Clinical Trial, Phase III".
_TYPE_CONTINUATION_PATTERN = re.compile(
    r"(?:phase |veterinary|nih|n\.i\.h|non-|u\.s\.|p\.h\.s|american )", re.I
)
_MAX_SENTENCES = 5
_MAX_EXAMINED_ERRORS = 50
_MAX_ERRORS = 10_000
_NAME_MAX_CHARS = 60
_MISSING_ERROR_TYPES = ("missing", "missing_argument", "missing_keyword_only_argument")
_UNKNOWN_NAME_ERROR_TYPES = ("extra_forbidden", "unexpected_keyword_argument")
_value_repr = Repr()  # of a large value only the beginning is looked at
_value_repr.maxlevel, _value_repr.maxlist, _value_repr.maxdict, _value_repr.maxstring = 3, 4, 3, 60


def normalize_arguments(
    arguments: Mapping[str, Any], schema: Schema, written_names: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return the arguments under the schema's names, each value in the schema's type.

    *written_names* receives the names that the caller wrote, by the schema's.

    >>> number = {"type": "integer"}
    >>> normalize_arguments({"maxResults": "7"}, {"properties": {"max_results": number}})
    {'max_results': 7}
    """
    known = schema.get("properties", {})
    renamed = {name: value for name, value in arguments.items() if name in known}
    for name, value in _unpack_bundles(arguments, known):
        for target in _assign_argument(name, value, renamed, known):
            if written_names is not None:
                written_names[target] = name
    required = schema.get("required", ())
    fitted = {
        name: _convert_value(value, known[name]) if name in known else value
        for name, value in renamed.items()
        if value is not None or name in required or name not in known
    }
    return _sort_by_kind(fitted) if {*_KIND_BY_PARAMETER} <= {*known} else fitted


def _unpack_bundles(arguments: Mapping[str, Any], known: Schema) -> Iterable[tuple[str, Any]]:
    """Yield the arguments under other names; take apart an object that only bundles some."""
    for name, value in arguments.items():
        if name in known:
            continue
        inner = _decode_json(value)
        if _to_snake_case(name) in _BUNDLE_NAMES and isinstance(inner, dict):
            yield from inner.items()
        else:
            yield name, value


def _assign_argument(
    name: str, value: Any, renamed: dict[str, Any], known: Schema
) -> tuple[str, ...]:
    """Store an argument under the parameter it belongs to, else its own name; return where."""
    snake = _to_snake_case(name)
    if snake in _DATE_RANGE_NAMES and "min_date" in known and (span := _split_date_range(value)):
        for end, limit in zip(_DATE_LIMITS, span, strict=True):
            renamed.setdefault(end, limit)
        return _DATE_LIMITS
    if snake in _ANY_IDENTIFIER_NAMES and {*_KIND_BY_PARAMETER} <= {*known}:
        renamed.setdefault("pmid", value)
        return ("pmid",)
    if (target := _find_parameter(snake, known, renamed)) is not None:
        is_number = type(value) is int or (isinstance(value, str) and value.strip().isdecimal())
        renamed[target] = f"pmid:{value}" if snake == "pmid" and is_number else value
        return (target,)
    for outer, inner in known.items():
        members = _drop_null_branch(inner).get("properties", {})
        held = renamed.get(outer) or {}
        if isinstance(held, dict) and (target := _find_parameter(snake, members, held)) is not None:
            renamed[outer] = {**held, target: value}
            return (outer,)
    renamed[name] = value
    return ()


def _find_parameter(name: str, known: Schema, taken: Mapping[str, Any]) -> str | None:
    """Return the parameter that *name* means, or None if it is unknown or already given."""
    if name in known:
        return None if name in taken else name
    for row in _ROWS_BY_NAME.get(name, ()):
        for other in row:
            if other in known and other not in taken:
                return other
    return None


def _to_snake_case(name: str) -> str:
    """Return a name in snake_case: ``maxResults`` and ``max-results`` become ``max_results``."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[\s-]+", "_", parted).strip("_").lower()


def _split_date_range(value: Any) -> tuple[Any, Any] | None:
    """Return both ends of a range of dates: ``2019``, ``"2019-2023"``, ``[2019, 2023]``."""
    if isinstance(value, list) and len(value) == 2:
        return value[0], value[1]
    if isinstance(value, str) and (
        both := re.fullmatch(r"\s*(\d{4}\S*?)\s*(?:-|–|:|\.\.|to)\s*(\d{4}\S*)\s*", value)
    ):
        return both[1], both[2]
    is_one = (isinstance(value, str) and value.strip()) or type(value) is int
    return (value, value) if is_one else None


def _sort_by_kind(arguments: dict[str, Any]) -> dict[str, Any]:
    """Move an identifier to the parameter of its kind, and drop words for "none"."""
    given = [
        name
        for name in _KIND_BY_PARAMETER
        if _fold_word(str(arguments.get(name, ""))) not in _NULL_WORDS
    ]
    if given:
        arguments = {
            name: value
            for name, value in arguments.items()
            if name in given or name not in _KIND_BY_PARAMETER
        }
    if len(given) != 1 or not isinstance(arguments[given[0]], str):
        return arguments
    text = arguments[given[0]]
    ids = Ids.maybe(text)
    kinds = [name for name, kind in _KIND_BY_PARAMETER.items() if getattr(ids, kind)]
    if not kinds or given[0] in kinds:
        return arguments
    rest = {name: value for name, value in arguments.items() if name != given[0]}
    return {**rest, kinds[0]: text}


# --- values ---------------------------------------------------------------------------------------


def _drop_null_branch(schema: Schema) -> Schema:
    """Return a schema without the branch that allows null."""
    branches = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    return branches[0] if len(branches) == 1 else schema


def _convert_value(value: Any, schema: Schema) -> Any:
    """Convert a value to the type that the schema requires, if the meaning is unambiguous."""
    schema = _drop_null_branch(schema)
    if "enum" in schema:
        return _match_choice(value, schema["enum"])
    fit = _CONVERTER_BY_TYPE.get(str(schema.get("type", "")))
    return fit(value, schema) if fit and value is not None else value


def _match_choice(value: Any, allowed: list[Any]) -> Any:
    """Return the value of a fixed set that a word means."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str) or value in allowed:
        return value
    folded = _fold_word(value)
    same = [one for one in allowed if _fold_word(str(one)) == folded]
    also = [one for one in _CHOICES_BY_WORD.get(folded, ()) if one in allowed]
    from_style = _to_citation_format(value)
    also += [from_style] if from_style and from_style in allowed else []
    return next(iter(same + also), value)


def _to_citation_format(value: str) -> str:
    from ..citations import STYLES, resolve_style_name

    try:
        return STYLES[resolve_style_name(value)]
    except BadRequest:
        return ""


def _fold_word(text: str) -> str:
    """Return a word in lower case without punctuation, for comparison."""
    return re.sub(r"[\W_]+", "", text).casefold()


def _to_number(value: Any, schema: Schema) -> Any:
    """Convert ``"7"``, ``"1,000"`` and ``7.0`` to numbers, and ``"7.5"`` if allowed."""
    if isinstance(value, str) and _WHOLE_NUMBER_PATTERN.fullmatch(text := value.strip()):
        return int(re.sub(r"[,_]|\.0+$", "", text))
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and schema["type"] == "number":
        plain = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*s?\s*", value, re.A)
        return float(plain[1]) if plain else value
    return value


def _to_boolean(value: Any, _schema: Schema) -> Any:
    """Convert ``"true"``, ``"no"`` and 1 to true or false."""
    if type(value) is int and value in (0, 1):
        return bool(value)
    word = value.strip().lower() if isinstance(value, str) else ""
    return word in _TRUE_WORDS if word in (*_TRUE_WORDS, *_FALSE_WORDS) else value


def _to_text(value: Any, schema: Schema) -> Any:
    """Convert a whole number, a list of one value or an identifier object to text."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    value = _unwrap_identifier(value)
    if type(value) is int:
        value = str(value)
    if isinstance(value, str) and schema.get("pattern", "").startswith("^pmid:"):
        spelled = re.fullmatch(r"\s*pmid\s*:?\s*([0-9]+)\s*", value, re.I | re.A)
        return f"pmid:{spelled[1]}" if spelled else value
    return value


def _unwrap_identifier(value: Any) -> Any:
    """Return the identifier in ``{"pmid": "31452104"}``, and any other value unchanged."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    [(name, inside)] = value.items()
    return inside if _to_snake_case(str(name)) in _PAPER_NAMES else value


def _to_list(value: Any, schema: Schema) -> Any:
    """Convert one value, or a text of several, to a list with typed items."""
    items = _drop_null_branch(schema.get("items", {}))
    inside = _decode_json(value)
    value = inside if isinstance(inside, list) else value
    if isinstance(value, str):
        of_texts = items.get("type") == "string"
        value = _split_values(value, items) if of_texts else [value] if value.strip() else []
    elif type(value) is int or isinstance(value, dict):
        value = [value]
    elif isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        parts = _SEPARATOR_PATTERN.split(value[0].strip()) if items.get("type") == "string" else []
        value = parts if len(parts) > 1 and all(map(Ids.maybe, parts)) else value
    return [_convert_value(one, items) for one in value] if isinstance(value, list) else value


def _split_values(text: str, items: Schema) -> list[str]:
    """Split a text into values; keep a DOI or a publication type with a comma whole."""
    if not text.strip():
        return []
    if len(text) > _LIST_TEXT_MAX_CHARS or Ids.maybe(text):
        return [text]
    if bracketed := re.fullmatch(r"\s*\[(.*)\]\s*", text, re.S):  # a list of Python's
        return [
            part.strip("'\"") for part in _SEPARATOR_PATTERN.split(bracketed[1].strip()) if part
        ]
    parts = [part for part in _SEPARATOR_PATTERN.split(text.strip()) if part]
    if "enum" in items:
        return parts
    if len(parts) < 2:
        parts = text.split()
        return parts if len(parts) > 1 and all(map(Ids.maybe, parts)) else [text]
    whole: list[str] = []
    for part in parts:
        if whole and _TYPE_CONTINUATION_PATTERN.match(part):
            whole[-1] += f", {part}"
        else:
            whole.append(part)
    return whole


def _to_object(value: Any, schema: Schema) -> Any:
    """Convert an object's members; a text becomes the only required member."""
    required = schema.get("required", ())
    inside = _decode_json(value)
    if isinstance(inside, dict) and {*required} <= {*inside}:
        value = inside
    if isinstance(value, str) and len(required) == 1 and value.strip():
        value = {required[0]: value}
    if not isinstance(value, dict):
        return value
    if "properties" in schema:
        return normalize_arguments(value, schema)
    of_each = schema.get("additionalProperties")
    if not isinstance(of_each, dict):
        return value
    return {name: _convert_value(one, of_each) for name, one in value.items()}


def _decode_json(value: Any) -> Any:
    """Decode a list or object that was sent as JSON text."""
    if (
        isinstance(value, str)
        and value.strip()[:1] in ("[", "{")
        and len(value) < _LIST_TEXT_MAX_CHARS
    ):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


_CONVERTER_BY_TYPE = {
    "integer": _to_number,
    "number": _to_number,
    "boolean": _to_boolean,
    "string": _to_text,
    "array": _to_list,
    "object": _to_object,
}


def to_bad_request(
    error: ValidationError, schema: Schema, written_names: Mapping[str, str] | None = None
) -> BadRequest:
    """Convert pydantic's error to a `BadRequest` that names each wrong argument of *schema*.

    *written_names* has the caller's names of parameters, by the schema's, where they differ.
    """
    count = error.error_count()
    if count > _MAX_ERRORS:  # the listing alone would keep everybody else waiting
        msg = f"The arguments break the input schema in {count:,} places."
        return BadRequest(msg, "Read the input schema and call again.")
    found = error.errors(include_url=False)
    looked_at = [
        (row, *_locate_error(row["loc"], schema, written_names or {}))
        for row in found[:_MAX_EXAMINED_ERRORS]
    ]
    # A value that fits none of several types gets one sentence, not one for each type.
    sentences = {name: _describe_error(row, name) for row, name, _ in reversed(looked_at)}
    shown = [*sentences.values()][::-1][:_MAX_SENTENCES]
    more = [f"{count - len(shown):,} more."] if len(sentences) > len(shown) else []
    unknown = (
        _suggest_name(row, around)
        for row, _, around in looked_at
        if row["type"] in _UNKNOWN_NAME_ERROR_TYPES
    )
    return BadRequest(" ".join([*shown, *more]), next(unknown, "Correct it and call again."))


def _locate_error(
    loc: Sequence[str | int], schema: Schema, written_names: Mapping[str, str]
) -> tuple[str, Schema]:
    """Return an argument's path as the caller wrote it (``citations[2].year``), and its schema.

    pydantic puts names of its own between the steps, such as those of the members of a union.
    """
    name, around, here = "", schema, schema
    for at, step in enumerate(loc):
        below = _find_subschema(here, step)
        if below is not None or at == len(loc) - 1:
            around, here = here, below or {}
            said = written_names.get(str(step), step) if at == 0 else step
            known = below is not None or "properties" in _remove_null_branch(around)
            name += (f"[{said}]" if isinstance(said, int) else f".{said}") if known else ""
    return name.removeprefix(".")[:_NAME_MAX_CHARS] or "The arguments", around


def _find_subschema(schema: Schema, step: str | int) -> Schema | None:
    """Return the schema of a member or an item, or None."""
    schema = _remove_null_branch(schema)
    found: Schema | None = schema.get("items") if isinstance(step, int) else None
    return found or dict(schema.get("properties", {})).get(str(step))


def _remove_null_branch(schema: Schema) -> Schema:
    """Return the schema without the branch that allows null."""
    branches = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    return branches[0] if branches else schema


def _describe_error(row: Mapping[str, Any], name: str) -> str:
    """Return a sentence that says what is wrong with one argument."""
    kind = row["type"]
    if kind in _MISSING_ERROR_TYPES:
        return f"{name} is missing."
    if kind in _UNKNOWN_NAME_ERROR_TYPES:
        return f"{name} is not an argument of this tool."
    if kind in ("value_error", "assertion_error"):
        return f"{name}: {row['msg'].partition(', ')[2]}"
    wanted = row["msg"].replace(" after validation", "").rstrip(".")
    subject, _, rest = wanted.partition(" should ")
    if kind in ("too_long", "too_short", "string_too_long", "string_too_short"):
        return f"{name} should {rest.split(', not ')[0]}; it has {len(row['input'])}."
    return f"{name} is {_value_repr.repr(row['input'])}; it should {rest or subject}."


def _suggest_name(row: Mapping[str, Any], schema: Schema) -> str:
    """Suggest the name nearest to an unknown one, else list the valid names."""
    names = [*_remove_null_branch(schema).get("properties", {})]
    if close := difflib.get_close_matches(str(row["loc"][-1])[:_NAME_MAX_CHARS], names, 1):
        return f"Did you mean {close[0]}?"
    return f"There are: {', '.join(names)}." if names else "It takes no arguments."
