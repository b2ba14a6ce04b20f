"""Score Papershelf on public data sets that carry labels made by others.

Each module is one task and one command (``python -m quality.public.TASK FILE…``). The data are not
kept here: the module's docstring says where each set is published and under which licence. A set
is split once; what was tuned on one part is scored on the other part, which nobody looked at.
"""
