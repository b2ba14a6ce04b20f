"""Check a manuscript before submission: its references, and the elements of its statements.

Readers turn a file into sentences with their places, citations and a list of references
(`reading`). Then every reference is compared with its record (`references`), and every quotation
and number with the passages of the cited text (`claims`).
No language model is used. A check without an answer is reported as such, and no sentence is called
false: the author is shown the nearest passage.
"""
