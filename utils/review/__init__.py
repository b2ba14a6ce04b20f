"""Manage a systematic review as a folder: protocol, records and decisions.

This package covers the steps of a review from the question to the figure. ``lists`` reads the files
of screening programs, ``reports`` draws the figure, and ``harvest`` fetches the texts.
"""

from .review import Review, create_review, list_reviews, open_review

__all__ = ["Review", "create_review", "list_reviews", "open_review"]
