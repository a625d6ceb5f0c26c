"""Measure prompt templates: how many HumanEval tasks a model solves with each, and with how many tokens.

    python benchmarks/prompt_forms.py --data FOLDER --model gguf:FILE [--tasks 24] [--forms paper,raw,brief,primed]
        [--answers FILE]

No prompt contains helper code. Answers are greedy (P-22) and truncated after TOKENS tokens. The tasks are the first of
a fixed shuffled order. With a file of answers, repeating the command resumes an interrupted run without repeated
requests to the model. `paper` is the papers' template for the model's family.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

from generate_candidates import mix_problems
from hidden_tests import judge_all, mean, read_forms
from measure import Figures, make_parser, read_options, write_result

from pkg.generation.prompt_templates.prompt_template import Prompt, make_task
from pkg.generation.prompt_templates.template_choice import choose_template
from pkg.generation.sample_writer import run_prompt
from pkg.lab.evaluation.code.benchmarks import Item
from pkg.models.registry import open_model
from pkg.models.text_model import Decoding, TextModel
from pkg.rerank.extraction import extract_code
from pkg.rerank.parsed_question import parse_question
from pkg.sandbox.worker_pool import open_sandbox

TOKENS = 512  # at most per answer, as in the papers (P-22)
TASKS = 24  # with the papers' template, a small model takes about an hour on one core
FORMS = ("paper", "raw", "brief", "primed")

Answers = dict[tuple[str, str], dict[str, Any]]  # by version of the template and task


def answer_all(model: TextModel, problems: Sequence[Item], form: str, known: Answers) -> Iterator[dict[str, Any]]:
    """Yield the answer to each task with one template; known answers are reused."""
    prompts = [choose_template(form, model).render(make_task(problem.query)) for problem in problems]

    def answer(problem: Item, prompt: Prompt) -> dict[str, Any]:
        if (prompt.template, problem.id) in known:
            return known[prompt.template, problem.id]
        found = run_prompt(model, prompt, Decoding(max_tokens=TOKENS))
        whole, usage = prompt.join(found.text, found.finish), found.usage
        tokens = {"prompt_tokens": usage.prompt_tokens, "answer_tokens": usage.completion_tokens}
        return {"form": prompt.template, "id": problem.id, "text": whole, "is_cut": found.finish == "length"} | tokens

    with ThreadPoolExecutor(model.parallel) as threads:
        yield from threads.map(answer, problems, prompts)


def read_answers(path: Path | None) -> Answers:
    """Read the existing answers."""
    lines = path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else []
    return {(row["form"], row["id"]): row for row in map(json.loads, lines)}


def keep_new(path: Path | None, known: Answers, answers: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the answers unchanged, and append new ones to the file as they arrive."""
    for answer in answers:
        if path is not None and (answer["form"], answer["id"]) not in known:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(answer) + "\n")
        yield answer


def judge_answers(problems: Sequence[Item], answers: Sequence[dict[str, Any]]) -> Figures:
    """Count the tasks solved with a template, and their cost."""
    codes = [
        extract_code(answer["text"], parse_question(problem.query)).code
        for problem, answer in zip(problems, answers, strict=True)
    ]
    with open_sandbox() as sandbox:
        solved = judge_all(sandbox, zip(codes, problems, strict=True))
    return {
        "form": answers[0]["form"],
        "solved": sum(solved),
        "cut": sum(answer["is_cut"] for answer in answers),
        "mean_answer_tokens": round(mean(answer["answer_tokens"] for answer in answers), 1),
        "mean_prompt_tokens": round(mean(answer["prompt_tokens"] for answer in answers), 1),
        "solved_tasks": [problem.id for problem, holds in zip(problems, solved, strict=True) if holds],
    }


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--model", required=True, help="text model, such as gguf:FILE")
    parser.add_argument("--tasks", type=int, default=TASKS, help=f"how many tasks; default: {TASKS}")
    parser.add_argument("--forms", default=",".join(FORMS), help=f"forms by name; default: {','.join(FORMS)}")
    parser.add_argument("--answers", type=Path, help="file that keeps the answers, one line each")
    options = read_options(parser)
    problems = mix_problems(read_forms(options.data, "humaneval"))[: options.tasks]
    known, figures = read_answers(options.answers), {}
    with closing(open_model(options.model)) as model:
        for form in options.forms.split(","):
            answers = list(keep_new(options.answers, known, answer_all(model, problems, form, known)))
            figures[form] = judge_answers(problems, answers)
            print(form, {name: value for name, value in figures[form].items() if name != "solved_tasks"})
    write_result(
        "prompt_forms",
        {"model": Path(options.model).name, "tasks": len(problems), "max_tokens": TOKENS, "forms": figures},
    )


if __name__ == "__main__":
    main()
