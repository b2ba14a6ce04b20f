"""What somebody means who asks for a compound."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.entrez.compounds import KINDS, LARGEST_CID, parse_compound_query
from utils.errors import BadRequest


@pytest.mark.parametrize(
    ("text", "kind", "read"),
    [
        ("2244", "cid", "2244"),
        (" CID: 02244 ", "cid", "2244"),
        ("PubChem CID 2244", "cid", "2244"),
        ("https://pubchem.ncbi.nlm.nih.gov/compound/2244", "cid", "2244"),
        ("2244, 338;2244 702", "cid", "2244,338,2244,702"),
        ("CID 2244, CID 338", "cid", "2244,338"),
        (str(LARGEST_CID), "cid", str(LARGEST_CID)),
        ("InChI=1S/CH4/h1H4", "inchi", "InChI=1S/CH4/h1H4"),
        ("bsynrymutxbxsq-uhfffaoysa-n", "inchikey", "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"),
        ("InChIKey=BSYNRYMUTXBXSQ-UHFFFAOYSA-N", "inchikey", "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"),
        ("C9H8O4", "formula", "C9H8O4"),
        ("CHCl3", "formula", "CHCl3"),
        ("CC(=O)Oc1ccccc1C(=O)O", "smiles", "CC(=O)Oc1ccccc1C(=O)O"),
        ("C[C@@H](C(=O)O)O", "smiles", "C[C@@H](C(=O)O)O"),
        ("c1ccccc1", "smiles", "c1ccccc1"),
        ("[Na+].[Cl-]", "smiles", "[Na+].[Cl-]"),
        ("C/C=C\\C", "smiles", "C/C=C\\C"),
        ("aspirin", "name", "aspirin"),
        ("50-78-2", "name", "50-78-2"),
        ("CO2", "name", "CO2"),
        ("H2O", "name", "H2O"),
        ("C60", "name", "C60"),
        ("NaCl", "name", "NaCl"),
        ("FCCP", "name", "FCCP"),
        ("vitamin  B12", "name", "vitamin B12"),
        ("2-(acetyloxy)benzoic acid", "name", "2-(acetyloxy)benzoic acid"),
        ("bis(2-chloroethyl)sulfane", "name", "bis(2-chloroethyl)sulfane"),
        ("1,3,7-trimethylxanthine", "name", "1,3,7-trimethylxanthine"),
        ("(NH4)2SO4", "name", "(NH4)2SO4"),
        ("Fe(CO)5", "name", "Fe(CO)5"),
    ],
)
def test_it_is_taken_for_what_it_looks_like(text, kind, read):
    query = parse_compound_query(text)
    assert (query.kind, query.text) == (kind, read)


@pytest.mark.parametrize(
    ("text", "kind"), [("CCO", "smiles"), ("2244", "name"), ("CO2", "formula"), ("CCO", "name")]
)
def test_whoever_says_what_it_is_is_believed(text, kind):
    assert parse_compound_query(text, kind).kind == kind


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("", "", "No compound"),
        (" \n ", "name", "No compound"),
        ("a\x07b", "", "control character"),
        ("x" * 501, "name", "501 characters"),
        ("C" * 5001, "smiles", "5,001 characters"),
        ("aspirin", "cid", "not a valid CID"),
        ("0", "cid", "not a valid CID"),
        ("2147483648", "cid", "not a valid CID"),
        ("9" * 400, "", "not a valid CID"),
        ("٣", "cid", "not a valid CID"),
        (",".join(map(str, range(1, 102))), "", "101 CIDs"),
        (", ;", "cid", "CIDs"),
        ("InChI=2/CH4", "", "not a valid InChI"),
        ("InChI=1S/CH4 /h1H4", "", "not a valid InChI"),
        ("BSYNRYMUTXBXSQ", "inchikey", "not a valid InChIKey"),
        ("c9h8o4", "formula", "not a valid molecular formula"),
        ("Ca(OH)2", "formula", "not a valid molecular formula"),
        ("CXy2", "formula", "Xy"),
        ("acetic acid", "smiles", "no spaces"),
        ("CC(=O", "", "( at character 3"),
        ("CC=O)", "smiles", ") at character 5"),
        ("C[Na+", "smiles", "[ at character 2"),
        ("aspirin", "nmae", "no kind 'nmae'"),
    ],
)
def test_what_it_cannot_be_is_refused_with_the_place(text, kind, told):
    with pytest.raises(BadRequest) as refused:
        parse_compound_query(text, kind)
    assert told in refused.value.message
    assert all(refused.value.hints)
    assert len(str(refused.value)) < 400


def test_a_slip_in_the_kind_is_mended():
    with pytest.raises(BadRequest, match="Did you mean smiles"):
        parse_compound_query("CCO", "smile")


@given(st.text(max_size=40), st.sampled_from(["", *KINDS]))
def test_any_text_is_read_or_refused_and_read_again_the_same(text, kind):
    try:
        query = parse_compound_query(text, kind)
    except BadRequest as refused:
        assert refused.hints  # noqa: PT017  # both ends are good ones
        return
    assert parse_compound_query(query.text, query.kind) == query
