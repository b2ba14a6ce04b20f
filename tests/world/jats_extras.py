"""Parts of an article that the demo does not show."""

from utils.demo.jats import EXTRAS

# As Springer Nature's articles in PMC have it.
_SUPPLEMENT = (
    '<supplementary-material content-type="local-data" id="MOESM1"><media xlink:href="counts_MOESM1'
    '_ESM.csv"><label>Additional file 1:</label><caption><p>Counts by slice. (CSV 1 kb)</p>'
    "</caption></media></supplementary-material>"
)
_BOX = (
    "<boxed-text><caption><title>Box 1. In short</title></caption><p>What the reader should keep "
    "in mind is that the order of events was the same in every sample.</p></boxed-text>"
)
_GREEK = (
    "<p>Values of Δψ and of TGF-β<sub>1</sub> are given as α ± σ; 10<sup>−3</sup> M was the "
    "highest dose.</p>"
)

EXTRAS |= {"box": _BOX, "greek": _GREEK, "supplement": _SUPPLEMENT}
