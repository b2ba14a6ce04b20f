"""A systematic review as a folder: its protocol, its records, and all that was decided of them.

Belongs here: what is done with a review from the question to the figure. How a program's file is
read is in ``lists``, how a figure is drawn in ``reports``, how texts are fetched in ``harvest``.
"""

from .review import Review, every_review, new_review, open_review

__all__ = ["Review", "every_review", "new_review", "open_review"]
