"""Classes, constants and module code are nodes that are searched by label or together."""

from __future__ import annotations

import numpy as np
import pytest
from contract.units import encode, fill, find_id

from pkg.errors import NodeNotFoundError
from pkg.graph.store import GraphStore
from pkg.model import DECLARATION_LABELS, Edge, Label, Matches, Node, NodeFilter, RelationType
from pkg.terms.term_weights import weigh_terms

SETTINGS = '''"""Settings of the shop."""
import os

# How often a request is sent again.
RETRY_TIMES: int = 3  # at most
HOST = PORT = os.environ.get("HOST")
if PORT:
    DEBUG = False


class Color(Enum):
    """Colours of the shop."""

    RED = 1
    GREEN = 2
    "As grass."

    def mix(self, other):
        return blend(self, other)


class Cart:
    limit = 10
    owner: str

    def add(self, item):
        class Line:
            price = 0
        return Line


print("ready")
'''
OTHER = "class Basket:\n    limit = 10\n\n    def add(self, item):\n        pass\n"
FILES = {"shop/settings.py": SETTINGS, "shop/basket.py": OTHER}


@pytest.fixture
def shop(store: GraphStore) -> GraphStore:
    fill(store, FILES)
    return store


def list_named(store: GraphStore, label: Label) -> dict[str, Node]:
    return {f"{node.path}:{node.qualname}": node for node in store.nodes([label])}


def names(store: GraphStore, found: Matches) -> list[str]:
    return [node.qualname for node in store.get([match.id for match in found.matches])]


