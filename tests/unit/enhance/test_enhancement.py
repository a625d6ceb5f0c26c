"""Functions without a docstring are documented, most called first, and each only once."""

from __future__ import annotations

import json
import re
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from scripted_model import Answer, Asked, ScriptedModel

from pkg.encode.registry import load_encoder
from pkg.enhance import docstring_prompts, enhancement
from pkg.enhance.comments import CommentingWriter
from pkg.enhance.docstring_cache import DocstringCache
from pkg.enhance.enhancement import Budget, EnhanceOptions, EnhanceReport, Outcome, Progress, enhance
from pkg.enhance.enhancement_estimate import estimate_by_sample, estimate_by_size
from pkg.enhance.undocumented import Undocumented
from pkg.enhance.writer import TEMPLATE_VERSION, DocstringWriter, ModelWriter, TemplateWriter, open_writer
from pkg.errors import ModelError, UsageError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.indexing.generated_storage import remove_generated
from pkg.model import Docstring, Label
from pkg.models.usage import Price

CODE = '''
def often(value):
    return value + 1


def once(value):
    return often(value) + often(2)


def never(value):
    return once(value) + often(3)


def known(value):
    """Say it already."""
    return often(value)
'''
COPY = "def often(value):\n    return value + 1\n"
MODEL_TEXT = "Work the value out."
TEMPLATE_TEXT = "Often.\n\nArgs:\n    value\n\nReturns:\n    value + 1"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "calls.py").write_text(CODE)
    return folder


def write(model: ScriptedModel) -> DocstringWriter:
    return ModelWriter(model, "chat", lambda: date(2026, 1, 31))


def run(
    store: EmbeddedStore,
    writer: DocstringWriter,
    cache: DocstringCache | None = None,
    budget: Budget = Budget(),  # noqa: B008 - frozen
    *,
    retry_failed: bool = False,
) -> tuple[EnhanceReport, list[Outcome]]:
    outcomes: list[Outcome] = []
    encoder = load_encoder(store.encoder()[0])
    options = EnhanceOptions(
        writer.name,
        budget=budget,
        retry_failed=retry_failed,
        listen=lambda outcome, progress: outcomes.append(outcome),
    )
    return enhance(store, "project", writer, encoder, options, cache), outcomes


def names_of(outcomes: list[Outcome]) -> list[str]:
    return [each.target.qualname for each in outcomes]


def docstrings_of(store: EmbeddedStore) -> dict[str, object]:
    found = store.nodes([Label.FUNCTION])
    return {node.qualname: node.properties.get("docstring") for node in found}


def export(store: EmbeddedStore) -> list[str]:
    return [json.dumps(line) for line in store.export(vectors=True)]


def test_the_most_called_functions_come_first_and_docstrings_of_the_code_stay(store: EmbeddedStore) -> None:
    model = ScriptedModel([MODEL_TEXT])
    report, outcomes = run(store, write(model))
    assert [find_asked(asked) for asked in model.asked] == ["often", "once", "never"]
    assert {each.target.qualname: each.target.calls for each in outcomes} == {"often": 3, "once": 1, "never": 0}
    assert docstrings_of(store) == {
        "often": MODEL_TEXT, "once": MODEL_TEXT, "never": MODEL_TEXT, "known": "Say it already.",
    }  # fmt: skip
    assert (report.written, report.functions, report.asked, report.human, report.left) == (3, 3, 3, 1, 0)
    assert store.check() == []


def test_a_limit_takes_the_most_called_and_the_next_run_continues(store: EmbeddedStore, cache: DocstringCache) -> None:
    model = ScriptedModel([MODEL_TEXT])
    report, outcomes = run(store, write(model), cache, Budget(limit=1))
    assert (names_of(outcomes), report.left, report.stopped) == (["often"], 2, "--limit 1")
    report, outcomes = run(store, write(model), cache, Budget(limit=1))
    assert (names_of(outcomes), report.documented) == (["once"], 1)


