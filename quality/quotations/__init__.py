"""Quotations made of real sentences, with or without one change: how many are judged rightly."""
