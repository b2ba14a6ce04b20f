"""Statements about articles, planted to test `check`: true ones, and false ones of known kinds.

| set | who wrote it | cited texts |
|---|---|---|
| A | a program (`.turn_sentences`), written before its author read `check` | articles in JATS |
| B | another engineer, not the author of the code | nine abstracts of PubMed, not kept here |
| C | another engineer, not the author of the code | ten abstracts (CC BY), ``abstracts.json`` |
| D | another engineer, not the author of the code | seven abstracts (CC BY), ``abstracts.json`` |

B, C and D were written by hand, each by another engineer, from the cited text alone. C and D are in
``statements_c.jsonl`` and ``statements_d.jsonl``. B needs a folder with records of PubMed.

B and C were scored before any mending, and D after mending what they showed.
"""
