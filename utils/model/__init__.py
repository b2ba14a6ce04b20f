"""The nouns: identifiers, papers and their versions, verdicts, sites, passages, jobs."""
