"""The behaviours that are broken: where each promise is kept, and how it is broken."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class Stale(Exception):
    """The source no longer holds the words that a breakage replaces."""


@dataclass(frozen=True)
class Breakage:
    """One promise, and the change that breaks it.

    Parameters
    ----------
    promise : str
        What the product promises.
    file : str
        The module that keeps the promise.
    words, replacement : str
        Words that occur once in the module, and what replaces them.
    tests : tuple of str
        The folders and files whose tests are to notice.
    """

    promise: str
    file: str
    words: str
    replacement: str
    tests: tuple[str, ...]

    def apply(self, checkout: Path) -> str:
        """Break the promise in *checkout*; return the module's text as it was.

        Raises
        ------
        Stale
            The module is gone, or does not hold the words exactly once.
        """
        path = checkout / self.file
        if not path.exists():
            msg = f"{self.file} is gone"
            raise Stale(msg)
        text = path.read_text(encoding="utf-8")
        if (times := text.count(self.words)) != 1:
            msg = f"{self.file} holds {self.words.strip()!r} {times} times, not once"
            raise Stale(msg)
        path.write_text(text.replace(self.words, self.replacement), encoding="utf-8")
        return text


_HTTP = ("tests/http",)
_SHELF = ("tests/shelf",)

BREAKAGES = (
    Breakage(
        "Retry-After is obeyed",
        "utils/http/retry.py",
        "return max(0.0, float(value)) if",
        "return 0.0 * float(value) if",
        _HTTP,
    ),
    Breakage(
        "a site is not asked faster than its rate limit",
        "utils/http/rate_limiter.py",
        "        sleep_unless_cancelled(self._reserve_turn(name, interval))\n",
        "        self._reserve_turn(name, interval)\n",
        _HTTP,
    ),
    Breakage(
        "links into private networks are not followed",
        "utils/http/address_policy.py",
        '    ip = ip_address(address.partition("%")[0])\n',
        '    return True\n    ip = ip_address(address.partition("%")[0])\n',
        _HTTP,
    ),
    Breakage(
        "a redirect to another host does not carry a key",
        "utils/http/address_policy.py",
        "    if not _is_on_same_server(hop.url, target):\n",
        "    if False:\n",
        _HTTP,
    ),
    Breakage(
        "pages that a site closes to programs are not requested",
        "utils/http/address_policy.py",
        "return not closed or any(",
        "return True or any(",
        _HTTP,
    ),
    Breakage(
        "an address that is shown contains no key",
        "utils/http/messages.py",
        "    if has_secrets(query):\n",
        "    if False:\n",
        (*_HTTP, "tests/test_key_leaks.py"),
    ),
    Breakage(
        "a compressed answer is bounded after it is unpacked",
        "utils/http/transport.py",
        "if max(size, taken) > limit:",
        "if taken > limit:",
        _HTTP,
    ),
    Breakage(
        "no request is sent offline",
        "utils/http/session.py",
        "        if self.settings.papers_offline:\n",
        "        if False:\n",
        (*_HTTP, "tests/download"),
    ),
    Breakage(
        "an answer in the journal is not requested again",
        "utils/http/session.py",
        "answer = self.journal.find_usable_answer(name)",
        "answer = None",
        (*_HTTP, "tests/harvest"),
    ),
    Breakage(
        "two threads do not hold one lease",
        "utils/http/locks.py",
        "free = set(names) - self._ours",
        "free = set(names)",
        _HTTP,
    ),
    Breakage(
        "a login page or captcha is not accepted as a paper",
        "utils/judges/walls.py",
        "    return tuple(found)\n",
        "    return ()\n",
        ("tests/judges", "tests/readers"),
    ),
    Breakage(
        "part II of a series is not part I",
        "utils/judges/identity.py",
        "if likeness.title_difference.marks or likeness.body_mismatch_sign:",
        "if likeness.body_mismatch_sign:",
        ("tests/judges",),
    ),
    Breakage(
        "a text with another DOI is not this paper",
        "utils/judges/identity.py",
        "clash = document.ids.clash(paper.ids)\n    if not clash",
        'clash = ""\n    if not clash',
        ("tests/judges", "tests/download"),
    ),
    Breakage(
        "a preprint about one trial is not linked to another trial",
        "utils/search/same_paper.py",
        "if preprint.distinctive_marks != published.distinctive_marks or",
        "if",
        ("tests/search",),
    ),
    Breakage(
        "a retraction stated by the text is recorded",
        "utils/shelf/record.py",
        "if document.retracted or fetched.retracted:",
        "if False:",
        ("tests/shelf", "tests/download"),
    ),
    Breakage(
        "a site that did not answer is not shown as no match",
        "utils/search/resolve.py",
        "    if one.silent:\n",
        "    if False:\n",
        ("tests/search",),
    ),
    Breakage(
        "an unreachable site is asked again soon, an absent paper is not",
        "utils/model/paper.py",
        'INCONCLUSIVE = frozenset({"unreachable", "failed"})',
        'INCONCLUSIVE = frozenset({"failed"})',
        ("tests/download", "tests/harvest"),
    ),
    Breakage(
        "a harvest reports papers it could not look up as such",
        "utils/harvest/bulk.py",
        'return "could_not_tell" if isinstance(error, Unreachable) else "bad_request"',
        'return "bad_request"',
        ("tests/harvest",),
    ),
    Breakage(
        "a line break in a title does not end the header of a file",
        "utils/shelf/paper_file.py",
        "key: one_line(value)",
        "key: value",
        _SHELF,
    ),
    Breakage(
        "a file is written whole or not at all",
        "utils/system/safe_files.py",
        "        write_flushed_file(part, data)\n        replace_file(part, path)\n",
        "        path.write_bytes(data)\n",
        (*_SHELF, "tests/system"),
    ),
    Breakage(
        "a text that the disk cut is made again",
        "utils/shelf/reconciliation.py",
        'return b"\\0" in data or',
        "return False and",
        _SHELF,
    ),
    Breakage(
        "a quotation is matched with the paper's text, not with our header",
        "utils/shelf/paper_file.py",
        "    return found.body if found else text\n",
        "    return text\n",
        (*_SHELF, "tests/corpus"),
    ),
    Breakage(
        "a title does not run as a formula in a spreadsheet",
        "utils/system/plain_text.py",
        'return f"\'{text}" if text.startswith(_FORMULA_STARTS) else text',
        "return text",
        (*_SHELF, "tests/reports"),
    ),
    Breakage(
        "a full disk has its own exit status",
        "utils/cli/output.py",
        "    if NOT_STORED in statuses:\n        return NOT_STORED\n",
        "",
        ("tests/cli",),
    ),
    Breakage(
        "a file of PubMed with another MD5 is rejected",
        "utils/sources/pubmed_files.py",
        "    if came != md5:\n",
        "    if False:\n",
        ("tests/mirror/test_pubmed.py",),
    ),
    Breakage(
        "a reference in RIS has its DOI",
        "utils/citations/__init__.py",
        '        ("DO", item.get("DOI", "")),\n',
        "",
        ("tests/citations",),
    ),
    Breakage(
        "a SQL statement cannot write into a dataset",
        "utils/entrez/datasets/sql_child.py",
        "        self.denied = True\n        return sqlite3.SQLITE_DENY\n",
        "        return sqlite3.SQLITE_OK\n",
        ("tests/entrez/datasets",),
    ),
    Breakage(
        "a token without an end is refused",
        "utils/mcp/auth.py",
        "    if not isinstance(ends, int | float) or not isinstance(begins, int | float):\n",
        "    ends = now + 1 if ends is None else ends\n    if False:\n",
        ("tests/mcp/test_auth.py",),
    ),
    Breakage(
        "text from papers is marked as untrusted for models",
        "utils/mcp/answers.py",
        r'return f"<{mark}>\n{text}\n</{mark}>"',
        "return text",
        ("tests/mcp/test_rendering.py", "tests/mcp/test_core.py"),
    ),
    Breakage(
        "screeners who disagree do not decide",
        "utils/review/standing.py",
        'if "exclude" in choices and len(choices) > 1:',
        "if False:",
        ("tests/review",),
    ),
)
