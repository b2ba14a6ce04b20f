"""Manuscripts with planted faults: how many of them `check` finds."""
