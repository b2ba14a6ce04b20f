"""Search several sources at once, and merge their results into one list of papers.

`search` asks the sources and translates the query for them, `fused_results` merges and orders their
records, `same_paper` compares two of them. `site_search` asks one source.
"""
