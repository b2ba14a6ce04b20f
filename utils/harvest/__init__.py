"""Harvests: download thousands of papers, with a ledger from which a killed harvest resumes.

Start at `.jobs`, which creates, finds and resumes harvests. `.plan` estimates one before it begins,
`.searches` makes its list of papers, `.bulk` downloads them in `.lanes`, `.run_status` reports the
progress, `.background` runs harvests in a server, and `.corpus_lock` repeats one from a lock file.
"""
