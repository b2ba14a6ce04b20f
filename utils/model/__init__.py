"""The data classes: identifiers, papers and their versions, verdicts, sites, passages, jobs."""
