"""Answers are written, run on the question's examples, repaired and chosen; context cannot spoil one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from scripted_model import Answer, ScriptedModel

from pkg.errors import ModelBusyError, UsageError
from pkg.generation.cascade import is_small, list_templates, plan_variants, write_answer
from pkg.generation.generate_options import GenerateOptions
from pkg.generation.linking import Piece
from pkg.generation.prompt_templates.prompt_template import HelperText, make_task
from pkg.generation.sample_writer import Context
from pkg.generation.samples import WrittenAnswer, keep_complete
from pkg.rerank.reranker import Reranker

STUB = '''def double(n):
    """Give twice a number.

    >>> double(2)
    4
    >>> double(5)
    10
    """
'''
PLAIN = "Write a function named `double` that gives twice a number."
WRONG, RIGHT = "    return n + 2\n", "    return 2 * n\n"
HELPER = HelperText("sums.py:1-2 add", "def add(a, b):\n    return a + b")
CONTEXT = Context(code=(HELPER,), signatures=(HELPER,), pieces=(Piece("add", "sums.py:1", HELPER.code),))


@pytest.fixture(scope="module")
def reranker() -> Iterator[Reranker]:
    with Reranker() as made:
        yield made


def ask(
    reranker: Reranker,
    answers: Sequence[Answer],
    options: GenerateOptions | None = None,
    context: Context = CONTEXT,
    text: str = STUB,
    model: ScriptedModel | None = None,
) -> tuple[WrittenAnswer, ScriptedModel]:
    model = model or ScriptedModel(answers)
    return write_answer(text, model, context, options or GenerateOptions(), reranker), model


def shows_helper(model: ScriptedModel, number: int) -> bool:
    return any("a + b" in each.content for each in model.asked[number])


def test_an_answer_for_which_every_example_holds_is_taken_without_context(reranker: Reranker) -> None:
    answer, model = ask(reranker, [RIGHT])
    assert len(model.asked) == 1
    assert not shows_helper(model, 0)
    assert answer.best.holds
    assert answer.examples == ("double(2) == 4", "double(5) == 10")


def test_context_is_shown_after_a_failed_example_and_counts_if_all_hold(reranker: Reranker) -> None:
    answer, model = ask(reranker, [WRONG, RIGHT])
    assert (shows_helper(model, 0), shows_helper(model, 1)) == (False, True)
    assert answer.chosen == 1
    assert answer.best.shown == (HELPER.place,)


def test_an_answer_with_context_is_not_eligible_while_an_example_fails(reranker: Reranker) -> None:
    answer, _ = ask(reranker, ["    return n\n", WRONG, WRONG])
    assert answer.samples[1].passed > answer.samples[0].passed
    assert answer.best.variant.context == "none"


def test_the_best_stays_if_all_were_written_with_context(reranker: Reranker) -> None:
    answer, _ = ask(reranker, ["    return n\n", WRONG], GenerateOptions(context="code"))
    assert {each.variant.context for each in answer.samples} == {"code"}
    assert answer.best.passed == 1


def test_feedback_repairs_a_failed_answer(reranker: Reranker) -> None:
    answer, model = ask(reranker, [WRONG, RIGHT], GenerateOptions(attempts=3), context=Context(), model=None)
    told = "".join(each.content for each in model.asked[1])
    assert answer.best.holds or "expected" in told
    answer, model = ask(
        reranker, [], GenerateOptions(attempts=3, form="brief"), Context(), model=ScriptedModel(_mend_when_told)
    )
    assert answer.best.hop == 2
    assert answer.best.holds


def _mend_when_told(asked: Sequence[object]) -> str:
    return f"```python\ndef double(n):\n{RIGHT if 'expected 10' in str(asked) else WRONG}```"


def test_attempts_end_at_their_number(reranker: Reranker) -> None:
    options = GenerateOptions(attempts=3, form="primed")
    answer, model = ask(reranker, [WRONG], options, Context())
    assert [each.hop for each in answer.samples] == [1, 2, 3]
    assert len(model.asked) == 3


def test_a_model_that_writes_the_same_again_is_asked_for_another_sample(reranker: Reranker) -> None:
    _, model = ask(reranker, [WRONG], GenerateOptions(attempts=3, form="primed"), Context())
    assert [each.temperature for each in model.decodings] == [0.0, 0.0, 0.8]


def test_an_answer_without_the_wanted_function_is_sent_back_once(reranker: Reranker) -> None:
    answers = ["```python\ndef other(n):\n    return n\n```", f"```python\ndef double(n):\n{RIGHT}```"]
    answer, model = ask(reranker, answers, GenerateOptions(context="none"), text=PLAIN)
    assert len(model.asked) == 2
    assert answer.best.is_wanted


def test_an_answer_of_prose_is_sent_back_once_and_reported(reranker: Reranker) -> None:
    answers = ["I would rather not.", f"```python\ndef double(n):\n{RIGHT}```"]
    answer, model = ask(reranker, answers, GenerateOptions(context="none"), text=PLAIN)
    assert len(model.asked) == 2
    assert "The answer has no code." in str(model.asked[1])
    assert answer.best.is_wanted
    answer, model = ask(reranker, ["I would rather not."], GenerateOptions(context="none"), text=PLAIN)
    assert len(model.asked) == 2
    assert "it has no code" in answer.decisions[-1]


def test_an_import_that_an_answer_forgets_is_added(reranker: Reranker) -> None:
    answer, _ = ask(reranker, ["    return math.prod((2, n))\n"])
    assert answer.best.holds
    bare, _ = ask(reranker, ["    return math.prod((2, n))\n"], GenerateOptions(link=False, context="none", samples=1))
    assert bare.best.missing == ("math",)


def test_a_called_helper_is_inserted(reranker: Reranker) -> None:
    answer, _ = ask(reranker, ["    return add(n, n)\n"])
    assert answer.best.holds
    assert [each.name for each in answer.best.linked] == ["add"]
    assert any("add of sums.py:1" in line for line in answer.decisions)
    bare, _ = ask(reranker, ["    return add(n, n)\n"], GenerateOptions(link=False, context="none", samples=1))
    assert bare.best.missing == ("add",)
    assert not bare.best.holds


def test_a_question_without_examples_is_answered_once_with_context(reranker: Reranker) -> None:
    answer, model = ask(reranker, [f"```python\ndef double(n):\n{RIGHT}```"], text=PLAIN)
    assert len(model.asked) == 1
    assert shows_helper(model, 0)
    assert answer.code.strip() == f"def double(n):\n{RIGHT}".strip()


@pytest.mark.parametrize("own", [1.0, 0.0])
def test_small_models_are_shown_code_of_a_repository_and_nothing_of_a_corpus(reranker: Reranker, own: float) -> None:
    signals = {"code": {"own": own}, "signatures": {"own": own}}
    context = Context(
        code=(HELPER,), signatures=(HelperText("sums.py:1 add", "def add(a, b):\n    ..."),), signals=signals
    )
    answer, model = ask(reranker, [RIGHT], text=PLAIN, context=context, model=ScriptedModel([RIGHT], name="coder-0.5B"))
    assert shows_helper(model, 0) is bool(own)
    assert not any("    ..." in each.content for each in model.asked[0])
    assert any(line.startswith("not shown: code") for line in answer.decisions) is not bool(own)


def test_the_examples_choose_among_several_samples(reranker: Reranker) -> None:
    answers = [WRONG, WRONG, RIGHT, WRONG, WRONG]
    answer, model = ask(reranker, answers, GenerateOptions(samples=5, form="primed", context="none"))
    assert len(model.asked) == 5
    assert answer.chosen == 2
    assert [each.temperature for each in model.decodings] == [0.0, 0.8, 0.8, 0.8, 0.8]
    assert len({each.seed for each in model.decodings}) == 5


def test_without_rerank_the_first_sample_stays(reranker: Reranker) -> None:
    answer, _ = ask(reranker, [WRONG, RIGHT], GenerateOptions(samples=2, rerank=False, form="primed", context="none"))
    assert answer.chosen == 0
    assert len(answer.samples) == 2


def test_a_question_in_words_gets_words_and_nothing_runs(reranker: Reranker) -> None:
    told: list[str] = []
    model = ScriptedModel(["It adds two numbers."])
    options = GenerateOptions(frame="explain")
    answer = write_answer("What does add do?", model, CONTEXT, options, reranker, listen=told.append)
    assert answer.text == "It adds two numbers."
    assert "".join(told) == answer.text
    assert answer.code == ""
    assert shows_helper(model, 0)


def test_an_answer_that_may_be_replaced_is_not_streamed(reranker: Reranker) -> None:
    told: list[str] = []
    write_answer(STUB, ScriptedModel([WRONG]), CONTEXT, GenerateOptions(), reranker, listen=told.append)
    assert told == []


def test_an_answer_that_may_be_sent_back_is_not_streamed(reranker: Reranker) -> None:
    told: list[str] = []
    model = ScriptedModel(["```python\ndef other(n):\n    return n\n```", f"```python\ndef double(n):\n{RIGHT}```"])
    write_answer(PLAIN, model, Context(), GenerateOptions(), reranker, listen=told.append)
    assert told == []


def test_hidden_tests_are_quoted_in_feedback_and_reported(reranker: Reranker) -> None:
    options = GenerateOptions(attempts=2, form="primed", context="none", tests=("assert double(7) == 14",))
    answer, model = ask(reranker, ["    return 4 if n == 2 else 10\n", RIGHT], options)
    assert "double(7)" in "".join(each.content for each in model.asked[1])
    assert answer.oracle
    assert answer.best.holds


def test_an_error_of_the_model_is_raised(reranker: Reranker) -> None:
    with pytest.raises(ModelBusyError):
        ask(reranker, [ModelBusyError("no answer")])


def test_an_empty_answer_is_described(reranker: Reranker) -> None:
    answer, _ = ask(reranker, [""], text="Sort some numbers.")
    assert "the model wrote nothing" in answer.decisions[-1]
    assert answer.code == ""


def test_a_truncated_answer_says_so(reranker: Reranker) -> None:
    words = "```python\ndef double(n):\n    x = n\n    " + "y = x ; " * 30
    answer, _ = ask(reranker, [words], GenerateOptions(max_tokens=20, context="none", form="brief"), text=PLAIN)
    assert answer.best.is_cut
    assert "truncated" in answer.best.describe()


def test_a_truncated_answer_is_not_chosen_while_another_is_as_good(reranker: Reranker) -> None:
    cut = "```python\ndef double(n):\n    return 2 * n\n    # " + "more " * 30
    options = GenerateOptions(samples=2, max_tokens=20, rerank=False, context="none", form="brief")
    answer, _ = ask(reranker, [cut, f"```python\ndef double(n):\n{RIGHT}```"], options, text=PLAIN)
    assert [each.is_cut for each in answer.samples] == [True, False]
    assert answer.chosen == 1
    answer, _ = ask(reranker, [cut, cut], options, text=PLAIN)
    assert answer.chosen == 0


@pytest.mark.parametrize(
    ("flags", "kept"),
    [
        ([(True, False), (False, False)], [1]),
        ([(True, True), (False, False)], [0, 1]),
        ([(True, True), (False, True), (False, False)], [1, 2]),
        ([(True, False), (True, True)], [1]),
        ([(True, False), (True, False)], [0, 1]),
    ],
)
def test_a_truncated_answer_counts_if_it_alone_is_right(flags: list[tuple[bool, bool]], kept: list[int]) -> None:
    assert keep_complete(flags) == kept


AUTO = GenerateOptions()
DOUBLE = 'def double(n):\n    """Give twice a number."""\n'


def plan(options: GenerateOptions, *, examples: bool, context: bool = True, small: bool = False) -> list[str]:
    made = plan_variants(options, ("primed", "brief"), examples, context, small)
    return [f"{each.template} {each.context} {each.decoding.temperature:g}" for each in made]


def test_with_examples_the_least_harmful_variant_comes_first() -> None:
    assert plan(AUTO, examples=True) == ["primed none 0", "primed code 0", "primed signatures 0", "brief none 0"]
    assert plan(AUTO, examples=True, small=True)[1] == "primed signatures 0"


def test_without_examples_there_is_one_answer() -> None:
    assert plan(AUTO, examples=False) == ["primed code 0"]
    assert plan(AUTO, examples=False, small=True) == ["primed signatures 0"]
    assert plan(AUTO, examples=False, context=False) == ["primed none 0"]


def test_a_context_of_the_options_is_shown_first() -> None:
    assert plan(GenerateOptions(context="code"), examples=True) == ["primed code 0", "brief code 0"]
    assert plan(GenerateOptions(context="none"), examples=True) == ["primed none 0", "brief none 0"]


def test_further_samples_have_a_temperature_and_another_seed() -> None:
    made = plan_variants(GenerateOptions(samples=5, context="none", seed=7), ("primed", "brief"), True, True, False)
    assert [each.decoding.temperature for each in made] == [0.0, 0.0, 0.8, 0.8, 0.8]
    assert [each.decoding.seed for each in made] == [7, 7, 8, 8, 9]


def test_the_templates_that_serve_a_model_are_listed() -> None:
    model = ScriptedModel([""])
    assert list_templates("auto", model, make_task(DOUBLE)) == ("primed", "brief", "raw")
    assert list_templates("auto", model, make_task("Sort numbers.")) == ("brief",)
    assert list_templates("auto", model, make_task("What is this?", "explain")) == ("primed",)
    assert list_templates("raw", model, make_task(DOUBLE)) == ("raw",)
    assert list_templates("auto", ScriptedModel([""], can_prime=False), make_task(DOUBLE)) == ("brief", "raw")
    with pytest.raises(UsageError, match="no prompt template 'haiku'"):
        list_templates("haiku", model, make_task(DOUBLE))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gguf:models/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", True),
        ("hf:Qwen/Qwen2.5-Coder-1.5B-Instruct", True),
        ("hf:bigcode/starcoder2-7b", False),
        ("openai:gpt-5@https://host/v1", False),
        ("openai:llama3.2:1b@http://127.0.0.1:11434/v1", True),
    ],
)
def test_a_small_model_is_recognized_by_the_size_in_its_name(name: str, expected: bool) -> None:
    assert is_small(ScriptedModel([""], name=name)) is expected


def test_a_reported_size_takes_precedence_over_the_name() -> None:
    assert is_small(ScriptedModel([""], name="gguf:coder.gguf", parameters=494_000_000))
    assert not is_small(ScriptedModel([""], name="gguf:test-0.5b.gguf", parameters=7_000_000_000))


def test_invalid_options_are_refused() -> None:
    with pytest.raises(UsageError, match="unknown context 'all'; expected one of: auto, none, signatures, code"):
        GenerateOptions(context="all")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="attempts is 0; expected 1 or more"):
        GenerateOptions(attempts=0)
