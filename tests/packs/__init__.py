"""Packs: references with their PDF files, for other programs."""
