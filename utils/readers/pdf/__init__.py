"""PDFs as markdown: the `reader`, and what its child process knows of printed pages.

This package imports nothing, so that the child process imports only what it needs.
"""
