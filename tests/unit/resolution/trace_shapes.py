"""Program that runs the shapes under a profile function and prints the observed calls as JSON.

Standard input is JSON: a list of [folder of the tree, roots]. A call that stands in the code is seen through the value
that is called, so that classes without a constructor and generators are seen too; a call that the interpreter or the
standard library makes is seen through the frame that it starts in, and belongs to the nearest frame of the shape.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import inspect
import io
import json
import sys
import threading
from collections.abc import Callable
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import TypeVar

RECORDER = "__record_callee__"
GENERATOR_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

Pair = tuple[str, str]
Finder = TypeVar("Finder")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Wrapper(ast.NodeTransformer):
    """Wrap callees and decorators, so that their values are recorded."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        node.func = wrap(node.func)
        return node

    def wrap_decorators(self, node: Definition) -> Definition:
        """Wrap the decorators of a definition, after the calls in it."""
        self.generic_visit(node)
        node.decorator_list = [wrap(each) for each in node.decorator_list]
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = wrap_decorators  # noqa: N815


def wrap(value: ast.expr) -> ast.Call:
    """Pass a value through the recorder."""
    call = ast.Call(ast.Name(RECORDER, ast.Load()), [value], [])
    return ast.fix_missing_locations(ast.copy_location(call, value))


class Tracer:
    """Observations of the run of one shape."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.called: set[Pair] = set()  # by a call in the code, or by the interpreter
        self.resumed: set[Pair] = set()  # generators and coroutines, by who resumes them
        self.owners: dict[int, str] = {}  # id of a code object -> who owns the calls in it
        self.functions: dict[int, str] = {}  # id of a function's code object -> its name
        self.kept: list[CodeType] = []  # so that no id is reused

    def name_code(self, code: CodeType, name: str, owner: str) -> None:
        """Name the code objects of a module."""
        self.kept.append(code)
        self.owners[id(code)] = owner
        for inner in filter(inspect.iscode, code.co_consts):
            inner_name = name if inner.co_name.startswith("<") else f"{name}.{inner.co_name}"
            is_function = bool(inner.co_flags & inspect.CO_OPTIMIZED) and not inner.co_name.startswith("<")
            if is_function:
                self.functions[id(inner)] = inner_name
            self.name_code(inner, inner_name, inner_name if is_function else owner)

    def record_callee(self, value: object) -> object:
        """Record that the calling frame calls a value, and return the value."""
        owner = self.find_owner(sys._getframe(1))
        callee = self.name_callee(value)
        if owner and callee:
            self.called.add((owner, callee))
        return value

    def name_callee(self, value: object) -> str | None:
        """Return the name of the class or function of the shape that a call of a value reaches, if any."""
        value = getattr(value, "__origin__", value)  # a class with its type parameters
        if isinstance(value, MethodType):
            value = value.__func__
        if isinstance(value, type):
            return self.name_class(value)
        if not isinstance(value, FunctionType):
            return None
        name = self.functions.get(id(value.__code__))
        return name or self.name_callee(getattr(value, "__wrapped__", None))

    def name_class(self, value: type) -> str | None:
        """Return the name of a class of the shape; None for others."""
        path = getattr(sys.modules.get(value.__module__), "__file__", None)
        if path is None or self.tree not in Path(path).parents:
            return None
        return f"{name_module(self.tree, Path(path))}.{value.__qualname__.replace('.<locals>', '')}"

    def name_value(self, value: object) -> str | None:
        """Return the name of a module's value: a function, class or module of the shape, or a library."""
        if not isinstance(value, ModuleType):
            return self.name_callee(value)
        places = getattr(value, "__path__", None) or [getattr(value, "__file__", "")]
        if self.tree not in Path(places[0]).parents:
            return f"library:{value.__name__.partition('.')[0]}"
        return name_module(self.tree, Path(places[0]))

    def describe_classes(self, classes: set[type]) -> dict[str, object]:
        """Return the base classes and overrides of the shape."""
        bases, overrides = [], []
        for kind in classes:
            for position, base in enumerate(kind.__bases__, 1):
                bases.append([self.name_class(kind), self.name_class(base), str(position)])
            for name, value in vars(kind).items():
                below = next((vars(base)[name] for base in kind.__mro__[1:] if name in vars(base)), None)
                overrides.append([self.name_method(value), self.name_method(below)])
        return {"bases": [each for each in bases if all(each)], "overrides": [each for each in overrides if all(each)]}

    def name_method(self, value: object) -> str | None:
        """Return the name of a function of a class, if the shape has it."""
        value = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
        return self.name_callee(value) if isinstance(value, FunctionType) else None

    def describe(self) -> dict[str, object]:
        """Return the observations; the modules must still be loaded."""
        places = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
        own = [name for name, place in places.items() if place and self.tree in Path(place).parents]
        values = {
            f"{self.name_value(sys.modules[module])}.{name}": value
            for module in own
            for name, value in vars(sys.modules[module]).items()
            if not name.startswith("__")
        }
        classes = {value for value in values.values() if isinstance(value, type) and self.name_class(value)}
        return {
            "called": sorted(self.called),
            "resumed": sorted(self.resumed),
            "names": {name: self.name_value(value) for name, value in values.items()},
            **self.describe_classes(classes),
        }

    def find_owner(self, frame: FrameType | None) -> str | None:
        """Return the owner of the nearest frame of the shape."""
        while frame is not None:
            if owner := self.owners.get(id(frame.f_code)):
                return owner
            frame = frame.f_back
        return None

    def profile(self, frame: FrameType, event: str, _argument: object) -> None:
        """Record that a frame of the shape starts or resumes."""
        callee = self.functions.get(id(frame.f_code)) if event == "call" else None
        owner = self.find_owner(frame.f_back) if callee else None
        if owner and callee:
            seen = self.resumed if frame.f_code.co_flags & GENERATOR_FLAGS else self.called
            seen.add((owner, callee))


