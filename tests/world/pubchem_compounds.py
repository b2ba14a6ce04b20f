"""Some compounds as PubChem describes them, and a crowd of invented ones."""

from dataclasses import dataclass
from typing import Any, ClassVar

CROWD = (900_000_001, 900_001_201)
"""The first CID of the crowd, and the one behind its last."""


@dataclass(frozen=True)
class Known:
    """One compound; masses are sent as text, as PubChem does since 2021.

    ``flat`` is its SMILES without stereochemistry, ``drawings`` are other SMILES of it; ``like``
    are the CIDs a similarity search finds besides itself, ``holds`` the flat SMILES of its parts;
    ``papers``: so many papers of the world are about it.
    """

    PROPERTIES: ClassVar[tuple[str, ...]] = (
        "Title", "MolecularFormula", "MolecularWeight", "ExactMass", "IUPACName", "SMILES",
        "ConnectivitySMILES", "InChI", "InChIKey", "XLogP", "TPSA", "Complexity", "Charge",
        "HBondDonorCount", "HBondAcceptorCount", "RotatableBondCount", "HeavyAtomCount",
    )  # fmt: skip

    cid: int
    names: tuple[str, ...]
    formula: str
    weight: str
    exact: str
    iupac: str
    smiles: str
    inchi: str
    inchikey: str
    # XLogP, TPSA, complexity, charge, donors, acceptors, rotatable bonds, heavy atoms
    numbers: tuple[float | None, ...]
    flat: str = ""
    drawings: tuple[str, ...] = ()
    like: tuple[int, ...] = ()
    holds: tuple[str, ...] = ()
    papers: int = 0

    def properties(self) -> dict[str, Any]:
        """By PubChem's names; what is not known is left out."""
        words = (self.names[0], self.formula, self.weight, self.exact, self.iupac, self.smiles)
        values = (*words, self.flat or self.smiles, self.inchi, self.inchikey, *self.numbers)
        named = dict(zip(self.PROPERTIES, values, strict=True))
        return {name: value for name, value in named.items() if value is not None}


_BENZENE = "C1=CC=CC=C1"
_LACTIC = "InChI=1S/C3H6O3/c1-2(4)3(5)6/h2,4H,1H3,(H,5,6)"

COMPOUNDS = {
    known.cid: known
    for known in (
        Known(2244, ("Aspirin", "acetylsalicylic acid", "50-78-2", "2-Acetoxybenzoic acid",
            "Ecotrin"), "C9H8O4", "180.16", "180.04225873", "2-acetyloxybenzoic acid",
            "CC(=O)OC1=CC=CC=C1C(=O)O",
            "InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7(8)9(11)12/h2-5H,1H3,(H,11,12)",
            "BSYNRYMUTXBXSQ-UHFFFAOYSA-N", (1.2, 63.6, 212, 0, 1, 4, 3, 13),
            flat="CC(=O)OC1=CC=CC=C1C(=O)O", drawings=("CC(=O)Oc1ccccc1C(=O)O",), like=(338,),
            holds=(_BENZENE, "C1=CC=C(C(=C1)C(=O)O)O"), papers=30),
        Known(338, ("Salicylic Acid", "2-Hydroxybenzoic acid", "69-72-7", "o-hydroxybenzoic acid"),
            "C7H6O3", "138.12", "138.03169405", "2-hydroxybenzoic acid", "C1=CC=C(C(=C1)C(=O)O)O",
            "InChI=1S/C7H6O3/c8-6-4-2-1-3-5(6)7(9)10/h1-4,8H,(H,9,10)",
            "YGSDEFSMJLZEOE-UHFFFAOYSA-N", (2.3, 57.5, 133, 0, 2, 3, 1, 10),
            flat="C1=CC=C(C(=C1)C(=O)O)O", like=(2244,), holds=(_BENZENE,)),
        Known(2519, ("Caffeine", "58-08-2", "Guaranine", "1,3,7-Trimethylxanthine", "Theine"),
            "C8H10N4O2", "194.19", "194.08037557", "1,3,7-trimethylpurine-2,6-dione",
            "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
            "InChI=1S/C8H10N4O2/c1-10-4-9-6-5(10)7(13)12(3)8(14)11(6)2/h4H,1-3H3",
            "RYYVLZVUVIJVGH-UHFFFAOYSA-N", (-0.1, 58.4, 293, 0, 0, 3, 0, 14),
            flat="CN1C=NC2=C1C(=O)N(C(=O)N2C)C", drawings=("Cn1cnc2c1c(=O)n(C)c(=O)n2C",)),
        Known(702, ("Ethanol", "ethyl alcohol", "64-17-5", "alcohol"), "C2H6O", "46.07",
            "46.041864811", "ethanol", "CCO", "InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3",
            "LFQSCWFLJHTTHZ-UHFFFAOYSA-N", (-0.1, 20.2, 2, 0, 1, 1, 0, 3), flat="CCO"),
        Known(8254, ("Dimethyl Ether", "methoxymethane", "115-10-6"), "C2H6O", "46.07",
            "46.041864811", "methoxymethane", "COC", "InChI=1S/C2H6O/c1-3-2/h1-2H3",
            "LCGLNKUTAGEVQW-UHFFFAOYSA-N", (0.1, 9.2, 2, 0, 0, 1, 0, 3), flat="COC"),
        Known(612, ("Lactic Acid", "2-hydroxypropanoic acid", "50-21-5", "milk acid"), "C3H6O3",
            "90.08", "90.031694049", "2-hydroxypropanoic acid", "CC(C(=O)O)O", _LACTIC,
            "JVTAAEKCZFNVCJ-UHFFFAOYSA-N", (-0.7, 57.5, 59.1, 0, 2, 3, 1, 6), flat="CC(C(=O)O)O",
            like=(61503, 107689)),
        Known(107689, ("L-Lactic Acid", "(S)-2-hydroxypropanoic acid", "79-33-4", "milk acid"),
            "C3H6O3", "90.08", "90.031694049", "(2S)-2-hydroxypropanoic acid", "C[C@@H](C(=O)O)O",
            f"{_LACTIC}/t2-/m0/s1", "JVTAAEKCZFNVCJ-REOHCLBHSA-N", (-0.7, 57.5, 59.1, 0, 2, 3, 1,
            6), flat="CC(C(=O)O)O", like=(612, 61503)),
        Known(61503, ("D-Lactic Acid", "(R)-2-hydroxypropanoic acid", "10326-41-7"), "C3H6O3",
            "90.08", "90.031694049", "(2R)-2-hydroxypropanoic acid", "C[C@H](C(=O)O)O",
            f"{_LACTIC}/t2-/m1/s1", "JVTAAEKCZFNVCJ-UWTATZPHSA-N", (-0.7, 57.5, 59.1, 0, 2, 3, 1,
            6), flat="CC(C(=O)O)O", like=(612, 107689)),
    )
}  # fmt: skip


def compound(cid: int) -> Known | None:
    """A compound, also one of the crowd: chains of which nobody counted anything."""
    if not CROWD[0] <= cid < CROWD[1]:
        return COMPOUNDS.get(cid)
    number = cid - CROWD[0] + 6
    chain = "C" * number
    mass = f"{14.0266 * number + 2.016:.2f}"
    formula = f"C{number}H{2 * number + 2}"
    return Known(cid, (f"chain {number}",), formula, mass, mass, "", chain, "", "", (None,) * 8)
