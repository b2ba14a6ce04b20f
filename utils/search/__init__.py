"""One search across sources: asked side by side, merged into one list of papers.

`search` asks the sources and translates the query for them, `fused_results` merges and orders their
records, `same_paper` compares two of them. `site_search` asks one source.
"""
