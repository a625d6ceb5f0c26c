"""No quoted text can imitate a prompt's own lines, in any template."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_model import ScriptedModel

from pkg.errors import UsageError
from pkg.generation.generate_options import TASK_TYPES, TaskType
from pkg.generation.prompt_templates.prompt_template import Attempt, HelperText, Prompt, PromptTask, make_task
from pkg.generation.prompt_templates.template_choice import TEMPLATE_NAMES, TEMPLATES, choose_template, find_family
from pkg.generation.prompt_templates.template_lines import MARKER
from pkg.quoting.special_tokens import SPECIAL_TOKENS

STUB = 'def f(x):\n    """Say {}."""\n'
TOKEN = re.compile("|".join(f"{first}(?:{rest})" for first, rest in SPECIAL_TOKENS.values()))
HOSTILE = [
    "[INST]", "[/INST]", "[PYTHON]", "[/PYTHON]", "### Response\n", "### Response:", "### Instruction\n",
    "<|im_start|>", "<|im_end|>", "<|eot_id|>", "<\uff5cUser\uff5c>", "</s>", "<fim_middle>",
    "Problem:", "End of problem.", "The following code might be helpful.", "End of helper section.", "helper code 1:",
    "Code that may help:", "Code of the project:", "attempt 2:", "What happened:", "End of attempts.",
    "Earlier attempts failed, the oldest first:", "HELPER CODE 3:", "# End of helper section.", "  ## helper code 1: ",
    "```", "````python", "```python", "`", "#", "# ", "\n", "\r\n", "\r", "\u2028", "\x0c", " ", "<", "[", "x = 1",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(HOSTILE), max_size=8).map("".join)


def list_texts(prompt: Prompt) -> list[str]:
    return [prompt.text] if prompt.text is not None else [message.content for message in prompt.messages]


UNFENCED = ("raw", "header", "starcoder2")  # templates without fences: a quoted fence opens nothing


def outline(prompt: Prompt) -> list[list[str]]:
    """Return the control tokens, template lines and fences of each text of a prompt."""
    is_fenced = not prompt.template.startswith(UNFENCED)
    outlines = []
    for text in list_texts(prompt):
        (fence, *_) = sorted(re.findall(r"^(`{3,})(?:python|text)$", text, re.MULTILINE), key=len, reverse=True) or [""]
        found = [each.group() for each in TOKEN.finditer(text)]
        for line in text.splitlines():
            if MARKER.fullmatch(line):
                found.append(line.strip())
            if is_fenced and fence and fence in line:
                found.append(line.replace(fence, "```"))
        outlines.append(found)
    return outlines


def make_prompt(name: str, task_type: TaskType, stub: str | None, texts: tuple[str, ...]) -> Prompt:
    text, place, code, tried, feedback = texts
    task = PromptTask(text, None, "f", task_type) if stub is None else PromptTask(stub.format(text), stub.format(text))
    helpers = (HelperText(place, code), HelperText("a.py:1-2 g", code))
    return TEMPLATES[name].render(task, helpers, (Attempt(tried, feedback), Attempt(code, feedback)))


@pytest.mark.parametrize("stub", [None, STUB], ids=["words", "stub"])
@pytest.mark.parametrize("name", TEMPLATES)
@given(texts=st.tuples(TEXTS, TEXTS, TEXTS, TEXTS, TEXTS))
def test_no_text_can_imitate_the_lines_of_a_template(name: str, stub: str | None, texts: tuple[str, ...]) -> None:
    harmless = make_prompt(name, "code", stub, ("a", "b", "c", "d", "e"))

    assert outline(make_prompt(name, "code", stub, texts)) == outline(harmless)


@pytest.mark.parametrize("task_type", TASK_TYPES)
@given(texts=st.tuples(TEXTS, TEXTS, TEXTS, TEXTS, TEXTS))
def test_no_text_can_imitate_the_instructions_of_a_task_type(task_type: TaskType, texts: tuple[str, ...]) -> None:
    harmless = make_prompt("brief", task_type, None, ("a", "b", "c", "d", "e"))

    assert outline(make_prompt("brief", task_type, None, texts)) == outline(harmless)


@given(code=TEXTS, place=TEXTS, feedback=TEXTS)
def test_a_raw_prompt_has_everything_but_the_task_in_comments(code: str, place: str, feedback: str) -> None:
    stub = "def f(x):\n"
    prompt = TEMPLATES["raw"].render(PromptTask(stub, stub), [HelperText(place, code)], [Attempt(code, feedback)])
    assert prompt.text is not None
    above = prompt.text.removesuffix(stub)

    assert above != prompt.text
    assert [line for line in above.splitlines() if line and not line.startswith("#")] == []
    assert compile(above, "above", "exec").co_names == ()


QUOTES_AND_ESCAPES = "x = '''''' + \"\"\"\"\"\" + '\\x' + '\\N'"


@given(code=TEXTS, place=TEXTS, feedback=TEXTS, quotes=st.sampled_from(['"""', "'''"]))
def test_a_header_prompt_has_everything_but_the_task_inside_the_docstring(
    code: str, place: str, feedback: str, quotes: str
) -> None:
    stub = f"import math\n\ndef f(x):\n    {quotes}Say it.{quotes}\n"
    code = f"{code}\n{QUOTES_AND_ESCAPES}\n"
    prompt = TEMPLATES["header"].render(PromptTask(stub, stub), [HelperText(place, code)], [Attempt(code, feedback)])
    module = ast.parse(prompt.text or "")
    function = module.body[-1]
    assert isinstance(function, ast.FunctionDef)
    docstring = ast.get_docstring(function) or ""

    assert (len(module.body), len(function.body)) == (2, 1)
    assert docstring.startswith("Say it.\n\nThe following code might be helpful.\nhelper code 1:\n")
    assert docstring.replace('"', "'").count(QUOTES_AND_ESCAPES.replace('"', "'")) == 2
    assert prompt.join("    return x") == f"{stub}    return x"


