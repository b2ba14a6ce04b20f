"""A manuscript before it is submitted: whether what it cites is and says what it says.

Readers make sentences with their places, citations and a list of references out of a file
(`reading`). Then every reference is held against its record (`references`), every quotation against
the cited text (`quotations`), every number against the passages about the same thing (`numbers`).
No language model is asked. What could not be found out is said as that, and no sentence is called
false: whoever wrote it is shown the passage that comes nearest.
"""
