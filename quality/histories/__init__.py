"""Harvests, syncs, indexes and mirrors, killed at random for years: what is kept is whole."""
