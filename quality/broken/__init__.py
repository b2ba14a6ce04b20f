"""Promised behaviours, broken on purpose one at a time: which tier of the tests notices each?

``uv run python -m quality.broken --write`` breaks all of them, each in a copy of the checkout, and
writes the table of ``README.md``. `breakages` lists them.
"""
