"""Judges of a text: `.check` decides whether the text is the whole paper, and this paper.

`..readers.read_and_judge` calls them for each text that is read.

Three outcomes (`..model.verdicts.verdict_to_outcome`):

- *whole*: verdict ``full_text``.
- *whole, with doubts*: verdict ``doubtful``. The text is kept as full text. Header, record, lists
  and reports show the doubts, and a later download asks for a better copy.
- *not the whole paper*: every other verdict. The bytes go to quarantine.

How to add a sign
-----------------
A sign is one reason to doubt a text: a `..model.verdicts.Sign` with a name, a weight, a
description and the verdict if the sign refuses. A finder is a function that takes a
`.signs.JudgedCase` (text, record, abstract and the `.evidence.Evidence`) and yields signs::

    def find_garbage_signs(case: JudgedCase) -> Iterator[Sign]:
        if (share := share_of_rare_words(case.document.markdown)) > GARBAGE_RARE_SHARE:
            yield Sign("garbage", REFUSE, f"{share:.0%} of the long words occur once", "scanned")

Enter the finder in `.check.FINDERS`. `.signs.weigh_signs` adds the weights of all signs of a text:

- ``REFUSE``: this sign refuses the text alone. No whole paper shows such a sign.
- ``DOUBT``: alone, the text is kept with doubts; two refuse together.
- ``WEAK`` and ``HINT``: alone, nothing follows; two weak signs weigh more than one doubt.
- ``NOTHING``: measured, but never counted; for signs that are being tried in the lab.

A sign with ``only_doubts=True`` never takes part in a refusal, whatever else speaks against the
text. The strongest sign's ``verdict`` names a refusal. A verdict's evidence lists the three
strongest signs.

Readers in `..readers` put signs that only they can see into ``Document.signs``. `.comparison` finds
signs in what the shelf and earlier routes have: other copies, the journal's other papers. Doubts
about the identity of a text go into ``Identity.signs`` (`.identity.judge_identity`), and are
weighed with all others. Thresholds are named constants with their unit, and comments that say where
they were measured.
"""
