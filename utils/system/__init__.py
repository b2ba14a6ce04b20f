"""Access to the machine: files, locks, SQLite, the running process, and clean text."""
