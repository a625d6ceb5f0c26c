"""A fact is shown without the branches that do not help with a question."""

from __future__ import annotations

from fakes import FakeEncoder

from pkg.encode.encoder import Vectors
from pkg.model import Label, Node
from pkg.retrieval.pruning.prune_facts import MAX_SHOWN_BYTES, PrunedFact, prune_fact

ENCODER = FakeEncoder()


def make_node(name: str, text: str, start: int, kind: str = "text") -> Node:
    return Node(
        id=name, label=Label.FACT, source="s", path="a.md", name=name, qualname=name, kind=kind, start=start,
        end=start + len(text.encode()), start_line=1, end_line=1, start_col=0, content=text, content_hash=name,
    )  # fmt: skip


def prune(question: str, *paragraphs: str) -> PrunedFact:
    """Prune a section of some paragraphs, each a fact of its own."""
    text, branches = "## Section\n\n", []
    for number, each in enumerate(paragraphs):
        branches.append(make_node(f"p{number}", each, 100 + len(text.encode())))
        text += f"{each}\n\n"
    text = text.rstrip()
    query: Vectors = ENCODER.encode([question.encode()])[0]
    return prune_fact(ENCODER, query, make_node("Section", text, 100, "section"), text, branches)


def test_the_branch_that_makes_it_less_similar_is_cut() -> None:
    found = prune("kettle water tea", "A kettle boils water for tea.", "Gardens, trees, flowers and parks in spring.")
    assert found.text.rstrip() == "## Section\n\nA kettle boils water for tea."
    assert [cut.block_id for cut in found.cuts] == ["p1"]
    assert found.gain > 0


def test_a_fact_without_branches_stays() -> None:
    text = "One paragraph. " * 400
    node = make_node("Section", text, 100)
    assert prune_fact(ENCODER, ENCODER.encode([b"kettle"])[0], node, text, []) == PrunedFact(text)


def test_a_long_fact_loses_its_farthest_branches_and_keeps_the_order_of_the_others() -> None:
    other = ["Gardens and flowers, the size of öäü. " * 20] * 9
    found = prune("kettle water tea", *other[:4], "A kettle boils water.", *other[4:], "Water for tea.")
    assert len(found.text.encode()) <= MAX_SHOWN_BYTES
    assert found.text.index("A kettle boils water.") < found.text.index("Water for tea.")
    cut = [each.block_id for each in found.cuts]
    assert len(cut) >= 6
    assert not {"p4", "p10"} & {*cut}


def test_one_branch_is_kept_however_long_it_is() -> None:
    found = prune("kettle", "Gardens and flowers. " * 200, "Trees and parks. " * 250)
    assert len(found.cuts) == 1
    assert len(found.text.encode()) > MAX_SHOWN_BYTES