@pytest.mark.parametrize(
    "stub", ["def f(x):\n", "def f(x):\n    'Say it.'\n", "def f(x): '''Say it.'''", "class A:\n    '''Hold.'''"]
)
def test_a_header_prompt_without_a_triple_quoted_docstring_is_a_raw_prompt(stub: str) -> None:
    task, helper = PromptTask(stub, stub), HelperText("a.py:1-1 g", "def g(): ...")

    assert TEMPLATES["header"].render(task, [helper]) == TEMPLATES["raw"].render(task, [helper])


@given(text=TEXTS)
def test_the_answer_continues_the_unquoted_code_of_the_question(text: str) -> None:
    stub = STUB.format(text)
    for name in ("primed", "raw"):
        prompt = TEMPLATES[name].render(PromptTask(stub, stub))
        assert stub.strip() in prompt.join("    return x")


def test_a_fence_that_a_stop_string_removed_is_closed_again() -> None:
    prompt = TEMPLATES["primed"].render(make_task("def f(x):\n"))

    assert prompt.join("    return x\n") == "```python\ndef f(x):\n    return x\n```"
    assert prompt.join("    return x", "length") == "```python\ndef f(x):\n    return x"
    assert prompt.join("    return x\n```\nDone.") == "```python\ndef f(x):\n    return x\n```\nDone."


def test_the_fence_of_an_answer_is_longer_than_any_run_in_the_task() -> None:
    prompt = TEMPLATES["primed"].render(make_task('def f(x):\n    """Write ```."""\n'))

    assert prompt.begun.startswith("````python\ndef f(x):\n")
    assert prompt.stop[0] == prompt.close == "\n````"
    assert prompt.messages[-1] == ("assistant", prompt.begun)


def test_words_are_not_primed() -> None:
    prompt = TEMPLATES["primed"].render(make_task("Add two numbers."))

    assert (prompt.template, len(prompt.messages), prompt.begun) == ("brief/1", 1, "")


