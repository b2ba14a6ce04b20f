"""Manage a systematic review as a folder: protocol, records and decisions.

This package covers the steps of a review from the question to the figure. ``lists`` reads the files
of screening programs, ``reports`` draws the figure, and ``harvest`` fetches the texts.
"""

from .review import Review, every_review, new_review, open_review

__all__ = ["Review", "every_review", "new_review", "open_review"]
