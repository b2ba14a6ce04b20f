"""A process that dies at the n-th step of a change of the shelf."""

import os
from pathlib import Path

import pytest

from utils.shelf.catalogue import Catalogue


def die_at_step(monkeypatch: pytest.MonkeyPatch, at: int) -> list[int]:
    """Die at the n-th step of those that change a file or commit to the catalogue."""
    left = [at]

    def step() -> None:
        left[0] -= 1
        if left[0] == 0:
            os._exit(9)

    for name, module in (("replace", Path), ("unlink", Path)):
        real = getattr(module, name)

        def acted(self: Path, *args: object, _real: object = real, **kwargs: object) -> object:
            step()
            made = _real(self, *args, **kwargs)  # type: ignore[operator]
            step()
            return made

        monkeypatch.setattr(module, name, acted)
    real_put = Catalogue.write_entry

    def put(self: Catalogue, *args: object, **kwargs: object) -> int:
        step()
        made = real_put(self, *args, **kwargs)  # type: ignore[arg-type]
        step()
        return made

    monkeypatch.setattr(Catalogue, "write_entry", put)
    return left
