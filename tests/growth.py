"""Whether work grows with its input, and not with the square of it, on a busy machine."""

import gc
from collections.abc import Callable
from math import inf
from time import process_time

_TRIES = 6
_LEAST_S = 0.005  # below it a clock tells little


def grows_linearly(work: Callable[[int], object], small: int, times: int, slack: float) -> bool:
    """Whether *times* as much input costs less than ``times * slack`` as much.

    Other work on the machine only ever adds to a cost, so the least of some tries counts. The
    collector of garbage, which walks through what all tests before have left, stays out of it.
    """
    little, much = inf, inf
    for _ in range(_TRIES):
        little, much = min(little, _cost(work, small)), min(much, _cost(work, small * times))
        if much < max(little, _LEAST_S) * times * slack:
            return True
    return False


def _cost(work: Callable[[int], object], size: int) -> float:
    gc.disable()
    try:
        began = process_time()
        work(size)
        return process_time() - began
    finally:
        gc.enable()