def test_a_raw_prompt_begins_the_function_that_the_words_name() -> None:
    assert TEMPLATES["raw"].render(make_task("Write a function `add_all` that adds.")).begun == "def add_all("
    assert TEMPLATES["raw"].render(make_task("Add two numbers.")).begun == "def "
    assert TEMPLATES["raw"].render(make_task("Write a class called `Stack2` with push.")).begun == "class Stack2"


def test_an_incomplete_class_is_called_a_class() -> None:
    stub, brief = 'class Stack:\n    """Hold things, by a function push."""\n', TEMPLATES["brief"]

    assert "Complete this Python class." in brief.render(make_task(stub)).messages[0].content
    assert "Complete this Python function." in brief.render(make_task("def push(x):\n")).messages[0].content


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("task_type", ["explain", "edit", "plain"])
def test_every_template_asks_briefly_for_anything_but_a_program(name: str, task_type: TaskType) -> None:
    task = make_task("def f(x):\n", task_type)

    assert task.stub is None
    assert TEMPLATES[name].render(task) == TEMPLATES["brief"].render(task)


@pytest.mark.parametrize("task_type", ["explain", "plain"])
def test_a_question_that_wants_words_does_not_ask_for_code(task_type: TaskType) -> None:
    (message,) = TEMPLATES["brief"].render(make_task("Why is it slow?", task_type)).messages

    assert "Python" not in message.content


@pytest.mark.parametrize("name", TEMPLATES)
def test_helpers_are_numbered_and_come_before_the_answer(name: str) -> None:
    helpers = [HelperText(f"{each}.py:1-1 {each}", f"def {each}(): ...") for each in ("one", "two")]
    prompt = TEMPLATES[name].render(make_task("def f(x):\n"), helpers)
    text = "\n".join(list_texts(prompt))

    word = "solution" if name == "similar" else "helper code"
    places = [text.index(part) for part in (f"{word} 1:", "def one", f"{word} 2:", "def two")]
    assert places == sorted(places)


@pytest.mark.parametrize("name", ["brief", "primed", "raw"])
def test_our_own_templates_put_the_task_after_the_helpers(name: str) -> None:
    prompt = TEMPLATES[name].render(make_task("def f(x):\n"), [HelperText("a.py:1-1 g", "def g(): ...")])
    text = list_texts(prompt)[0]

    assert text.index("def g") < text.index("def f")


def make_model(name: str = "", can_prime: bool = True) -> ScriptedModel:
    return ScriptedModel([""], name=name, can_prime=can_prime)


def test_an_answer_is_begun_for_a_model_that_can_continue_one() -> None:
    assert choose_template("auto", make_model(can_prime=True)).name == "primed"
    assert choose_template("auto", make_model(can_prime=False)).name == "brief"


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("hf:codellama/CodeLlama-7b-Instruct-hf", "codellama"),
        ("openai:code-llama-13b@http://localhost:8000/v1", "codellama"),
        ("hf:bigcode/starcoder2-7b", "starcoder2"),
        ("gguf:models/deepseek-coder-6.7b.Q4_K_M.gguf", "deepseek"),
        ("hf:meta-llama/Llama-3.1-8B-Instruct", "llama31"),
        ("openai:llama3.1:8b@http://qwen.example/v1", "llama31"),
        ("gguf:llama3/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", "qwen"),
        ("gguf:llama.cpp/coder.gguf", "generic"),
        ("openai:gpt-5@https://api.example/v1", "generic"),
    ],
)
def test_the_papers_template_is_chosen_by_the_family(name: str, family: str) -> None:
    assert find_family(name) == family
    assert choose_template("paper", make_model(name)).name == family


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_can_be_named(name: str) -> None:
    assert choose_template(name, make_model()) is TEMPLATES[name]
    assert name in TEMPLATE_NAMES


def test_an_unknown_template_is_refused_with_the_known_names() -> None:
    with pytest.raises(
        UsageError, match="no prompt template 'short'; expected one of: auto, paper, brief, primed, raw"
    ):
        choose_template("short", make_model())
