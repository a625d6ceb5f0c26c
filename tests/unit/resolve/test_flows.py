"""Small programs in which values flow from file to file, changed a statement at a time: links never go stale."""

from __future__ import annotations

import random
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from unit.resolve.test_changes import WORD, follow

LETTERS = "abcdefghijklmnopqrstuvwx"
CLASSES = tuple(f"Pet{letter.upper()}" for letter in LETTERS[:12])
METHODS = tuple(f"run_{letter}" for letter in LETTERS[:12])
FUNCTIONS = tuple(f"step_{letter}" for letter in LETTERS)
FIELDS = tuple(f"mate_{letter}" for letter in LETTERS[:12])
FILES = tuple(f"{folder}area_{letter}.py" for letter in LETTERS[:8] for folder in ("", "park/"))
EXPRESSIONS = (
    "{C}()", "{C}()", "{F}({v})", "{F}({C}())", "{v}", "{v}.{a}", "SHELF[0]", "TABLE['{k}']", "TABLE.get('{k}')",
    "[{v}]", "({v}, {C}())", "{v}[0]", "next({F}({v}))", "lambda: {v}", "{v}()", "{C}", "{F}", "{v}.{m}()",
    "getattr({v}, '{m}')", "[{w} for {w} in {F}({v})]", "dict(one={v})['one']", "{C}.{a}", "partial({F}, {v})",
    "{F}", "{v} or {C}()",
)  # fmt: skip
STATEMENTS = (
    "{v} = {e}", "{v} = {e}", "{v} = {e}", "{v}.{m}()", "{e}.{m}()", "return {e}", "return {v}", "yield {e}",
    "{F}({e})",
    "{v}.{a} = {e}", "{C}.{a} = {e}", "SHELF.append({e})", "TABLE['{k}'] = {e}", "{v}.append({e})", "{F}(one={e})",
    "for {w} in {e}: {w}.{m}()", "with {e} as {w}: {w}.{m}()", "{v}, {w} = {e}", "raise NotImplementedError", "del {v}",
    "def inner({w}): return {e}", "{v} = inner({v})", "global SHELF; SHELF = [{e}]", "from zoo import {C} as {w}",
    "if isinstance({v}, {C}): {v}.{m}()", "if not isinstance({v}, ({C}, {C})): return {v}.{m}()", "{v}.{a}.{m}()",
    "assert type({v}.{a}) is {C}", "if callable({v}): {v}()", "match {v}:\n            case {C}(): {v}.{m}()",
    "if isinstance({v}, {C}): {v} = {e}", "TABLE['{k}'].{m}()", "{v}.{a}()",
    "super().{m}()", "self.{a} = {e}", "{v} = self.{a}", "self.{m}()", "if {v}: {v} = {e}", "# {k}", "pass",
)  # fmt: skip
HEADS = ("one", "one", "one, two=None", "one=None, *more", "*more, **others", "one: {C}", "one, two: '{C}' = None")
DECORATORS = ("", "", "", "@staticmethod", "@property", "@classmethod", "@{F}", "@contextmanager", "@{F}({v})")
BASES = ("", "", "(Cat)", "({C})", "({C}, {D})", "({F}({C}))", "(Missing)")
START = "from contextlib import contextmanager\nfrom functools import partial\n"