class Loader(SourceFileLoader):
    """Load a module of a shape with its calls wrapped."""

    tracer: Tracer

    def source_to_code(self, data: object, path: object, *, _optimize: int = -1) -> CodeType:  # type: ignore[override]
        assert isinstance(data, bytes)
        place = Path(str(path))
        code = compile(Wrapper().visit(ast.parse(data)), str(place), "exec", dont_inherit=True, optimize=_optimize)
        assert isinstance(code, CodeType)
        name = name_module(self.tracer.tree, place)
        self.tracer.name_code(code, name, name)
        return code

    def exec_module(self, module: ModuleType) -> None:
        setattr(module, RECORDER, self.tracer.record_callee)
        super().exec_module(module)


def name_module(tree: Path, path: Path) -> str:
    """Return the dotted name of a file."""
    parts = path.relative_to(tree).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def run_shape(tree: Path, roots: list[str]) -> dict[str, object]:
    """Import the main module of a shape and return the observations."""
    tracer = Tracer(tree)
    Loader.tracer = tracer
    before, paths = dict(sys.modules), list(sys.path)
    sys.path[:0] = [str(tree / root) for root in roots]
    sys.path_importer_cache.clear()
    threading.setprofile(tracer.profile)
    sys.setprofile(tracer.profile)
    try:
        importlib.import_module("main")
        sys.setprofile(None)
        return tracer.describe()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        sys.path[:] = paths
        sys.modules.clear()
        sys.modules.update(before)


def main() -> None:
    """Run the shapes that standard input names."""
    sys.dont_write_bytecode = True
    hook = FileFinder.path_hook((Loader, [".py"]))
    standard = tuple(sys.path_hooks)
    report = []
    for folder, roots in json.load(sys.stdin):
        tree = Path(folder)
        sys.path_hooks[:] = [functools.partial(find_in_tree, tree, hook), *standard]
        with contextlib.redirect_stdout(io.StringIO()):
            report.append(run_shape(tree, roots))
    print(json.dumps(report))


def find_in_tree(tree: Path, hook: Callable[[str], Finder], path: str) -> Finder:
    """Return a finder for a folder of the tree; ImportError for any other."""
    if not Path(path).is_relative_to(tree):
        raise ImportError(f"{path} is not below {tree}")
    return hook(path)


if __name__ == "__main__":
    main()
