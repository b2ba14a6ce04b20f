"""Pairs of a text and a record: near pairs are of two papers, true pairs of one.

``near_tuning`` holds the kinds that the rules were written with, ``near_held_out`` those written
before the rules and only counted. Articles are divided, too: no article is in both halves.
"""
