"""What the machine gives: files, SQLite, signals, clocks, and the hygiene of texts."""
