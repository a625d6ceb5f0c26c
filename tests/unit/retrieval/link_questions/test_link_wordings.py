"""The usual wordings of questions about links are recognised, and other questions are not."""

from __future__ import annotations

import pytest

from pkg.retrieval.link_questions.link_wordings import parse_link_question

LINKS = [
    ("who calls Cart.total?", "callers", "Cart.total"),
    ("Which functions in the code call `total`", "callers", "total"),
    ("Where is total called from?", "callers", "total"),
    ("By which functions is Cart.total called?", "callers", "Cart.total"),
    ("list all callers of Cart.total", "callers", "Cart.total"),
    ("How many callers does `total` have?", "callers", "total"),
    ("I want to know what calls the total method", "callers", "total"),
    ("What does Cart.total call?", "callees", "Cart.total"),
    ("which functions are called by Cart.total", "callees", "Cart.total"),
    ("what uses the class Cart?", "uses", "Cart"),
    ("Is MAX_ITEMS used anywhere?", "uses", "MAX_ITEMS"),
    ("Which parts of the code depend on shop/cart.py?", "uses", "shop/cart.py"),
    ("Is `find_price` dead code?", "uses", "find_price"),
    ("What does shop.cart depend on?", "needs", "shop.cart"),
    ("what breaks if I change Cart.total", "impact", "Cart.total"),
    ("If I rename Cart.total, what else has to change?", "impact", "Cart.total"),
    ("What would be affected by changing the signature of find_price?", "impact", "find_price"),
    ("Can I safely remove `find_price`?", "impact", "find_price"),
    ("Where is the worker class named Cart defined?", "definition", "Cart"),
    ("Which file defines find_price?", "definition", "find_price"),
    ("in which module does Cart live", "definition", "Cart"),
    ("What tests cover Cart.total?", "tests", "Cart.total"),
    ("Is Cart.total tested?", "tests", "Cart.total"),
    ("which tests should I run after changing find_price", "tests", "find_price"),
    ("Which files import shop.cart?", "importers", "shop.cart"),
    ("Where is the module `shop.cart` imported?", "importers", "shop.cart"),
    ("which modules does shop/cart.py import", "imports", "shop/cart.py"),
    ("Which classes inherit from Base?", "subclasses", "Base"),
    ("What are the subclasses of the Base class?", "subclasses", "Base"),
    ("What does Cart inherit from?", "bases", "Cart"),
    ("Which methods override Base.save?", "overridden by", "Base.save"),
    ("Who creates Cart objects?", "creators", "Cart"),
    ("Where is EmptyCartError raised?", "creators", "EmptyCartError"),
    ("which file is find_price in", "definition", "find_price"),
    ("which transports call prepare_queue", "callers", "prepare_queue"),
    ("who calls run", "callers", "run"),
    ("Does Cart.total call find_price?", "calls", "Cart.total"),
    ("Is find_price called by Cart.total?", "calls", "Cart.total"),
    ("Is Cart a subclass of Base?", "inherits", "Cart"),
]

OTHERS = """
how does the caller id get parsed
How are results ordered?
what does Cart.total do
What is a Cart used for?
why does Cart.total call find_price
when is Worker.on_start executed
where is the retry decided
where is the limit of retries checked
How is a message acknowledged?
What happens when a worker loses its connection?
Where is the timeout defined
which licence is it released under
How do I install the package with redis support?
Explain how imports of tasks are resolved
how are subclasses of Backend registered
what is the difference between run and run_once
What arguments does find_price take?
What does find_price return?
Does the shop use threads?
How to test a task?
write a function that calls Cart.total
add a test for Cart.total
rename Cart.total to Cart.sum
Fix the bug where Cart is used before it is set
which exceptions can Cart.total raise
When should I use Cart instead of Basket
which settings control the pool size
where are the callers logged
how many workers are started
what uses the most memory
who maintains this project
what changes between versions 4 and 5
is it safe to use threads
which test runner is used
what imports are needed to define a task
how is the call stack unwound
What does the import hook do?
how does Connection extend the timeout?
Is there a retry when the call fails?
where is the default value used when no config is given?
how is the base url derived from the host header
find usages of deprecated syntax and fix them
what does it call
parse a color from a hex string
find the callers that pass a wrong argument
what creates the event loop
which file contains the configuration
change the timeout of the connection
is the connection used after it is closed
read the config file
is this file really a dicom file
override Base.save in Cart
Cart.total is called with None, which raises TypeError
""".strip().splitlines()


@pytest.mark.parametrize(("text", "kind", "name"), LINKS)
def test_a_question_about_links_is_recognised(text: str, kind: str, name: str) -> None:
    question = parse_link_question(text)
    assert question.is_whole
    (clause,) = question.clauses
    assert (clause.kind, clause.subjects[0].names[0]) == (kind, name)


@pytest.mark.parametrize("text", OTHERS)
def test_another_question_is_not(text: str) -> None:
    assert parse_link_question(text).clauses == ()


def test_a_pronoun_means_the_subject_before() -> None:
    first, second = parse_link_question("Where is Cart.total defined, and who calls it?").clauses
    assert (first.kind, second.kind) == ("definition", "callers")
    assert first.subjects == second.subjects


def test_a_question_that_asks_more_is_answered_in_part() -> None:
    question = parse_link_question("How is the price rounded, and what calls Cart.total?")
    assert not question.is_whole
    assert [each.kind for each in question.clauses] == ["callers"]


def test_a_name_has_the_class_or_module_around_it() -> None:
    method = parse_link_question("who calls the `close` method of the Pool class?").clauses[0].subjects[0]
    assert (method.names[0], method.kind, method.inside) == ("close", "Function", ("Pool",))
    assert parse_link_question("who calls Pool's close method?").clauses[0].subjects[0].inside == ("Pool",)


def test_words_joined_are_a_name_if_their_kind_is_said() -> None:
    phrase = parse_link_question("what uses the sync worker class?").clauses[0].subjects[0]
    assert phrase.names == ("sync_worker", "SyncWorker")


def test_results_may_be_asked_for_outside_of_the_file() -> None:
    (clause,) = parse_link_question("is TLVEncoder used outside of its own file?").clauses
    assert (clause.kind, clause.is_elsewhere) == ("uses", True)


def test_results_may_be_asked_for_in_a_place() -> None:
    for text in ("Which functions in shop/cart.py call total?", "In shop/cart.py, who calls total?"):
        (clause,) = parse_link_question(text).clauses
        assert clause.within is not None
        assert clause.within.names == ("shop/cart.py",)
