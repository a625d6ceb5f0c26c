"""Trees of files that are hard on a resolver: cycles, depth, breadth, files that do not parse."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

Tree = dict[str, str]

DEPTH = 2_000  # links of a chain of attributes
LINES = 5_000  # of a generated file


def make_bad_inputs() -> dict[str, Tree]:
    """Return every tree by its name."""
    return {make.__name__.removeprefix("make_").replace("_", " "): make() for make in _MAKERS}


def make_circular_imports() -> Tree:
    count = 50
    text = "from m{next} import step_{next}\nimport m{next}\n\n\ndef step_{own}():\n    m{next}.step_{next}()\n"
    return {f"m{own}.py": text.format(own=own, next=(own + 1) % count) for own in range(count)}


def make_names_that_import_each_other() -> Tree:
    return {
        "one.py": "from two import name\n\n\ndef caller():\n    name()\n",
        "two.py": "from one import name\n\n\ndef caller():\n    name()\n",
        "self_import.py": "from self_import import name\nfrom . import self_import\n\nname()\n",
    }


def make_circular_inheritance() -> Tree:
    return {
        "one.py": "from two import Two\n\n\nclass One(Two):\n    def work(self):\n        super().work()\n",
        "two.py": "from three import Three\n\n\nclass Two(Three):\n    def start(self):\n        self.work()\n",
        "three.py": "from one import One\n\n\nclass Three(One):\n    def end(self):\n        self.start()\n",
    }


def make_a_class_that_inherits_from_itself() -> Tree:
    body = "    def work(self):\n        self.lost()\n        super().work()\n"
    return {"main.py": f"class Thing(Thing):\n{body}\n\nclass Other(Other, Thing, Other):\n{body}\n\nOther().work()\n"}


def make_type_aliases_that_speak_of_themselves() -> Tree:
    return {
        "types.py": dedent("""\
            from typing import Dict, List, Union

            Spec = Union["Spec", List["Spec"], None]
            Tree = Union["Leaves", int]
            Leaves = Dict[str, "Tree"]


            def walk(spec: Spec, tree: Tree) -> Leaves:
                for each in spec:
                    walk(each, tree[each])
                return walk(spec, tree)
            """),
    }


def make_star_imports_in_a_cycle() -> Tree:
    count = 20
    text = "from m{next} import *\n__all__ = ['f{own}']\n__all__ += m{next}.__all__\n\n\ndef f{own}():\n    f{next}()\n"
    return {f"m{own}.py": text.format(own=own, next=(own + 1) % count) for own in range(count)}


def make_a_star_import_of_itself() -> Tree:
    return {
        "pkg/__init__.py": "from . import *\nfrom pkg import *\nfrom .sub import *\n",
        "pkg/sub.py": "from .. import *\n",
    }


def make_packages_named_like_builtins() -> Tree:
    text = "def append(value):\n    pass\n\n\nclass str:\n    pass\n"
    user = (
        "import list\nimport dict.get\nfrom list import append\n\nlist.append(1)\ndict.get.append(2)\nprint(str(3))\n"
    )
    return {
        "list/__init__.py": text,
        "dict/get.py": text,
        "print.py": text,
        "builtins/__init__.py": text,
        "main.py": user,
    }


def make_names_that_are_not_identifiers() -> Tree:
    text = "from . import other\n\n\ndef helper():\n    other()\n"
    return {
        "my-tool/run me.py": text,
        "class/def.py": text,
        "1/2.py": text,
        "päckchen/größe.py": text,
        ".hidden.py": text,
    }


def make_a_deep_chain_of_attributes() -> Tree:
    read = f"value = thing{'.next' * DEPTH}\n"
    call = f"other = thing{'.next()' * DEPTH}\n"
    item = f"third = thing{'[0]' * DEPTH}\n"
    return {
        "reads.py": read,
        "calls.py": f"class Thing:\n    def next(self):\n        return self\n\nthing = Thing()\n{call}",
        "items.py": item,
    }


def make_deep_nesting_of_code() -> Tree:
    functions = "".join(f"{' ' * depth}def f{depth}():\n" for depth in range(90)) + " " * 90 + "f0()\n"
    classes = "".join(f"{' ' * depth}class C{depth}:\n" for depth in range(90)) + " " * 90 + "C0()\n"
    calls = "f(" * 150 + ")" * 150 + "\n"
    sums = "total = " + " + ".join(["f()"] * DEPTH) + "\n"
    return {
        "functions.py": functions,
        "classes.py": classes,
        "calls.py": f"def f(*a): return f\n{calls}",
        "sums.py": sums,
    }


def make_a_generated_file_of_5000_lines() -> Tree:
    lines = (
        f"def f{n}(a, b=None): return g{n}(f{(n * 7) % LINES}(a), b or f{(n + 1) % LINES}(a))" for n in range(LINES)
    )
    return {"generated.py": "\n".join(lines) + "\n"}


def make_a_generated_class_of_5000_methods() -> Tree:
    lines = (f"    def m{n}(self): return self.m{(n * 7) % LINES}().m{(n + 1) % LINES}()" for n in range(LINES))
    return {"generated.py": "class Thing:\n" + "\n".join(lines) + "\n"}


def make_two_roots_with_the_same_package() -> Tree:
    work = (
        "from app.tools import helper\nfrom .tools import Thing\n\n\ndef caller():\n    helper()\n    Thing().work()\n"
    )
    tools = "class Thing:\n    def work(self):\n        helper()\n\n\ndef helper():\n    pass\n"
    files = {
        "app/__init__.py": "",
        "app/work.py": work,
        "app/tools.py": tools,
        "app/sub/__init__.py": "from .. import work\n",
    }
    return {f"{root}/{path}": text for root in ("one", "two", "three/src") for path, text in files.items()}


def make_a_repository_of_no_python() -> Tree:
    return {"README.md": "# Nothing here\n", "data.json": "{}\n", "src/main.c": "int main() { return 0; }\n"}


def make_files_of_nothing() -> Tree:
    return {
        "empty.py": "",
        "blank.py": "\n\n",
        "comment.py": "# nothing\n",
        "pkg/__init__.py": "",
        "text.py": '"""Say."""',
    }


def make_a_class_with_300_bases() -> Tree:
    bases = "\n".join(
        f"class B{n}:\n    def work(self):\n        super().work()\n\n    def m{n}(self):\n        self.work()\n"
        for n in range(300)
    )
    names = ", ".join(f"B{n}" for n in range(300))
    return {
        "main.py": f"{bases}\nclass All({names}):\n    def start(self):\n        self.m299()\n        self.work()\n"
    }


def make_a_chain_of_300_classes() -> Tree:
    head = "class C0:\n    def work(self):\n        pass\n\n"
    rest = "\n".join(f"class C{n}(C{n - 1}):\n    def work(self):\n        super().work()\n" for n in range(1, 300))
    return {"main.py": f"{head}{rest}\ndef caller(thing: C0):\n    thing.work()\n"}


def make_a_ladder_of_diamonds() -> Tree:
    rungs = "\n".join(
        f"class L{n}(T{n - 1}): pass\nclass R{n}(T{n - 1}): pass\n"
        f"class T{n}(L{n}, R{n}):\n    def work(self): super().work()\n"
        for n in range(1, 40)
    )
    return {"main.py": f"class T0:\n    def work(self): pass\n{rungs}\nT39().work()\n"}


def make_a_call_with_500_arguments() -> Tree:
    parameters = ", ".join(f"p{n}=None" for n in range(500))
    given = ", ".join(f"p{n}=f{n}" for n in range(500))
    functions = "\n".join(f"def f{n}(): pass" for n in range(500))
    calls = "\n".join(f"    p{n}()" for n in range(500))
    in_order = ", ".join(f"f{n}" for n in range(500))
    return {"main.py": f"{functions}\n\ndef run({parameters}):\n{calls}\n\nrun({given})\nrun({in_order})\n"}


def make_values_in_a_cycle() -> Tree:
    return {
        "main.py": dedent("""\
            a = b
            b = a
            a()


            def f(x):
                y = x
                x = y
                return g(x)


            def g(x):
                return f(x)


            f(g)()()()
        """),
        "loop.py": dedent("""\
            x = [x]
            x = x[0]
            x = x

            d = {}
            d['d'] = d
            d['d']['d']['d']()


            def f():
                return f


            f()()()()
            f = f
        """),
        "attributes.py": dedent("""\
            class A:
                def __init__(self, other):
                    self.a = other.b
                    self.b = self.a
                    self.a.b.a.b()


            A(A(A))
        """),
        "one.py": "import two\n\nname = two.name\nname()\n",
        "two.py": "import one\n\nname = one.name\nname()\n",
        "types.py": "A = B\nB = A\n\n\ndef f(x: A) -> B:\n    x.work()\n    return f(f(x))\n",
    }


def make_a_chain_of_500_aliases() -> Tree:
    chain = "\n".join(f"a{n} = a{n - 1}" for n in range(1, 501))
    backwards = "\n".join(f"b{n} = b{n + 1}" for n in range(500))
    returns = "\n".join(f"def r{n}():\n    return r{n - 1}()" for n in range(1, 501))
    head = "def target():\n    pass\n\na0 = target\n"
    return {
        "main.py": f"{head}{chain}\na500()\n\n{backwards}\nb500 = target\nb0()\n",
        "returns.py": f"{head}\ndef r0():\n    return target\n\n{returns}\n\nr500()()\n",
    }


def make_a_chain_of_500_modules() -> Tree:
    chain = {f"m{n}.py": f"from m{n - 1} import name\n\nname()\n" for n in range(1, 501)}
    return {"m0.py": "def name():\n    pass\n", **chain}


def make_recursion_in_decorators() -> Tree:
    return {
        "main.py": dedent("""\
            @dec
            def dec(f):
                @dec
                def inner():
                    return dec(inner)
                return inner


            @dec
            @dec(dec)
            def f():
                f()


            f()()
        """),
        "stack.py": "def dec(f):\n    return f\n\n\n" + "@dec\n" * 500 + "def f():\n    pass\n\n\nf()\n",
        "classes.py": dedent("""\
            @Thing
            class Thing:
                def __call__(self, f):
                    return Thing(f)

                @Thing
                def work(self):
                    self.work()
        """),
    }


def make_recursion_in_properties() -> Tree:
    return {
        "main.py": dedent("""\
            class A:
                @property
                def a(self):
                    return self.b

                @property
                def b(self):
                    return self.a

                def __getattr__(self, name):
                    return self.a.b.c


            A().a.b.a()
        """),
    }


def make_syntax_errors_in_files_that_others_import() -> Tree:
    return {
        "broken.py": "def helper(:\n    pass\n\n\nclass Thing\n    pass\n",
        "half.py": "def helper():\n    return [1, 2\n",
        "old.py": "def helper():\n    print 'old'\n",
        "pkg/__init__.py": "from .broken import helper\nimport (\n",
        "pkg/broken.py": "if True:\nhelper()\n",
        "main.py": dedent("""\
            import broken
            from broken import *
            from half import helper as half
            from old import helper as old
            from pkg import helper
            import pkg.broken


            class Child(broken.Thing):
                def start(self):
                    self.work()


            helper()
            half()
            old()
            pkg.broken.helper()
            broken.helper()
        """),
    }


def make_a_name_bound_to_1000_functions() -> Tree:
    functions = "\n".join(f"def f{n}(action=None):\n    return f{(n + 1) % 1000}" for n in range(1000))
    bindings = "\n".join(f"if flag == {n}:\n    chosen = f{n}" for n in range(1000))
    table = "TABLE = {" + ", ".join(f"'k{n}': f{n}" for n in range(1000)) + "}\n"
    calls = "\n".join(f"def c{n}(key):\n    chosen(TABLE[key])\n    TABLE[key](chosen)" for n in range(50))
    return {"main.py": f"flag = 0\n{functions}\n{bindings}\n{table}\n{calls}\n"}


def make_a_method_overridden_1000_times() -> Tree:
    children = "\n".join(
        f"class C{n}(Base):\n    def work(self):\n        return C{(n + 1) % 1000}()" for n in range(1000)
    )
    calls = "\n".join(f"def c{n}(thing: Base):\n    return thing.work().work().work()" for n in range(50))
    return {"main.py": f"class Base:\n    def work(self):\n        pass\n\n{children}\n{calls}\n"}


def make_a_registry_that_every_file_fills() -> Tree:
    head = "from registry import TABLE, register\n\n\n@register\n"
    body = "def f{n}(x):\n    return TABLE[x](TABLE)\n\n\nTABLE['k{n}'] = f{n}\n"
    registry = "TABLE = {}\n\n\ndef register(f):\n    TABLE[f] = f\n    return TABLE[f](register)\n"
    return {"registry.py": registry, **{f"m{n}.py": head + body.format(n=n) for n in range(200)}}


def make_odd_texts() -> Tree:
    return {
        "bom.py": "\ufeffdef helper():\n    pass\n\n\nhelper()\n",
        "returns.py": "def helper():\r\n    pass\r\n\r\n\r\nhelper()\r\n",
        "pages.py": "\x0cdef helper():\n    pass\n\x0c\nhelper()\n",
        "unicode.py": "def größe():\n    pass\n\n\ndef ﬁnd():\n    find()\n\n\ngröße()\nﬁnd()\n",
        "levels.py": "from ................................ import name\nfrom .........a.b import *\n\nname()\n",
        "all.py": "__all__ = [f'{x}' for x in 'ab']\n__all__ += 5\n__all__.remove('c')\n__all__ = __all__ + __all__\n",
        "user.py": "from all import *\nfrom levels import *\nfrom unicode import *\nfrom user import *\n\ngröße()\n",
        "main.py": "import main\nimport main as main\nfrom main import main\n\nmain.main.main()\nmain()\n",
        "deep_alias.py": "import a.b.c.d.e.f.g as a\n\na.b.c.d.e.f.g()\n",
    }


_MAKERS: tuple[Callable[[], Tree], ...] = tuple(
    value for name, value in list(globals().items()) if name.startswith("make_") and name != "make_bad_inputs"
)
