"""Statements planted to test `check`: true ones, and false ones of known kinds."""