def test_functions_of_equal_code_are_documented_once(store: EmbeddedStore, project: Path) -> None:
    (project / "copy.py").write_text(COPY)
    build(str(project), store)
    model = ScriptedModel([MODEL_TEXT])
    report, outcomes = run(store, write(model), budget=Budget(limit=1))
    assert (len(model.asked), report.written, report.functions) == (1, 1, 2)
    assert outcomes[0].target.functions == 2
    found = [node for node in store.nodes([Label.FUNCTION]) if node.name == "often"]
    assert [node.properties["docstring"] for node in found] == [MODEL_TEXT] * 2


def test_a_second_run_sends_no_requests(store: EmbeddedStore, cache: DocstringCache) -> None:
    model = ScriptedModel([MODEL_TEXT])
    run(store, write(model), cache)
    before = export(store)
    report, outcomes = run(store, write(model), cache)
    assert (len(model.asked), outcomes, report.written, report.documented) == (3, [], 0, 3)
    assert export(store) == before


def test_another_graph_of_the_same_code_uses_cached_docstrings(
    store: EmbeddedStore, cache: DocstringCache, project: Path, tmp_path: Path
) -> None:
    model = ScriptedModel([MODEL_TEXT])
    run(store, write(model), cache)
    with closing(EmbeddedStore(tmp_path / "other.db", create=True)) as other:
        build(str(project), other)
        report, outcomes = run(other, write(model), cache)
        assert (len(model.asked), report.asked, report.written) == (3, 0, 3)
        assert [each.is_new for each in outcomes] == [False] * 3
        assert export(other) == export(store)


def test_only_a_changed_function_is_documented_again(
    store: EmbeddedStore, cache: DocstringCache, project: Path
) -> None:
    model = ScriptedModel([MODEL_TEXT])
    run(store, write(model), cache)
    (project / "calls.py").write_text(CODE.replace("value + 1", "value + 2"))
    build(str(project), store)
    _, outcomes = run(store, write(model), cache)
    assert (names_of(outcomes), len(model.asked)) == (["often"], 4)


def find_asked(asked: Asked) -> str:
    """Return the function of a request: the last one in its prompt."""
    found: list[str] = re.findall(r"def (\w+)", "".join(each.content for each in asked))
    return found[-1]


def refuse_once(asked: Asked) -> Answer:
    return "" if find_asked(asked) == "once" else MODEL_TEXT


def test_a_failure_is_reported_kept_and_not_retried(store: EmbeddedStore, cache: DocstringCache) -> None:
    model = ScriptedModel(refuse_once, can_fill=False)
    report, _ = run(store, write(model), cache)
    assert [(skip.path, skip.reason) for skip in report.failed] == [("calls.py once", "empty")]
    assert docstrings_of(store)["once"] is None
    asked = len(model.asked)
    report, outcomes = run(store, write(model), cache)
    assert (len(model.asked), names_of(outcomes), report.known_failures) == (asked, ["once"], 1)
    run(store, write(model), cache, retry_failed=True)
    assert len(model.asked) > asked


def test_a_limit_is_not_spent_on_known_failures(store: EmbeddedStore, cache: DocstringCache) -> None:
    model = ScriptedModel(lambda asked: "" if find_asked(asked) == "often" else MODEL_TEXT, can_fill=False)
    run(store, write(model), cache, Budget(limit=1))
    report, outcomes = run(store, write(model), cache, Budget(limit=1))
    assert sorted(names_of(outcomes)) == ["often", "once"]
    assert report.written == 1


def test_a_model_replaces_a_template_and_a_template_no_model(store: EmbeddedStore) -> None:
    run(store, open_writer("template"))
    assert docstrings_of(store)["often"] != MODEL_TEXT
    run(store, write(ScriptedModel([MODEL_TEXT])))
    assert docstrings_of(store)["often"] == MODEL_TEXT
    before = export(store)
    report, outcomes = run(store, open_writer("template"))
    assert (outcomes, report.documented) == ([], 3)
    assert export(store) == before


