"""Datasets: large results staged into tables that are asked in SQL instead of being read."""
