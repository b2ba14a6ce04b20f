"""One search across sources: asked side by side, merged into one list of papers.

`search` asks, `fused_results` orders, `families` and `same_paper` tell which records are one
paper, `likeness` how alike two are, `merged_record` what the one record says, `bare_query` what of
PubMed's language others understand.
"""
