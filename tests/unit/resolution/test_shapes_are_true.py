"""The marks of the shapes are true: each runnable shape is run, and its calls compared."""

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
from unit.resolution.shapes import CONFIDENCES, Shape, read_shapes

PROGRAM = Path(__file__).with_name("trace_shapes.py")
RUNNABLE = [shape for shape in read_shapes() if shape.runs]


@dataclass(frozen=True)
class Report:
    """Observations of the run of one shape."""

    error: str = ""
    called: list[list[str]] = field(default_factory=list)
    resumed: list[list[str]] = field(default_factory=list)  # generators, by who resumed them
    names: dict[str, str | None] = field(default_factory=dict)
    bases: list[list[str]] = field(default_factory=list)
    overrides: list[list[str]] = field(default_factory=list)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    """Run all shapes in one process, and return their reports by name."""
    folder = tmp_path_factory.mktemp("shapes").resolve()
    trees = [write_tree(folder / str(number), shape.files) for number, shape in enumerate(RUNNABLE)]
    order = json.dumps([[str(tree), shape.roots] for tree, shape in zip(trees, RUNNABLE, strict=True)])
    done = subprocess.run([sys.executable, "-I", PROGRAM], input=order, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return {shape.name: Report(**each) for shape, each in zip(RUNNABLE, json.loads(done.stdout), strict=True)}


@pytest.mark.parametrize("check", ["calls", "inheritance", "imports"])
def test_a_run_shows_what_a_shape_names(check: str, reports: dict[str, Report], subtests: pytest.Subtests) -> None:
    for shape in RUNNABLE:
        with subtests.test(shape.name):
            CHECKS[check](shape, reports[shape.name])


def check_calls(shape: Shape, report: Report) -> None:
    """Check that a run makes exactly the calls of its shape."""
    assert not report.error
    called, resumed = {tuple(pair) for pair in report.called}, {tuple(pair) for pair in report.resumed}
    musts = {(caller, callee) for caller, callee, _ in shape.must}
    assert musts - set(shape.unseen) <= called | resumed, "edges that the run does not show"
    assert called <= shape.allowed, "edges that the shape does not name"
    assert not set(shape.unseen) & called, "edges marked static that the run shows"


def check_inheritance(shape: Shape, report: Report) -> None:
    """Check that a run has the base classes and overrides of its shape."""
    assert set(shape.inherits) <= {tuple(base) for base in report.bases}
    assert set(shape.overrides) <= {tuple(pair) for pair in report.overrides}


def check_imports(shape: Shape, report: Report) -> None:
    """Check that a run binds the imported names of its shape."""
    names = report.names
    for name, target, artifact in shape.imports:
        bound = [each for each in names if f"{name}.".startswith(f"{each}.")]  # `import a.b` binds a
        assert bound
        if name in bound and artifact in ("function", "class", "module"):
            assert names[name] == target


CHECKS = {"calls": check_calls, "inheritance": check_inheritance, "imports": check_imports}


def test_a_shape_does_not_contradict_itself(subtests: pytest.Subtests) -> None:
    for shape in read_shapes():
        with subtests.test(shape.name):
            assert not shape.allowed & set(shape.must_not)
            assert {least for _, _, least in shape.must} <= {*CONFIDENCES, ""}


def test_a_shape_names_only_what_its_files_define(subtests: pytest.Subtests) -> None:
    for shape in read_shapes():
        with subtests.test(shape.name):
            defined = {name for path, text in shape.files.items() for name in list_definitions(path, text)}
            inherits = ((child, base) for child, base, _ in shape.inherits)
            pairs = {*shape.must_not, *shape.allowed, *shape.overrides, *inherits}
            assert {name for pair in pairs for name in pair} <= defined


def list_definitions(path: str, text: str) -> Iterator[str]:
    """Return the names of a file and its definitions as in shapes; of a broken file, only its own."""
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