def test_a_newer_prompt_of_the_same_model_replaces_a_docstring(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(store, write(ScriptedModel([MODEL_TEXT])))
    monkeypatch.setattr("pkg.enhance.writer.VERSION", docstring_prompts.VERSION + 1)
    _, outcomes = run(store, write(ScriptedModel(["Work it out better."])))
    assert len(outcomes) == 3
    assert docstrings_of(store)["often"] == "Work it out better."


def test_a_newer_version_of_the_template_replaces_its_docstrings(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr(TemplateWriter, "prompt", f"template/{TEMPLATE_VERSION - 1}")
        older.setattr("pkg.enhance.writer.render_template", lambda function, facts: "Tell whether it is old.")
        run(store, open_writer("template"))
    _, outcomes = run(store, open_writer("template"))
    assert (len(outcomes), docstrings_of(store)["often"]) == (3, TEMPLATE_TEXT)
    assert run(store, open_writer("template"))[1] == []


def test_docstrings_are_stored_when_the_model_fails_for_good(store: EmbeddedStore) -> None:
    model = ScriptedModel([MODEL_TEXT, ModelError("gone")])
    with pytest.raises(ModelError, match="gone"):
        run(store, write(model))
    assert docstrings_of(store)["often"] == MODEL_TEXT
    assert docstrings_of(store)["never"] is None


def test_docstrings_are_stored_when_the_run_is_interrupted(store: EmbeddedStore) -> None:
    def interrupt(outcome: Outcome, progress: Progress) -> None:
        raise KeyboardInterrupt

    encoder = load_encoder(store.encoder()[0])
    with pytest.raises(KeyboardInterrupt):
        enhance(
            store, "project", write(ScriptedModel([MODEL_TEXT])), encoder, EnhanceOptions("scripted", listen=interrupt)
        )
    assert docstrings_of(store)["often"] == MODEL_TEXT


def test_code_that_a_build_has_changed_meanwhile_is_left_alone(store: EmbeddedStore, project: Path) -> None:
    def change(outcome: Outcome, progress: Progress) -> None:
        if progress.done == 1:
            (project / "calls.py").write_text(CODE.replace("value + 1", "value + 2"))
            build(str(project), store)

    encoder = load_encoder(store.encoder()[0])
    enhance(store, "project", write(ScriptedModel([MODEL_TEXT])), encoder, EnhanceOptions("scripted", listen=change))
    assert docstrings_of(store) == {
        "often": None, "once": MODEL_TEXT, "never": MODEL_TEXT, "known": "Say it already.",
    }  # fmt: skip
    assert store.check() == []


def test_docstrings_are_stored_during_a_run(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enhancement, "STORE_AT_ONCE", 1)
    stored: list[object] = []
    encoder = load_encoder(store.encoder()[0])
    options = EnhanceOptions("scripted", listen=lambda outcome, progress: stored.append(docstrings_of(store)["often"]))
    enhance(store, "project", write(ScriptedModel([MODEL_TEXT])), encoder, options)
    assert stored == [None, MODEL_TEXT, MODEL_TEXT]
    assert store.generation() == 4


def test_the_cost_limit_ends_a_run(store: EmbeddedStore) -> None:
    model = ScriptedModel([MODEL_TEXT])
    budget = Budget(max_cost=0.000001, price=Price(1.0, 1.0))
    report, outcomes = run(store, write(model), budget=budget)
    assert len(outcomes) in (1, 2)  # the second may have been waiting when the first had cost that much
    assert report.left == 3 - len(outcomes)
    assert report.stopped == "--max-cost 1e-06"
    assert report.cost is not None
    assert report.cost >= 0.000001


def test_the_time_limit_ends_a_run(store: EmbeddedStore) -> None:
    report, outcomes = run(store, write(ScriptedModel([MODEL_TEXT])), budget=Budget(seconds=0.0))
    assert (outcomes, report.left, report.stopped) == ([], 3, "--minutes 0")


def test_a_cost_without_a_price_is_refused() -> None:
    with pytest.raises(UsageError, match="--price"):
        Budget(max_cost=1.0)


def test_an_estimate_writes_a_sample_that_the_run_then_takes(store: EmbeddedStore, cache: DocstringCache) -> None:
    model = ScriptedModel([MODEL_TEXT])
    writer = write(model)
    with closing(Undocumented(store, "project", "scripted")) as missing:
        estimate = estimate_by_sample(writer, [missing], Budget(price=Price(1.0, 1.0)), cache)
    assert (estimate.codes, estimate.functions, estimate.sample, estimate.failed) == (3, 3, 3, 0)
    assert estimate.completion_tokens == writer.usage.completion_tokens
    assert estimate.prompt_tokens == writer.usage.prompt_tokens
    assert estimate.cost == pytest.approx((estimate.prompt_tokens + estimate.completion_tokens) / 1e6)
    assert estimate.seconds is not None
    assert store.generation() == 1
    run(store, writer, cache)
    assert len(model.asked) == 3


def test_an_estimate_by_size_sends_no_requests(store: EmbeddedStore) -> None:
    with closing(Undocumented(store, "project", "scripted")) as missing:
        estimate = estimate_by_size("openai:far", [missing], Budget(limit=2))
    assert (estimate.codes, estimate.functions, estimate.seconds, estimate.sample) == (2, 3, None, 0)
    assert estimate.prompt_tokens > 300


def test_a_source_without_functions_takes_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "constants.py").write_text("LIMIT = 1\n")
    with closing(EmbeddedStore(tmp_path / "empty.db", create=True)) as store:
        build(str(tmp_path / "empty"), store)
        encoder = load_encoder(store.encoder()[0])
        report = enhance(store, "empty", open_writer("template"), encoder, EnhanceOptions("template"))
        assert (report.written, report.left, report.human) == (0, 0, 0)
        with closing(Undocumented(store, "empty", "scripted")) as missing:
            assert estimate_by_sample(open_writer("template"), [missing], Budget()).codes == 0


def test_functions_in_documents_take_no_time_of_a_model(store: EmbeddedStore, project: Path) -> None:
    (project / "guide.md").write_text("# Guide\n\n```python\ndef shown(value):\n    return value\n```\n")
    build(str(project), store, reader="structure")
    model = ScriptedModel([MODEL_TEXT])
    report, outcomes = run(store, write(model))
    assert "shown" in {node.name for node in store.nodes([Label.FUNCTION])}
    assert (names_of(outcomes), len(model.asked), report.left) == (["often", "once", "never"], 3, 0)


def test_a_written_docstring_is_a_property_of_its_node(store: EmbeddedStore) -> None:
    run(store, write(ScriptedModel([MODEL_TEXT])), budget=Budget(limit=1))
    (found,) = store.generated_texts("project")
    assert found[1].docstring == Docstring(MODEL_TEXT, "fim", "scripted", "chat/1", "2026-01-31")


def test_comments_are_kept_encoded_and_undone_with_the_docstring(
    store: EmbeddedStore, cache: DocstringCache, project: Path
) -> None:
    code = "def choose(value):\n    if value:\n        return 1\n    return 2\n"
    (project / "calls.py").write_text(code)
    build(str(project), store)
    before = export(store)

    def answer(asked: Asked) -> Answer:
        return "Prefer what is there" if "# " in asked[-1].content or len(asked) == 2 else "Choose a number."

    plain = write(ScriptedModel(answer, can_fill=False))
    run(store, plain, cache)
    model = ScriptedModel(answer, can_fill=False)
    writer = CommentingWriter(write(model), model, cache)
    report, (outcome,) = run(store, writer, cache)
    assert (report.written, len(model.asked)) == (1, 1)  # the docstring was known
    (found,) = (texts.docstring for _, texts in store.generated_texts("project"))
    assert found is not None
    assert outcome.result == found
    assert (found.text, found.comments) == ("Choose a number.", ("2 Prefer what is there.",))
    assert report.usage.requests == 1
    commented = export(store)
    assert run(store, writer, cache)[1] == []
    assert run(store, plain, cache)[1] == []  # additional comments do no harm
    (project / "calls.py").write_text("import os\n" + code)
    build(str(project), store)
    (project / "calls.py").write_text(code)
    build(str(project), store)
    assert export(store) == commented
    assert remove_generated(store, "project", "scripted", load_encoder(store.encoder()[0])) == 1
    assert export(store) == before
    with pytest.raises(UsageError, match="writes no comments"):
        CommentingWriter(open_writer("template"), None)
