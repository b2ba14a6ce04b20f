"""The machine: files, locks, SQLite, the running process, and clean text."""
