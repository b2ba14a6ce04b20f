"""PDFs with tables of many kinds, half of them held out: how many rows come out whole."""
