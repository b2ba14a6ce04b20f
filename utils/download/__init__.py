"""Download papers by identifier. Start at `.download`; `.climb` decides each step of a paper.

`.records` looks up the paper, `.ladder` asks the sources in order, reads, judges and saves the
text, and `.pdfs` fetches PDF files of papers that are on the shelf.
"""
