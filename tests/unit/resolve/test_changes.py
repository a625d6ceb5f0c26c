"""After a change only files are resolved again that it can reach, and the links are those of a build from nothing."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.resolve.shapes import read_shapes

import pkg
from pkg.errors import StoreError
from pkg.extract.python import extract_unit
from pkg.resolve import project as resolving
from pkg.resolve.changes.dependency_record import DependencyRecord, add_dependencies, unpack_dependencies
from pkg.resolve.facts.file_records import cut_record, make_record, unpack_unit
from pkg.resolve.facts.repository_files import Units
from pkg.resolve.links import LinkWriter
from pkg.resolve.project import Project, resolve_changes, resolve_project
from pkg.units import UnitLinks, UnitText, describe_code

SOURCE = "tree"
SHOP = {
    "prices.py": "class Price:\n    def net(self):\n        return 1\n\n\ndef total(items):\n    return Price()\n",
    "cart.py": "from prices import total\n\n\ndef check(items):\n    return total(items)\n",
    "page.py": "from cart import check\n\n\ndef show():\n    return check([]).net()\n",
    "tools.py": "def strip(text):\n    return text.strip()\n",
    "other.py": "from tools import strip\n\n\ndef run(text):\n    return strip(text).upper()\n",
    "alone.py": "def rest():\n    return 0\n",
    "quiet.py": "def sleep():\n    return 0\n",
    "lonely.py": "def walk():\n    return 0\n",
}


def extract(texts: Mapping[str, str]) -> dict[str, UnitText]:
    return {path: describe_code(SOURCE, path, extract_unit(text.encode())) for path, text in sorted(texts.items())}


@dataclass
class Tree:
    """A tree of files with its links and what these stand on, brought up to date by changes alone."""

    texts: dict[str, str]
    links: dict[str, UnitLinks] = field(default_factory=dict)
    records: dict[str, bytes] = field(default_factory=dict)
    resolved: set[str] = field(default_factory=set)  # by the last change
    read: set[str] = field(default_factory=set)  # files whose scopes it asked for

    def __post_init__(self) -> None:
        units = Units(extract(self.texts).values())
        self._take(units, resolve_project(units), {})

    def change(self, texts: dict[str, str]) -> None:
        """Change the files, and resolve what that reaches."""
        changed = {path for path in texts.keys() | self.texts.keys() if texts.get(path) != self.texts.get(path)}
        records = {path: found for path, each in self.records.items() if (found := cut_record(each)) is not None}
        snapshot = {
            path: dependencies
            for path, each in records.items()
            if (dependencies := unpack_dependencies(each)) is not None
        }
        before = [
            unpack_unit(SOURCE, path, self.texts[path].encode(), records[path]) for path in changed & records.keys()
        ]
        fresh = extract({path: text for path, text in texts.items() if path in changed})
        unchanged = {path: record for path, record in records.items() if path not in changed}
        self.texts = dict(texts)
        units = Units(fresh.values(), SOURCE, unchanged, lambda paths: [(path, texts[path].encode()) for path in paths])
        project = resolve_changes(units, before, snapshot, changed)
        self._take(units, project or resolve_project(units), {} if project is None else snapshot)

    def _take(self, units: Units, project: Project, snapshot: Mapping[str, DependencyRecord]) -> None:
        writer, found = (
            LinkWriter(SOURCE, units, project.binder.context, project.sites, project.outcomes),
            project.find_dependencies(),
        )
        self.resolved = set(project.sites)
        self.read = {module.path for module in project.binder.modules.list_read()}
        self.links = {path: self.links[path] for path in units if path not in project.sites}
        self.records = {path: self.records.get(path, b"") for path in units}
        for path in project.sites:
            self.links[path] = writer.write(path)
            record = make_record(self.links[path], units[path])
            self.records[path] = add_dependencies(
                record, found.describe(path, snapshot.get(path), project.other.get(path))
            ).pack()
        unresolved = {
            path: dependencies for path, dependencies in snapshot.items() if path in units and path not in project.sites
        }
        for path, dependencies in found.list_taken(unresolved):
            self.records[path] = add_dependencies(make_record(self.links[path], units[path]), dependencies).pack()


def edit(path: str, old: str, new: str) -> dict[str, str]:
    assert old in SHOP[path]
    return SHOP | {path: SHOP[path].replace(old, new)}


@pytest.mark.parametrize(
    ("texts", "reached"),
    [
        pytest.param(
            SHOP | {"alone.py": SHOP["alone.py"] + "\n\ndef more():\n    pass\n"}, {"alone.py"}, id="new name"
        ),
        pytest.param(edit("tools.py", "text.strip()", "text.rstrip()"), {"tools.py", "other.py"}, id="other result"),
        pytest.param(
            edit("prices.py", "return Price()", "return None"), {"prices.py", "cart.py", "page.py"}, id="through others"
        ),
        pytest.param(edit("tools.py", "strip(text):", "cut(text):"), {"tools.py", "other.py"}, id="renamed export"),
        pytest.param(SHOP | {"tools.py": "# moved down\n\n" + SHOP["tools.py"]}, {"tools.py"}, id="moved text"),
        pytest.param(edit("cart.py", "check(items):\n", "check(items):\n    print(items)\n"), None, id="body"),
    ],
)
def test_a_change_reaches_what_it_can_affect(texts: dict[str, str], reached: set[str] | None) -> None:
    tree = Tree(SHOP)
    tree.change(texts)
    assert tree.links == Tree(texts).links
    assert reached is None or tree.resolved == reached


BASE = "class Price:\n    def net(self):\n        return 1\n"
HEIR = "from base import Price\n\n\nclass Low(Price):\n    def gross(self):\n        return 2\n"
ABSTRACT = "raise NotImplementedError"
USER = "from base import Price\n\n\ndef show(price: Price):\n    price.net()\n"


@pytest.mark.parametrize(
    ("texts", "base", "path"),
    [
        pytest.param({"heir.py": HEIR}, BASE.replace("net", "gross"), "heir.py", id="one that an heir overrides"),
        pytest.param({"heir.py": HEIR.replace("gross", "net")}, BASE.replace("net", "gross"), "heir.py", id="or did"),
        pytest.param({"user.py": USER}, BASE.replace("return 1", ABSTRACT), "user.py", id="one that is abstract now"),
    ],
)
def test_a_method_that_comes_or_goes_reaches_heirs_and_callers(texts: dict[str, str], base: str, path: str) -> None:
    tree = Tree(SHOP | texts | {"base.py": BASE})
    before = tree.links[path]
    tree.change(tree.texts | {"base.py": base})
    assert tree.links == Tree(tree.texts).links
    assert tree.links[path] != before
    assert tree.resolved != tree.texts.keys()


@pytest.mark.parametrize("comment", ["", "    # as it is\n"])
def test_what_a_function_is_handed_by_its_own_file_reaches_those_who_ask_for_its_result(comment: str) -> None:
    price = "class Price:\n    def net(self):\n        pass\n"
    uses = "from prices import Price, Cost\n" + "Price()\nCost()\n" * 8
    give = (
        "from prices import Price, Cost\n\n\ndef give(price):\n    return price\n\n\ndef start():\n    give(Price())\n"
    )
    ask = "from give import give\n\n\ndef ask():\n    give(1).net()\n"
    prices = f"{price}\n\n{price.replace('Price', 'Cost')}"
    tree = Tree(SHOP | {"prices.py": prices, "uses.py": uses, "give.py": give, "ask.py": ask})
    changed = give.replace("give(Price", "give(Cost").replace("    return price", f"{comment}    return price")
    tree.change(tree.texts | {"give.py": changed})
    assert tree.links == Tree(tree.texts).links
    assert tree.resolved == {"give.py", "ask.py"}


@pytest.mark.parametrize("comment", ["", "    # as it is\n"])
def test_a_name_that_means_something_else_reaches_through_files_that_changed_otherwise(comment: str) -> None:
    shop = "class Price:\n    def net(self):\n        pass\n\n\nclass Shop:\n    pass\n"
    give = "from shop import Shop\n\n\ndef give():\n    return Shop().look()\n\n\ndef other():\n    return 1\n"
    ask = "from give import give\n\n\ndef ask():\n    give().net()\n"
    tree = Tree(SHOP | {"shop.py": shop, "give.py": give, "ask.py": ask})
    shop = shop.replace("class Shop:\n    pass", "class Shop:\n    def look(self):\n        return Price()")
    give = give.replace("return 1", "return 2").replace("    return Shop", f"{comment}    return Shop")
    tree.change(tree.texts | {"shop.py": shop, "give.py": give})
    assert tree.links == Tree(tree.texts).links
    assert tree.resolved == {"shop.py", "give.py", "ask.py"}


def test_a_star_import_that_moves_behind_a_name_gives_it_another_value() -> None:
    first, last = "def look():\n    pass\n", "from tools import look\n"
    texts = SHOP | {"tools.py": first, "more.py": first, "ask.py": "from look import run\n\nrun()\n"}
    run = "\n\ndef run():\n    look()\n"
    tree = Tree(texts | {"look.py": f"from more import *\n{last}{run}"})
    tree.change(tree.texts | {"look.py": f"{last}from more import *\n{run}"})
    assert tree.links == Tree(tree.texts).links


def test_files_that_a_change_cannot_reach_are_not_read() -> None:
    tree = Tree(SHOP)
    tree.change(SHOP | {"alone.py": SHOP["alone.py"].replace("0", "1")})
    assert tree.read == {"alone.py"}
    tree.change(tree.texts | {"other.py": SHOP["other.py"].replace("upper", "lower")})
    assert tree.read == {"other.py", "tools.py"}


def test_what_is_assigned_to_a_class_from_outside_is_known_without_reading_who_does() -> None:
    gross = "from prices import Price\n\n\ndef gross(price):\n    return price\n\n\nPrice.gross = gross\n"
    texts = SHOP | {"gross.py": gross, "use.py": "from prices import Price\n\nprice = Price()\n"}
    tree = Tree(texts)
    for end, is_read in (("print(price)\n", False), ("price.gross()\n", True)):
        texts = texts | {"use.py": texts["use.py"] + end}
        tree.change(texts)
        assert tree.links == Tree(texts).links
        assert ("gross.py" in tree.read) == is_read
    assert tree.links["use.py"].edges != Tree(texts | {"gross.py": ""}).links["use.py"].edges
    texts = texts | {"prices.py": SHOP["prices.py"].replace("Price", "Cost")}
    tree.change(texts)
    assert tree.links == Tree(texts).links


def test_a_file_whose_text_is_gone_is_named() -> None:
    (unit,) = extract({"alone.py": SHOP["alone.py"]}).values()
    units = Units([], "shop", {"alone.py": make_record(UnitLinks("alone.py"), unit)}, lambda paths: ())
    with pytest.raises(StoreError, match=r"'alone\.py' in source 'shop'"):
        units.text("alone.py")


def test_a_special_method_reaches_those_who_use_objects_of_its_class() -> None:
    loops = {"run.py": "from jobs import Jobs\n\nfor job in Jobs():\n    print(job)\n"}
    apart = {f"part_{letter}.py": f"def lone_{letter}():\n    pass\n" for letter in "abcdef"}
    jobs = "class Jobs:\n    pass\n"
    tree = Tree({**apart, **loops, "jobs.py": jobs})
    tree.change({**tree.texts, "jobs.py": jobs.replace("pass", "def __iter__(self):\n        return iter([])")})
    assert tree.resolved == {"jobs.py", "run.py"}
    assert any(edge.rule == "special method" for edge in tree.links["run.py"].edges)


def test_a_change_that_reaches_most_files_resolves_all() -> None:
    tree = Tree(SHOP)
    tree.change({path: text + "\n\ndef more():\n    pass\n" for path, text in SHOP.items()})
    assert tree.resolved == SHOP.keys()


def test_a_new_caller_reaches_what_its_arguments_are_called_in() -> None:
    apart = {f"part_{letter}.py": f"def lone_{letter}():\n    pass\n" for letter in "abcdef"}
    texts = apart | {"run.py": "def run(task):\n    task.work()\n", "jobs.py": "class Job:\n    def work(self): ...\n"}
    tree = Tree(texts)
    tree.change(texts | {"part_a.py": "from run import run\nfrom jobs import Job\n\nrun(Job())\n"})
    assert "run.py" in tree.resolved
    assert "part_b.py" not in tree.resolved
    assert any(edge.rule == "constructed object" for edge in tree.links["run.py"].edges)


def test_what_is_taken_from_a_file_later_counts_when_that_changes() -> None:
    apart = {f"part_{letter}.py": f"def lone_{letter}():\n    pass\n" for letter in "abcdef"}
    names = "def first():\n    pass\n\n\ndef second():\n    pass\n\n\nalias = first\n"
    tree = Tree(apart | {"names.py": names, "user.py": "def rest():\n    return 0\n"})
    tree.change(tree.texts | {"user.py": "from names import alias\n\n\ndef rest():\n    return alias()\n"})
    assert tree.resolved == {"user.py"}
    tree.change(tree.texts | {"names.py": names.replace("alias = first", "alias = second")})
    assert tree.links == Tree(tree.texts).links
    assert "user.py" in tree.resolved


def test_an_import_that_is_gone_takes_its_names_out_of_what_a_package_exports() -> None:
    apart = {f"part_{letter}.py": f"def lone_{letter}():\n    pass\n" for letter in "abcdef"}
    package = "from . import left\n\n__all__ = []\n__all__ += left.__all__\n"
    texts = {"app/__init__.py": package, "app/left.py": '__all__ = ("one",)\n\n\ndef one():\n    pass\n'}
    tree = Tree(apart | texts | {"main.py": "from app import *\n\none()\n"})
    tree.change(tree.texts | {"app/__init__.py": package.replace("from . import left", "left = []")})
    assert tree.links == Tree(tree.texts).links
    assert not any(edge.rule == "star import" for edge in tree.links["main.py"].edges)


WORD = re.compile(r"\b[A-Za-z_]\w*\b")


DEFINED = re.compile(r"^ *def (\w+)", re.MULTILINE)
STATEMENTS = (
    "raise NotImplementedError", "return None", "yield self", "self.value = value", "import os", "pass", "# a comment",
    '"""A docstring."""', "found = []", "return [self]", "global value", "from os import *",
)  # fmt: skip


def add_method(text: str, name: str, source: random.Random) -> str:
    """Let one of the classes of a text have a method more, which may have the name of another."""
    heads = list(re.finditer(r"^( *)class [^\n]*:\n", text, re.MULTILINE))
    if not heads:
        return f"{text}\n\nclass Added:\n    pass\n"
    head = source.choice(heads)
    method = f"{head[1]}    def {name}(self):\n{head[1]}        return self\n\n"
    return text[: head.end()] + method + text[head.end() :]


def put_at_random(text: str, statement: str, source: random.Random) -> str:
    """Let one of the functions of a text begin with a statement."""
    heads = list(re.finditer(r"^( *)def [^\n]*:\n", text, re.MULTILINE))
    if not heads:
        return f"{statement}\n{text}"
    head = source.choice(heads)
    return f"{text[: head.end()]}{head[1]}    {statement}\n{text[head.end() :]}"


def edit_at_random(texts: dict[str, str], source: random.Random) -> dict[str, str]:
    """Do to some files what people do: add, remove and rename, move, delete and copy, change a word or a base."""
    found = dict(texts)
    for _ in range(source.choice((1, 1, 2))):
        path = source.choice(sorted(found))
        text, other = found[path], found[source.choice(sorted(found))]
        lines, words = text.splitlines(keepends=True), list(WORD.finditer(text))
        deed = source.randrange(9)
        if deed == 0:
            found[path] = f"{text}\n\ndef added_{source.randrange(9)}(value):\n    return value.strip()\n"
        elif deed == 1 and lines:
            del lines[source.randrange(len(lines))]
            found[path] = "".join(lines)
        elif deed == 2 and words:
            old = source.choice(words).group()
            found[path] = re.sub(rf"\b{old}\b", f"{old}_x", text)
        elif deed == 3 and words:
            place = source.choice(words)
            new = source.choice(list(WORD.finditer(other)) or words).group()
            found[path] = text[: place.start()] + new + text[place.end() :]
        elif deed == 4:
            found[path] = f"# moved\n\n{text}"
        elif deed == 5 and len(found) > 1:
            del found[path]
        elif deed == 6:
            found[path.replace(".py", "_copy.py")] = text
        elif deed == 7:
            found[path] = add_method(text, source.choice(DEFINED.findall(other) or ["more"]), source)
        else:
            found[path] = put_at_random(text, source.choice(STATEMENTS), source)
    return found


def read_package() -> dict[str, str]:
    """Read some real code: our own."""
    root = Path(pkg.__file__).parent
    files = sorted((root / "resolve").glob("*.py"))
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in files}


def move_at_random(texts: dict[str, str], source: random.Random) -> dict[str, str]:
    """Do what changes where things stand: turn a file round, move it, join it with another, or swap the two."""
    found = dict(texts)
    path, other = source.choice(sorted(found)), source.choice(sorted(found))
    deed = source.randrange(4)
    if deed == 0:
        lines = found[path].splitlines(keepends=True)
        place = source.randrange(len(lines) + 1)
        found[path] = "".join([*lines[place:], *lines[:place]])
    elif deed == 1:
        found[f"moved/{path.rpartition('/')[2]}"] = found.pop(path)
    elif deed == 2:
        found[path] += f"\n\n{found[other]}"
    else:
        found[path], found[other] = found[other], found[path]
    return found


def mix_shapes(source: random.Random) -> dict[str, str]:
    """Put call shapes side by side, some in folders of their own and some on top of one another."""
    texts: dict[str, str] = {}
    for place, shape in enumerate(source.sample(read_shapes(), 10)):
        folder = source.choice(("", f"part_{place}/"))
        texts |= {f"{folder}{path}": text for path, text in shape.files.items()}
    return texts


def mix_kinds(source: random.Random) -> dict[str, str]:
    """Put texts that try rules of the language side by side, each in a folder of its own."""
    kinds = source.sample(read_shapes(Path(__file__).with_name("kinds")), 12)
    return {f"part_{place}/{path}": text for place, shape in enumerate(kinds) for path, text in shape.files.items()}


def follow(texts: dict[str, str], edit: Callable[[dict[str, str]], dict[str, str]], count: int) -> None:
    """Edit a tree again and again; its links are always those of a build from nothing."""
    tree = Tree(texts)
    share = resolving.MOST
    resolving.MOST = 1.0  # so that large changes are followed as well
    try:
        for _ in range(count):
            tree.change(edit(tree.texts))
            assert tree.links == Tree(tree.texts).links
    finally:
        resolving.MOST = share


def follow_changes(texts: dict[str, str], source: random.Random, count: int) -> None:
    """Change a tree at random, again and again."""
    deeds = (edit_at_random, edit_at_random, move_at_random)
    follow(texts, lambda found: source.choice(deeds)(found, source), count)


@pytest.mark.slow
@settings(max_examples=2, deadline=None)
@given(st.integers(0, 10**6))
def test_links_after_changes_are_those_of_a_build_from_nothing(seed: int) -> None:
    follow_changes(read_package(), random.Random(seed), 3)


@settings(max_examples=min(15, settings().max_examples // 4), deadline=None)
@given(st.integers(0, 10**6))
def test_links_of_all_shapes_after_many_changes_are_those_of_a_build_from_nothing(seed: int) -> None:
    source = random.Random(seed)
    follow_changes(mix_shapes(source), source, 12)


@settings(max_examples=min(10, settings().max_examples // 4), deadline=None)
@given(st.integers(0, 10**6))
def test_links_of_rules_of_the_language_after_changes_are_those_of_a_build_from_nothing(seed: int) -> None:
    source = random.Random(seed)
    follow_changes(mix_kinds(source), source, 8)


def test_a_value_that_is_taken_before_its_name_is_bound_anew_reaches_others() -> None:
    apart = {f"part_{letter}.py": f"def lone_{letter}():\n    pass\n" for letter in "abcdef"}
    first, last = "pick = early\nchosen = pick\npick = late\n", "pick = early\npick = late\nchosen = pick\n"
    bound = "def early():\n    pass\n\n\ndef late():\n    pass\n\n\n"
    tree = Tree({**apart, "bound.py": bound + first, "use.py": "from bound import chosen\n\nchosen()\n"})
    tree.change({**tree.texts, "bound.py": bound + last})
    assert tree.resolved == {"bound.py", "use.py"}
    assert tree.links == Tree(tree.texts).links


def test_a_parameter_that_was_bound_anew_may_go() -> None:
    apart = {f"part_{letter}.py": f"def lone_{letter}():\n    pass\n" for letter in "abcdef"}
    bound = "def early():\n    pass\n\n\ndef late():\n    pass\n\n\n"
    taken = f"{bound}def pick(value=early):\n    chosen = value\n    value = late\n    return chosen\n"
    use = "from bound import pick\n\npick()()\n"
    tree = Tree({**apart, "bound.py": taken, "use.py": use})
    tree.change({**tree.texts, "bound.py": f"{bound}def pick():\n    return late\n"})
    assert tree.links == Tree(tree.texts).links
    assert {edge.rule for edge in tree.links["use.py"].edges}


def test_a_private_method_and_a_name_in_other_letters_are_found_by_who_speaks_of_them() -> None:
    apart = {f"part_{letter}.py": f"def lone_{letter}():\n    pass\n" for letter in "abcdefgh"}
    base = "class Root:\n    pass\n"
    user = "from base import Root\n\n\ndef run(root: Root):\n    root._Root__own()\n    root.ｗｉｄｅ()\n"
    tree = Tree({**apart, "base.py": base, "user.py": user})
    methods = "def __own(self):\n        pass\n\n    def wide(self):\n        pass"
    tree.change({**tree.texts, "base.py": base.replace("pass", methods)})
    assert tree.resolved == {"base.py", "user.py"}
    assert len([edge for edge in tree.links["user.py"].edges if edge.rule == "annotated type"]) == 2


def test_a_record_gives_a_file_back_as_it_was() -> None:
    units = Units(extract(read_package()).values())
    project = resolve_project(units)
    writer, found = (
        LinkWriter(SOURCE, units, project.binder.context, project.sites, project.outcomes),
        project.find_dependencies(),
    )
    for path, unit in units.items():
        dependencies = found.describe(path)
        record = cut_record(add_dependencies(make_record(writer.write(path), unit), dependencies).pack())
        assert record is not None
        assert (unpack_unit(SOURCE, path, unit.text, record), unpack_dependencies(record)) == (unit, dependencies)


def test_a_record_without_a_basis_tells_so() -> None:
    (unit,) = extract({"alone.py": SHOP["alone.py"]}).values()
    record = cut_record(make_record(UnitLinks("alone.py"), unit).pack())
    assert record is not None
    assert unpack_dependencies(record) is None


@pytest.mark.parametrize("record", [b"", b"\x00" * 40, bytes(16)])
def test_a_record_of_another_version_counts_as_none(record: bytes) -> None:
    assert cut_record(record) is None


def test_a_damaged_record_counts_as_none() -> None:
    (unit,) = extract({"alone.py": SHOP["alone.py"]}).values()
    record = make_record(UnitLinks("alone.py"), unit).pack()
    damaged = record[:50] + bytes([record[50] ^ 255]) + record[51:]
    assert cut_record(damaged) is None
    assert cut_record(record[:-4]) is None
    assert cut_record(record) is not None


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
def test_files_are_followed_as_far_after_a_change_as_before(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(resolving, "WORK", 0)
    monkeypatch.setattr(resolving, "WORK_OF_SITE", 1)
    monkeypatch.setattr(resolving, "MOST", 1.0)
    tree, source = Tree(read_package()), random.Random(seed)
    for _ in range(3):
        tree.change(edit_at_random(tree.texts, source))
        assert tree.links == Tree(tree.texts).links


def test_a_change_that_spreads_too_widely_resolves_all_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = Tree(read_package())
    monkeypatch.setattr(resolving, "WORK", 0)
    monkeypatch.setattr(resolving, "WORK_OF_SITE", 0)
    tree.change(edit_at_random(tree.texts, random.Random(0)))
    assert tree.resolved == tree.texts.keys()
    assert tree.links == Tree(tree.texts).links


def test_no_set_grows_when_all_are_computed_again() -> None:
    solver = resolve_project(Units(extract(read_package()).values())).binder.solver
    before = {key: cell.values for key, cell in solver.cells.items()}
    for key in before:
        solver.queue(solver.cells[key])
    solver.solve()
    assert {key: cell.values for key, cell in solver.cells.items()} == before


def test_a_class_that_begins_to_answer_an_operator_reaches_who_uses_it() -> None:
    apart = {f"part_{letter}.py": f"def lone_{letter}():\n    pass\n" for letter in "abcdef"}
    money = "class Money:\n    pass\n"
    tree = Tree(apart | {"money.py": money, "sum.py": "from money import Money\n\n\nprice = Money()\nprice + price\n"})
    texts = tree.texts | {"money.py": money + "\n    def __add__(self, other):\n        return self\n"}
    tree.change(texts)
    assert tree.links == Tree(texts).links
    assert "operator" in {edge.rule for edge in tree.links["sum.py"].edges}
