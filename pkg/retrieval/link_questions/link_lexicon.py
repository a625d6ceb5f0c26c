"""The words of questions about links, by the token that each stands for, and words without a meaning of their own."""

from __future__ import annotations

from collections.abc import Mapping

_WORDS: Mapping[str, str] = {
    "WHO": (
        "who what whom which anything anyone anybody something someone somebody everything nothing everyone whatever"
    ),
    "THING": (
        "function functions method methods class classes code place places spot spots part parts piece pieces"
        " component components object objects line lines property properties exception exceptions error errors"
        " type types mixin mixins routine routines helper helpers callable callables path paths thing things entry"
        " point points site sites constant constants variable variables attribute attributes name names instance"
        " instances coroutine coroutines decorator decorators dataclass hook field fields setting settings one"
        " ones definitions"
    ),
    "FILE": (
        "file files module modules package packages submodule submodules subpackage library libraries script scripts"
    ),
    "WHERE": "where wherever",
    "HOW": "how why",
    "IF": "if when once after",
    "CALL": "call calls calling invoke invokes invoking",
    "CALLED": "called invoked",
    "CALLERS": "caller callers invocations invocation callsite callsites",
    "CALLEES": "callee callees",
    "USE": (
        "use uses using reference references referencing depend depends depending rely relies relying consume"
        " consumes access accesses accessing need needs require requires utilise utilises utilize utilizes employs"
        " refer refers"
    ),
    "USED": "used referenced needed required accessed consumed utilised utilized referred unused",
    "USERS": "user users usage usages dependents dependent consumers consumer occurrences clients",
    "DEPENDENCIES": "dependencies dependency",
    "IMPORT": "import imports importing",
    "IMPORTED": "imported",
    "IMPORTERS": "importers importer",
    "INHERIT": (
        "inherit inherits inheriting extend extends extending subclass subclasses subclassing derive derives"
        " deriving descend descends descending build builds building"
    ),
    "INHERITED": "subclassed extended derived inherited based descended",
    "CHILDREN": "children child descendants descendant implementations implementers inheritors",
    "BASES": "base bases parent parents superclass superclasses ancestor ancestors mro baseclass baseclasses",
    "IMPLEMENT": "implement implements implementing",
    "OVERRIDE": "override overrides overriding reimplement reimplements redefine redefines redefining overriders",
    "OVERRIDDEN": "overridden reimplemented redefined overriden",
    "CREATE": (
        "instantiate instantiates instantiating construct constructs constructing create creates creating raise"
        " raises raising throw throws"
    ),
    "CREATED": "instantiated constructed created raised thrown",
    "READ": "read reads reading",
    "DEFINED": "defined declared implemented located found situated",
    "DEFINE": "define defines declare declares contain contains hold holds house houses provide provides",
    "DEFINITION": "definition declaration implementation location source",
    "LIVE": "live lives reside resides sit sits come comes",
    "FIND": "find locate see look show list get give display enumerate print tell check know explain search name say",
    "TESTS": "test tests testcase testcases pytest",
    "COVER": (
        "cover covers covering exercise exercises exercising verify verifies hit hits validate validates testing"
        " execute executes"
    ),
    "TESTED": "tested covered exercised verified",
    "REACH": "reach reaches reachable reached lead leads end ends",
    "PATH": "chain chains route routes",
    "CHANGE": (
        "change changes changed changing modify modifies modified modifying edit edits edited editing alter"
        " alters altered altering remove removes removed removing delete deletes deleted deleting rename renames"
        " renamed renaming refactor refactors refactored refactoring rewrite rewrites rewriting replace replaces"
        " replaced replacing drop dropping modification modifications touch touched touching update updates"
        " updated updating"
    ),
    "BREAK": (
        "break breaks breaking broken fail fails failing affected impacted affect affects impact impacts"
        " influenced safe safely blast radius consequences effect effects ripple happen happens suffer suffers"
    ),
    "DEAD": "dead unused obsolete orphaned unreferenced",
    "RUN": "run rerun runs",
    "MANY": "many often times",
    "CAN": "can could may",
    "IT": "it them they",
}

TOKENS: Mapping[str, str] = {word: token for token, words in _WORDS.items() for word in words.split()}
"""The token of each word; a verb and its participle differ, as `what X calls` and `what is called by X` do."""


def _read_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


PREPOSITIONS = _read_set("of in on by from to for into inside within at through between with under")
FILLERS = _read_set(
    "is are was were be been being do does did the a an any all every each this that these those our its their"
    " would will might should must has have had get gets got there me us i we you directly actually currently ever"
    " also still really eventually explicitly just exactly please anywhere elsewhere somewhere else whole entire"
    " other different public private internal internally external production python unit integration existing"
    " concrete direct known codebase repo repository project graph now already both ok hey hi so then s as well"
    " again itself only whether like want anymore more possible various indirect indirectly whose own who's"
    " signature behaviour behavior interface api semantics up out make makes making made kind kinds"
)
"""Words that are dropped."""
KINDS: Mapping[str, str] = {
    **dict.fromkeys(_read_set("function method routine helper coroutine callable property hook decorator"), "Function"),
    **dict.fromkeys(_read_set("class exception error mixin type dataclass"), "Class"),
    **dict.fromkeys(_read_set("file module package submodule subpackage library script"), "File"),
    **dict.fromkeys(_read_set("constant variable attribute setting field"), "Constant"),
}
"""Nouns of a kind of definition or file, with its label; the label File also stands for libraries."""
ASPECTS = _read_set(
    "signature behaviour behavior interface api instance instances object objects code body implementation"
    " definition source name argument arguments parameters value type contents methods"
)
"""Nouns of a part of a subject: a change of the signature of a function is one of the function."""
OBJECTS = _read_set("object objects instance instances")
DETERMINERS = _read_set("the a an our this that its any every all each their")
CHOOSERS = _read_set("which what how many all any every each of")
"""Words before the noun that is asked for, as in `which class`."""
NAMING = _read_set("named called")
