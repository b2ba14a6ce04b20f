"""Harvests: whole corpora, by the thousand, through a ledger that survives anything.

From the top: `corpus_lock`; `jobs` and `plan` (which harvest is meant, what it would take); `bulk`
(the work itself); `lanes`, `outages` and `progress`, on which it stands.
"""
