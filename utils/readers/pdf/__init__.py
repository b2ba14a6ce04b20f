"""PDFs as markdown: the `reader`, and what its child process knows of printed pages.

Nothing is imported here, so that the child starts with what it needs alone.
"""