class Program:
    """Files of functions and classes; each body is a list of statements."""

    def __init__(self, source: random.Random) -> None:
        self._source = source
        kinds = (FUNCTIONS, CLASSES, METHODS, FIELDS)
        self._known = {
            path: [source.sample(names, count) for names, count in zip(kinds, (1, 1, 2, 1), strict=True)]
            for path in FILES
        }  # what it speaks of
        self._names = self._known[FILES[0]]
        self.parts: dict[str, list[str]] = {}  # by file: a definition each, or a statement
        for path in FILES:
            self._names = self._known[path]
            self.parts[path] = [self._write_statement("")]
        for name in (*FUNCTIONS, *CLASSES):
            path = source.choice(FILES)
            self._names = self._known[path]
            self.parts[path].append(self._write_class(name) if name in CLASSES else self._write_function(name, ""))

    def _fill(self, text: str, depth: int = 0) -> str:
        pick, (functions, classes, methods, fields) = self._source.choice, self._names
        while "{e}" in text:
            text = text.replace(
                "{e}", self._fill(pick(EXPRESSIONS), depth + 1) if depth < 2 else pick(CLASSES) + "()", 1
            )
        for mark, words in (
            ("{C}", classes), ("{D}", classes), ("{F}", functions), ("{m}", methods), ("{a}", fields),
            ("{v}", ("one", "it", "self")), ("{w}", ("it", "other")), ("{k}", ("left", "right")),
        ):  # fmt: skip
            text = text.replace(mark, pick(words))
        return text

    def _write_statement(self, margin: str) -> str:
        return f"{margin}{self._fill(self._source.choice(STATEMENTS))}\n"

    def _write_function(self, name: str, margin: str) -> str:
        pick = self._source.choice
        decorator = self._fill(pick(DECORATORS))
        head = f"{'self, ' if margin else ''}{self._fill(pick(HEADS))}"
        lines = [f"{margin}{decorator}\n" if decorator else "", f"{margin}def {name}({head}):\n"]
        return "".join(lines + [self._write_statement(f"{margin}    ") for _ in range(pick((1, 2, 3)))])

    def _write_class(self, name: str) -> str:
        bases = self._fill(self._source.choice(BASES)).replace(f"({name})", "")
        methods = [self._write_function(each, "    ") for each in self._names[2]]
        return f"class {name}{bases}:\n" + "".join(methods)

    def change(self) -> dict[str, str]:
        """Change a line or two, and give the texts of the files."""
        for _ in range(self._source.choice((1, 1, 2))):
            path = self._source.choice(FILES)
            parts, self._names = self.parts[path], self._known[path]
            place = self._source.randrange(len(parts))
            lines = parts[place].splitlines(keepends=True)
            inside = [i for i, line in enumerate(lines) if not line.lstrip().startswith(("def ", "class ", "@"))]
            deed = self._source.randrange(9)
            line = self._source.choice(inside) if inside else 0
            margin = lines[line][: len(lines[line]) - len(lines[line].lstrip())]
            if deed < 3:
                lines[line] = self._write_statement(margin)
            elif deed < 5:
                lines.insert(line, self._write_statement(margin))
            elif deed == 5 and len(inside) > 1:
                del lines[line]
            elif deed == 6 and lines[0].startswith("class"):
                lines.append(self._write_function(self._source.choice(METHODS), "    "))
            elif deed == 7:
                lines = [self._write_function(self._source.choice(FUNCTIONS), "")]
            else:
                lines = [self._write_class(self._source.choice(CLASSES))]
            parts[place] = "".join(lines)
        return self.write()

    def write(self) -> dict[str, str]:
        """Give the texts of the files; each imports what it speaks of from where that is defined first."""
        homes: dict[str, str] = {}
        for path, parts in self.parts.items():
            for name in re.findall(r"^(?:def|class) (\w+)", "\n".join(parts), re.MULTILINE):
                homes.setdefault(name, path)
        texts = {}
        for path, parts in self.parts.items():
            body = "\n\n".join(parts)
            asked = sorted({name for name in WORD.findall(body) if homes.get(name, path) != path})
            imports = "".join(f"from {_name_module(homes[name])} import {name}\n" for name in asked)
            texts[path] = f"{START}{imports}\nSHELF = []\nTABLE = {{}}\n\n\n{body}"
        return texts


def _name_module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@settings(max_examples=min(6, settings().max_examples // 8), deadline=None)
@given(st.integers(0, 10**6))
def test_links_of_programs_are_those_of_a_build_from_nothing(seed: int) -> None:
    program = Program(random.Random(seed))
    follow(program.write(), lambda _: program.change(), 10)
