"""PubMed: search, slices of long queries, details, relations, matching, MeSH, spelling."""
