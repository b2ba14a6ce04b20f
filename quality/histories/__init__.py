"""Harvests, syncs, indexes and mirrors killed at random, and years of them: what is kept is whole."""
