"""Harvests: whole corpora, by the thousand, through a ledger that survives anything.

From the top: `corpus_lock`; `jobs` and `plan` (which harvest is meant, what it would
take); `bulk` (the work itself); `run_status` and `lanes`, on which it stands.
"""
