"""Convert PDFs to markdown. Start at `.reader`; PDFium runs in a child process (`.child`).

- Pages: `.page` reads the lines of a page (`.lines`, `.words`, `.characters`, `.native`).
- Tables: `.page` decides whether a page is searched, `.tables` and `.unnamed` find the areas,
  `.captions`, `.rules` and `.frames` are their signs, `.rows`, `.grid` and `.table_heads` build the
  cells, `.notes` and `.parts` complete a table, and `.trust` decides whether it is kept.
- Text: `.layout` puts the lines in order; `.margins`, `.contents`, `.headings`, `.run_ins`,
  `.joining`, `.references` and others mend what print does to a text.
- Letters: `.ciphers`, `.glyphs`, `.ligatures` and `.doubts` mend or report damaged letters.
- `.positioned_lines` gives lines with their places, and `.ocr` reads scans (extra ``ocr``).

This package imports nothing, so that the child process imports only what it needs.
"""
