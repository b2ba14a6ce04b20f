"""Entrez: NCBI's databases behind one set of questions."""
