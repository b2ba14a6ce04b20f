"""The figures of a harvest, turned into files people look at.

Belongs here: what draws, words or tabulates a `Job` and its papers. Nothing in this room asks a
site, opens a database or reads an argument: it is handed rows and a folder.
"""
