"""Answers a stand-in would never give: recorded ones, and ones that break their form."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from utils.http import Answer, Web


def answering(monkeypatch: pytest.MonkeyPatch, *bodies: object) -> list[dict[str, Any]]:
    """Let every request get the next of *bodies* (JSON unless text or bytes), the last for good.

    Returns the parameters of each request. Nothing is sent, and nothing asked again.
    """
    asked: list[dict[str, Any]] = []

    def ask(
        self: Web,
        url: str,
        params: Any = None,
        *,
        check: Callable[[Answer], object] | None = None,
        **options: object,
    ) -> Answer:
        body = bodies[min(len(asked), len(bodies) - 1)]
        asked.append(dict(params or {}))
        raw = body if isinstance(body, bytes) else _text(body).encode()
        answer = Answer(200, url, raw)
        if check:
            check(answer)
        return answer

    monkeypatch.setattr(Web, "get", ask)
    monkeypatch.setattr(Web, "post", ask)
    return asked


def _text(body: object) -> str:
    return body if isinstance(body, str) else json.dumps(body)


HOSTILE: tuple[object, ...] = (
    "", "null", "7", '"text"', "[]", "{}", "[" * 50_000, b"\xff\xfe\x00", "<html>busy</html>",
    {"error": "x"}, {"ERROR": ["x"]}, {"result": 3}, {"result": {"uids": 3}},
    {"result": {"uids": ["1", 2, None], "1": 4, "2": {"authors": 7, "articleids": [1]}}},
    {"esummaryresult": ["Empty id list - nothing todo"]},
    {"linksets": 5}, {"linksets": [1, {"linksetdbs": "x"}]},
    {"linksets": [{"linksetdbs": [{"linkname": "pubmed_pubmed", "links": [None, {}, "<b>"]}]}]},
    {"einforesult": []}, {"einforesult": {"dbinfo": []}},
    {"einforesult": {"dbinfo": [{"count": 1, "fieldlist": 2}]}},
    {"esearchresult": {"idlist": "12", "count": "1"}}, {"esearchresult": {"idlist": []}},
    {"referenceList": {"reference": 3}}, {"referenceList": {"reference": [3, {"id": {}}]}},
    {"hitCount": "many", "referenceList": {}}, {"errCode": 404, "errMsg": "\x1b[2J"},
    "<eSpellResult><CorrectedQuery><b>x</b></CorrectedQuery></eSpellResult>",
    "<PubmedArticleSet><PubmedArticle/></PubmedArticleSet>", "a|b|c", "|||||0|", "1|2\r3|4|99|5",
)  # fmt: skip