def ask(text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return encode(text)


def test_constants_have_name_kind_place_and_value(shop: GraphStore) -> None:
    found = list_named(shop, Label.CONSTANT)
    told = {name: (node.kind, node.start_line, node.properties.get("value")) for name, node in found.items()}
    assert told == {
        "shop/settings.py:RETRY_TIMES": ("constant", 5, "3"),
        "shop/settings.py:HOST": ("constant", 6, 'os.environ.get("HOST")'),
        "shop/settings.py:PORT": ("constant", 6, 'os.environ.get("HOST")'),
        "shop/settings.py:DEBUG": ("constant", 8, "False"),
        "shop/settings.py:Color.RED": ("member", 14, "1"),
        "shop/settings.py:Color.GREEN": ("member", 15, "2"),
        "shop/settings.py:Cart.limit": ("field", 23, "10"),
        "shop/settings.py:Cart.owner": ("field", 24, None),
        "shop/settings.py:Cart.add.Line.price": ("field", 28, "0"),
        "shop/basket.py:Basket.limit": ("field", 2, "10"),
    }
    retry, green = found["shop/settings.py:RETRY_TIMES"], found["shop/settings.py:Color.GREEN"]
    assert (retry.content, retry.properties["annotation"]) == ("RETRY_TIMES: int = 3", "int")
    assert (green.content, green.properties["docstring"]) == ("GREEN = 2", "As grass.")


def test_the_code_of_a_module_reaches_from_its_first_statement_to_its_last(shop: GraphStore) -> None:
    (module,) = shop.nodes([Label.MODULE])  # the other file has no module code
    assert (module.name, module.path, module.kind) == ("settings", "shop/settings.py", "module")
    assert (module.start_line, module.end_line, module.content) == (1, 32, SETTINGS.rstrip())
    assert module.properties["docstring"] == "Settings of the shop."
    assert shop.subtree(module.id) == []


def test_files_and_classes_contain_constants(shop: GraphStore) -> None:
    file, cart = find_id(shop, Label.FILE, "shop/settings.py"), find_id(shop, Label.CLASS, "Cart")
    edges = shop.neighbours([file], [RelationType.CONTAINS], "out")
    assert Edge(RelationType.CONTAINS, file, find_id(shop, Label.CONSTANT, "DEBUG"), 8) in edges
    assert Edge(RelationType.CONTAINS, file, find_id(shop, Label.MODULE, "settings"), 1) in edges
    inside = [node.qualname for node in shop.subtree(cart) if node.label is Label.CONSTANT]
    assert inside == ["Cart.limit", "Cart.owner", "Cart.add.Line.price"]
    contained = shop.neighbours([cart], [RelationType.CONTAINS], "out")
    assert {shop.get([edge.end])[0].name for edge in contained} == {"limit", "owner", "add"}


@pytest.mark.parametrize(
    ("label", "question", "expected"),
    [
        (Label.CONSTANT, "how often a request is sent again", "RETRY_TIMES"),
        (Label.CONSTANT, "green as grass", "Color.GREEN"),
        (Label.CLASS, "colours that mix", "Color"),
        (Label.MODULE, "settings of the shop", "settings"),
    ],
)
def test_each_label_is_found_by_vector_and_by_words(
    shop: GraphStore, label: Label, question: str, expected: str
) -> None:
    near = shop.vector_search(label, ask(question), 3)
    worded = shop.text_search(label, weigh_terms(question), 3)
    assert (names(shop, near)[0], names(shop, worded)[0]) == (expected, expected)
    total = sum(1 for _ in shop.nodes([label]))
    assert (near.searched, near.filtered + len(near.matches) + near.folded >= min(3, total)) == (total, True)
    labels = {node.label for node in shop.get([match.id for match in (*near.matches, *worded.matches)])}
    assert labels == {label}


def test_all_declarations_are_found_together_in_one_order(shop: GraphStore) -> None:
    question = "limit of the shop's cart"
    near, worded = shop.search_declarations(ask(question), weigh_terms(question), 20)
    apart = [shop.vector_search(label, ask(question), 20) for label in DECLARATION_LABELS]
    matches = sorted((each for found in apart for each in found.matches), key=lambda each: (-each.score, each.id))
    assert [each.id for each in near.matches] == [each.id for each in matches]
    assert [each.score for each in near.matches] == pytest.approx([each.score for each in matches], abs=1e-6)
    assert near.searched == worded.searched == sum(found.searched for found in apart) == 15
    assert {node.label for node in shop.get([each.id for each in worded.matches])} == set(DECLARATION_LABELS)
    assert len(shop.search_declarations(ask(question), {}, 2)[0].matches) == 2
    assert shop.search_declarations(ask(question), {}, 2)[1].matches == ()


def test_declarations_are_filtered_by_source_and_path_but_not_by_kinds_of_blocks(shop: GraphStore) -> None:
    question = "limit add"
    for where in (NodeFilter(paths=("*basket*",)), NodeFilter(paths=("shop/b*",), kinds=frozenset({"if"}))):
        near, worded = shop.search_declarations(ask(question), weigh_terms(question), 9, where)
        assert set(names(shop, near)) == set(names(shop, worded)) == {"Basket", "Basket.limit"}
        assert (near.filtered, worded.filtered) == (near.searched - 2, worded.searched - 2)
    elsewhere = shop.search_declarations(ask(question), weigh_terms(question), 9, NodeFilter(source="other"))
    assert [found.matches for found in elsewhere] == [(), ()]


def test_fields_of_equal_statements_are_no_duplicates(shop: GraphStore) -> None:
    found = shop.text_search(Label.CONSTANT, weigh_terms("limit"), 9)
    assert sorted(names(shop, found)) == ["Basket.limit", "Cart.limit"]
    assert found.folded == 0


def test_term_scores_include_declarations(shop: GraphStore) -> None:
    terms = weigh_terms("retry times limit")
    _, worded = shop.search_declarations(ask("x"), terms, 9)
    parts = shop.text_parts([match.id for match in worded.matches], terms, Label.CONSTANT)
    assert parts.scores.sum(axis=1) == pytest.approx([match.score for match in worded.matches], rel=1e-5)
    with pytest.raises(NodeNotFoundError):
        shop.text_parts([find_id(shop, Label.FUNCTION, "mix")], terms, Label.CONSTANT)


def test_outlines_include_declarations(shop: GraphStore) -> None:
    ids = [find_id(shop, label, name) for label, name in ((Label.CLASS, "Cart"), (Label.MODULE, "settings"))]
    ids.append(find_id(shop, Label.CONSTANT, "RETRY_TIMES"))
    found = shop.outlines(ids, ask("limit"))
    assert [(found[each].label, found[each].qualname, found[each].kind, found[each].lines) for each in ids] == [
        (Label.CLASS, "Cart", None, 8),
        (Label.MODULE, "settings", "module", 32),
        (Label.CONSTANT, "RETRY_TIMES", "constant", 1),
    ]
    assert [found[each].owner for each in ids] == ids
    cosines = {match.id: match.score for match in shop.search_declarations(ask("limit"), {}, 20)[0].matches}
    assert [found[each].cosine for each in ids] == pytest.approx([cosines[each] for each in ids], abs=1e-6)


def test_a_class_is_unfolded_with_what_it_contains_and_no_blocks(shop: GraphStore) -> None:
    ids = [find_id(shop, label, name) for label, name in ((Label.CLASS, "Color"), (Label.MODULE, "settings"))]
    ids.append(find_id(shop, Label.CONSTANT, "DEBUG"))
    unfolded = shop.unfold(ids)
    assert [each.node for each in unfolded] == shop.get(ids)
    assert [each.blocks for each in unfolded] == [(), (), ()]
    ends = [{shop.get([edge.end])[0].name for edge in each.links} for each in unfolded]
    assert ends == [{"RED", "GREEN", "mix"}, set(), set()]


def test_fragments_of_declarations_are_returned(shop: GraphStore) -> None:
    ids = [find_id(shop, label, name) for label, name in ((Label.CLASS, "Cart"), (Label.MODULE, "settings"))]
    ids += [find_id(shop, Label.CONSTANT, "DEBUG"), find_id(shop, Label.CLASS, "Basket")]
    found = list(shop.fragments(ids))
    assert sorted((each.path, each.text.decode()) for each in found) == sorted(FILES.items())


def test_a_constant_is_found_by_its_name(shop: GraphStore) -> None:
    assert [node.qualname for node in shop.find_name("limit")] == ["Basket.limit", "Cart.limit"]
    assert [node.label for node in shop.find_names(["DEBUG", "Cart"])] == [Label.CONSTANT, Label.CLASS]


def test_an_edited_value_keeps_the_id_and_a_removed_constant_goes(shop: GraphStore) -> None:
    before = list_named(shop, Label.CONSTANT)["shop/settings.py:RETRY_TIMES"]
    fill(shop, {"shop/settings.py": SETTINGS.replace("= 3", "= 5").replace("    owner: str\n", "")})
    found = list_named(shop, Label.CONSTANT)
    after = found["shop/settings.py:RETRY_TIMES"]
    assert (after.id, after.properties["value"]) == (before.id, "5")
    assert after.content_hash != before.content_hash
    assert "shop/settings.py:Cart.owner" not in found
    assert shop.check() == []


def test_fields_of_a_class_that_rows_share_are_stored_once(store: GraphStore) -> None:
    row = "LIMIT = 3\n" + OTHER
    fill(store, {"one": row, "two": "x = 1\n\n" + OTHER}, label=Label.ROW)
    (field,) = store.nodes([Label.CONSTANT])  # constants of the row itself are in no definition
    assert (field.path, field.qualname, field.start_line) == ("one", "Basket.limit", 3)
    assert names(store, store.text_search(Label.CONSTANT, weigh_terms("limit"), 3)) == ["Basket.limit"]
    assert store.check() == []


def test_an_export_includes_declarations(shop: GraphStore) -> None:
    lines = {line["id"]: line for line in shop.export() if line["type"] == "node"}
    retry = lines[find_id(shop, Label.CONSTANT, "RETRY_TIMES")]
    assert (retry["kind"], retry["value"], retry["annotation"]) == ("constant", "3", "int")
    assert retry["content"] == SETTINGS.encode()[retry["start"] : retry["end"]].decode()
    assert lines[find_id(shop, Label.CONSTANT, "GREEN")]["docstring"] == "As grass."
    assert lines[find_id(shop, Label.MODULE, "settings")]["docstring"] == "Settings of the shop."
    assert shop.stats().nodes["Constant"] == 10
