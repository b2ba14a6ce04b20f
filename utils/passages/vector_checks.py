"""Checks of vectors before an index takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..command_line import command_line
from ..errors import InvariantFailed

if TYPE_CHECKING:
    from ..model.passage import Passage

_LENGTH_TOLERANCE = 1e-2  # some servers round what they send to half precision


def checked(vectors: Any, passages: Sequence[Passage], dim: int) -> NDArray[np.float32]:
    """*vectors* as float32, one normalised row of *dim* numbers for each passage.

    Raises
    ------
    InvariantFailed
        Another number of rows, another width, not a number, or not of length 1.
    """
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    if rows.shape != (len(passages), dim):
        msg = f"{len(passages)} passages need vectors of shape {(len(passages), dim)}"
        raise InvariantFailed(f"{msg}, not {rows.shape}.", _HINT, dim=dim)
    lengths = np.linalg.norm(rows, axis=1)
    if not bool(np.all(np.abs(lengths - 1.0) <= _LENGTH_TOLERANCE)):  # NaN is not within it
        raise InvariantFailed("A vector is not normalised.", _HINT, dim=dim)
    return rows


def checked_query(vector: Any, dim: int) -> NDArray[np.float32]:
    """The vector of a query, which must be as wide as those of the passages.

    Raises
    ------
    InvariantFailed
        Another width, or not finite.
    """
    row = np.ascontiguousarray(vector, dtype=np.float32)
    if row.shape != (dim,):
        msg = f"The query's vector has the shape {row.shape}, the index is {dim} wide."
        raise InvariantFailed(msg, _HINT, dim=dim)
    if not bool(np.isfinite(row).all()):
        raise InvariantFailed("The query's vector is not finite.", _HINT, dim=dim)
    return row


_HINT = f"Index again with the model that is set now: {command_line('corpus index')}."
