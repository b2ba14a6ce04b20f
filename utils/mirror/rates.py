"""Measured rates, by which plans reckon until a machine has its own: all in one place.

Seconds are those of one core, measured on two cores that others used, too; how: `benchmarks`
(README, the module named with each). A machine with many times the work it has cores for takes up
to twice as long.
"""

from __future__ import annotations

PUBMED_BYTES = 2.4e6
"""Packed bytes of PubMed's files that are parsed, cut and written a second (`mirror`)."""
PUBMED_PARTS = 0.85
"""Bytes of parts for each of them."""
PUBMED_PASSAGES = 0.0007
"""Passages that count for each packed byte: 45 million of 64 GB, repeated ones aside."""
PMC_ARTICLE_BYTES = 20_000.0
"""Packed bytes of an article's JATS and metadata (`mirror_pmc`)."""
PMC_ARTICLE_S = 0.017
"""Seconds to read, judge, cut and write an article (`mirror_pmc`)."""
PMC_PARTS = 1.5
"""Bytes of parts for each byte of an article's."""
PMC_REQUESTS = 16
"""Requests to PMC's Cloud Service a second: the limit that we keep, on any number of cores."""
WORDS = 2_350.0
"""Passages of 160 words that are indexed by words a second (`mirror_search`)."""
WORDS_BYTES = 1_100.0
"""Bytes of that index for each."""
VECTORS = 50.0
"""Passages that the encoder of 384 numbers reads a second (`mirror_recall`)."""
VECTORS_BYTES = 458.0
"""Bytes of a vector of 384 numbers, its signs and its key, as a mirror keeps them."""
CITATIONS = 1.0e6
"""Edges read and put together in both orders, a second of one core (`mirror_citations`)."""
CITATIONS_BYTES = 14.6
"""Bytes of an edge: NIH's pairs, and the files in both orders."""
CITATIONS_EDGES = 870_000_000
"""Edges there are, until a mirror has counted its own."""
DOWN_BYTES = 12.5e6
"""Bytes a second of the line to NLM that is assumed: 100 Mbit/s."""
