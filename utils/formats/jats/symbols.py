r"""The signs of mathematics and their names in LaTeX.

Only commands that plain LaTeX with amsmath, KaTeX and MathJax all know. A sign that is not listed
stays what it is; the renderers read Unicode.
"""

from __future__ import annotations

import re
from typing import Final

_GREEK: Final = (
    "α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota "
    "κ kappa λ lambda μ mu µ mu ν nu ξ xi π pi ϖ varpi ρ rho ϱ varrho σ sigma ς varsigma τ tau "
    "υ upsilon φ varphi ϕ phi χ chi ψ psi ω omega Γ Gamma Δ Delta ∆ Delta Θ Theta Λ Lambda Ξ Xi "
    "Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega"
)
_SIGNS: Final = (
    "× times ÷ div ± pm ∓ mp · cdot ⋅ cdot ∙ cdot ∗ ast ≤ leq ⩽ leq ≥ geq ⩾ geq ≠ neq ≈ approx "
    "≅ cong ≃ simeq ∼ sim ≡ equiv ∝ propto ≪ ll ≫ gg < lt > gt → to ← leftarrow ↔ leftrightarrow "
    "⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ↦ mapsto ⟶ longrightarrow ⇌ rightleftharpoons "
    "↑ uparrow ↓ downarrow ∈ in ∉ notin ∋ ni ⊂ subset ⊆ subseteq ⊃ supset ⊇ supseteq ∪ cup ∩ cap "
    "∅ emptyset ∖ setminus ∀ forall ∃ exists ¬ neg ∧ wedge ∨ vee ⊕ oplus ⊗ otimes ∘ circ ∑ sum "
    "∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint ∂ partial ∇ nabla ∞ infty √ surd ′ prime … ldots "
    "⋯ cdots ⋮ vdots ⋱ ddots ℓ ell ℏ hbar ℜ Re ℑ Im ∠ angle ⊥ perp ∥ parallel ⟂ perp ⟨ langle "
    "⟩ rangle ⌊ lfloor ⌋ rfloor ⌈ lceil ⌉ rceil ⋃ bigcup ⋂ bigcap | vert ∣ mid ‖ Vert ∴ therefore "
    "∵ because ⊤ top ⊢ vdash ⊨ models † dagger ‡ ddagger"
)


def pairs(text: str) -> dict[str, str]:
    """Words by the words before them.

    >>> pairs("α alpha β beta")
    {'α': 'alpha', 'β': 'beta'}
    """
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


SYMBOLS: Final[dict[str, str]] = {
    **{sign: f"\\{name}" for sign, name in pairs(f"{_GREEK} {_SIGNS}").items()},
    "−": "-",
    "‐": "-",
    "–": "-",
    "″": r"\prime\prime",
    "°": r"^{\circ}",
    "%": r"\%",
    "#": r"\#",
    "&": r"\&",
    "$": r"\$",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "\\": r"\backslash",
    "~": r"\sim",
    "^": r"\hat{}",
    "ℝ": r"\mathbb{R}",
    "ℕ": r"\mathbb{N}",
    "ℤ": r"\mathbb{Z}",
    "ℚ": r"\mathbb{Q}",
    "ℂ": r"\mathbb{C}",
    # Invisible signs: function application, times, separator, plus; zero width; byte order mark.
    **dict.fromkeys("\u2061\u2062\u2063\u2064\u200b\ufeff", ""),
    **dict.fromkeys("\u00a0\u2009\u2003\u2002\u200a\u202f\u2005\u2004", r"\ "),
}

FUNCTIONS: Final[dict[str, str]] = {
    name: f"\\{name}"
    for name in re.findall(
        r"\w+",
        "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan exp log ln lg lim max "
        "min sup inf det dim ker gcd deg arg limsup liminf Pr",
    )
}
