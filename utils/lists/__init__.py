"""Lists of papers as people bring them: pasted identifiers, tables, reference managers' files."""
