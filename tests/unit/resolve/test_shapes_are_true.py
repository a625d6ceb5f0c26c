"""The shapes say what Python does: each one that can run is run, and every call that it makes is compared."""

from __future__ import annotations

import ast
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from trees import write_tree
from unit.resolve.shapes import CONFIDENCES, Shape, read_shapes

PROGRAM = Path(__file__).with_name("trace_shapes.py")
RUNNABLE = [shape for shape in read_shapes() if shape.runs]


@dataclass(frozen=True)
class Report:
    """What the run of one shape has shown."""

    error: str = ""
    called: list[list[str]] = field(default_factory=list)
    resumed: list[list[str]] = field(default_factory=list)  # generators, by whoever ran them on
    names: dict[str, str | None] = field(default_factory=dict)
    bases: list[list[str]] = field(default_factory=list)
    overrides: list[list[str]] = field(default_factory=list)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    """Run all shapes in one process; give each one's report by its name."""
    folder = tmp_path_factory.mktemp("shapes").resolve()
    trees = [write_tree(folder / str(number), shape.files) for number, shape in enumerate(RUNNABLE)]
    order = json.dumps([[str(tree), shape.roots] for tree, shape in zip(trees, RUNNABLE, strict=True)])
    done = subprocess.run([sys.executable, "-I", PROGRAM], input=order, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return {shape.name: Report(**each) for shape, each in zip(RUNNABLE, json.loads(done.stdout), strict=True)}


@pytest.mark.parametrize("shape", RUNNABLE, ids=lambda shape: shape.name)
def test_a_run_makes_the_calls_that_a_shape_names_and_no_other(shape: Shape, reports: dict[str, Report]) -> None:
    report = reports[shape.name]
    assert not report.error
    called, resumed = {tuple(pair) for pair in report.called}, {tuple(pair) for pair in report.resumed}
    musts = {(caller, callee) for caller, callee, _ in shape.must}
    assert musts - set(shape.unseen) <= called | resumed, "edges that the run does not show"
    assert called <= shape.allowed, "edges that the shape does not name"
    assert not set(shape.unseen) & called, "edges marked static that the run shows"


@pytest.mark.parametrize("shape", RUNNABLE, ids=lambda shape: shape.name)
def test_a_run_shows_the_inheritance_that_a_shape_names(shape: Shape, reports: dict[str, Report]) -> None:
    report = reports[shape.name]
    assert set(shape.inherits) <= {tuple(base) for base in report.bases}
    assert set(shape.overrides) <= {tuple(pair) for pair in report.overrides}


@pytest.mark.parametrize("shape", [shape for shape in RUNNABLE if shape.imports], ids=lambda shape: shape.name)
def test_a_run_binds_the_names_that_a_shape_imports(shape: Shape, reports: dict[str, Report]) -> None:
    names = reports[shape.name].names
    for name, target, artifact in shape.imports:
        bound = [each for each in names if f"{name}.".startswith(f"{each}.")]  # `import a.b` binds a
        assert bound
        if name in bound and artifact in ("function", "class", "module"):
            assert names[name] == target


@pytest.mark.parametrize("shape", read_shapes(), ids=lambda shape: shape.name)
def test_a_shape_does_not_contradict_itself(shape: Shape) -> None:
    assert not shape.allowed & set(shape.must_not)
    assert {least for _, _, least in shape.must} <= {*CONFIDENCES, ""}


@pytest.mark.parametrize("shape", read_shapes(), ids=lambda shape: shape.name)
def test_a_shape_names_only_what_its_files_define(shape: Shape) -> None:
    defined = {name for path, text in shape.files.items() for name in list_definitions(path, text)}
    pairs = {*shape.must_not, *shape.allowed, *shape.overrides, *((child, base) for child, base, _ in shape.inherits)}
    assert {name for pair in pairs for name in pair} <= defined


def list_definitions(path: str, text: str) -> Iterator[str]:
    """Name a file as shapes do, with all that it defines; of a broken file, the name alone."""
    module = path.rpartition(".")[0].replace("/", ".").removesuffix(".__init__")
    yield module
    with contextlib.suppress(SyntaxError):
        yield from list_inner(ast.parse(text), module)


def list_inner(node: ast.AST, name: str) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        inner = name
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{name}.{child.name}"
            yield inner
        yield from list_inner(child, inner)


def test_only_a_file_called_broken_does_not_parse() -> None:
    for shape in read_shapes():
        for path, text in shape.files.items():
            if path != "broken.py":
                ast.parse(text, f"{shape.name}: {path}")


def test_no_two_shapes_have_the_same_name() -> None:
    names = [shape.name for shape in read_shapes()]
    assert len(names) == len(set(names))
