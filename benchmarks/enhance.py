"""Measure the docstrings that a model writes, for each prompt template: how many are valid and complete, and the cost.

    python benchmarks/enhance.py gguf:FILE [--functions 48] [--forms chat,open-hole,hole] [--threads 1] [--parallel 1]
        [--cache FOLDER]

The functions are a sample of django's without docstring, drawn with a fixed seed; tests are left out. A docstring is
valid if it passes all checks of pkg/enhance/checking.py, at the first or the second attempt. The docstring template
without a model is measured beside it. The docstring cache is not used.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from measure import Figures, make_parser, open_folder, write_result
from packages import DJANGO, unpack_package

from pkg.enhance.batch import write_all
from pkg.enhance.docstring_claims import states_inputs, states_output, states_purpose
from pkg.enhance.function_facts import FunctionFacts, FunctionText
from pkg.enhance.writer import TEMPLATE, DocstringWriter, Failure, open_writer, read_function
from pkg.extract.python import extract_unit
from pkg.model import Docstring, Function
from pkg.models.model_options import ModelOptions
from pkg.models.registry import open_model

SEED = 0
WINDOW = 4096  # tokens; all but a few functions are far shorter
PAPER_SECONDS = 2.69  # per function, of StarCoder2-7B on an A100 (P-07)


def sample_functions(tree: Path, count: int) -> list[FunctionText]:
    """Sample distinct functions without docstring."""
    found: dict[str, FunctionText] = {}
    for path in sorted(tree.rglob("*.py")):
        if "tests" in path.parts:
            continue
        unit = extract_unit(path.read_bytes())
        for each in unit.definitions:
            if isinstance(each, Function) and each.docstring is None:
                content = unit.text[each.span.start : each.span.end].decode()
                owner = each.qualname.split(".")[-2] if each.is_method else None
                found.setdefault(content, FunctionText(content, each.qualname, path.name, each.is_method, owner))
    return random.Random(SEED).sample([found[content] for content in sorted(found)], count)


def measure(writer: DocstringWriter, functions: Sequence[FunctionText]) -> Figures:
    """Write the docstrings of some functions, and count."""
    start, cpu = time.perf_counter(), time.process_time()
    written = list(write_all(functions, writer))
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for each in written:
        if isinstance(each.result, Failure):
            reasons[each.result.reason] += 1
        elif isinstance(each.result, Docstring):
            counts.update(judge(each.result, read_function(each.function)))
    usage, number = writer.usage, len(functions)
    return {
        "valid": round(counts["valid"] / number, 3),
        "empty": round(sum(count for reason, count in reasons.items() if "empty" in reason) / number, 3),
        "tried_twice": round(max(0, usage.requests - number) / number, 3),
        **{name: round(counts[name] / number, 3) for name in ("inputs", "output", "purpose", "complete")},
        "requests": usage.requests,
        "prompt_tokens_a_function": round(usage.prompt_tokens / number, 1),
        "tokens_a_function": round(usage.completion_tokens / number, 1),
        "seconds_a_function": round(seconds / number, 2),
        "cpu_seconds_a_function": round(cpu / number, 2),  # of this process, which runs a gguf model itself
        "failures": dict(sorted(reasons.items())),
    }


def judge(docstring: Docstring, facts: FunctionFacts | Failure) -> list[str]:
    """Return the properties that a docstring has."""
    assert not isinstance(facts, Failure), "what has a docstring could be read"
    states = {
        "inputs": states_inputs(docstring.text, facts),
        "output": states_output(docstring.text, facts),
        "purpose": states_purpose(docstring.text),
    }
    named = [name for name, holds in states.items() if holds]
    return ["valid", *named, *(["complete"] if all(states.values()) else [])]


def read_arguments() -> argparse.Namespace:
    """Parse the model and the options."""
    parser = make_parser(__doc__)
    parser.add_argument("model", help="what `pkg enhance --model` takes, such as gguf:FILE")
    parser.add_argument("--functions", type=int, default=48)
    parser.add_argument("--forms", default="chat,open-hole,hole")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--parallel", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    """Measure every prompt template, and the docstring template."""
    options = read_arguments()
    with open_folder(options.cache) as (cache, work):
        functions = sample_functions(unpack_package(DJANGO, cache, work), options.functions)
    figures = {TEMPLATE: measure(open_writer(TEMPLATE), functions)}
    model = open_model(options.model, ModelOptions(WINDOW, options.parallel, options.threads))
    try:
        for form in options.forms.split(","):
            figures[form] = measure(open_writer(options.model, model, form), functions)
            print(form, figures[form], flush=True)
    finally:
        model.close()
    write_result(
        "enhance",
        {
            "package": f"{DJANGO.name} {DJANGO.version}",
            "model": Path(options.model.partition(":")[2]).name,
            "seed": SEED,
            "functions": options.functions,
            "threads": options.threads,
            "parallel": options.parallel,
            "paper_seconds_a_function": PAPER_SECONDS,
            "writers": figures,
        },
    )


if __name__ == "__main__":
    main()
