"""A labelled set of records: which are of the same paper, and which preprint is of which paper.

Distinct papers (recorded ones where they are beside the checkout, invented ones always) are
written down again the way databases do it, and set beside papers that only look the same.
"""
