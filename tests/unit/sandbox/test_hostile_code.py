"""Hostile code is contained: correct verdict, unharmed parent, and no remaining processes or files."""

from __future__ import annotations

import gc
import importlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_code import CASES, ESCAPED, FORGERY, LIMITS, PATCHES, QUESTION, SECRET_NAME, Case
from traces import Machine, describe_machine, find_family, wait_for_end

from pkg.sandbox import Kind, Program, Sandbox, Step, open_sandbox
from pkg.sandbox.docker import write_image

IMAGE = "pkg-tested-sandbox"
SECRET = "never visible inside"


@pytest.fixture(scope="module")
def docker_image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Import an image of the running Python into the Docker daemon for the duration of the tests."""
    docker = importlib.import_module("docker")
    archive = tmp_path_factory.mktemp("image") / "sandbox.tar"
    write_image(archive)
    client = docker.from_env()
    client.api.import_image_from_file(str(archive), repository=IMAGE)
    yield IMAGE
    client.images.remove(IMAGE, force=True)
    client.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    (folder / "diary.txt").write_text(SECRET, encoding="utf-8")
    return folder


@pytest.fixture(scope="module", params=["process", pytest.param("docker", marks=pytest.mark.docker)])
def sandbox(request: pytest.FixtureRequest, home: Path) -> Iterator[Sandbox]:
    image = request.getfixturevalue("docker_image") if request.param == "docker" else None
    others = find_family(os.getpid()).processes
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET_NAME, SECRET)
        patch.setenv("HOME", str(home))
        opened = open_sandbox(request.param, jobs=1, image=image)
    family = find_family(os.getpid(), others)
    yield opened
    opened.close()
    assert wait_for_end(family) == set()


@pytest.fixture
def machine(sandbox: Sandbox, home: Path) -> Iterator[Machine]:
    gc.collect()  # what other tests have left open would count as gone
    before, family = describe_machine(home), find_family(os.getpid())
    yield before
    after = find_family(os.getpid())
    assert after.processes == family.processes
    assert describe_machine(home) == before


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.usefixtures("machine")
def test_hostile_code_is_contained(sandbox: Sandbox, case: Case) -> None:
    verdict = sandbox.run(Program(case.code), LIMITS).load
    assert verdict.kind in case.kinds, verdict
    assert ESCAPED not in verdict.output
    assert SECRET not in verdict.output + verdict.detail
    assert len(verdict.output) <= LIMITS.output_bytes


@pytest.mark.usefixtures("machine")
def test_a_file_of_the_caller_cannot_be_read_by_its_path(sandbox: Sandbox, home: Path) -> None:
    step = Step(f"open({str(home / 'diary.txt')!r}).read()", is_expression=True)
    assert sandbox.run(Program("", (step,)), LIMITS).steps[0].kind is Kind.FORBIDDEN


@pytest.mark.usefixtures("machine")
def test_what_one_candidate_leaves_no_other_finds(sandbox: Sandbox) -> None:
    sandbox.run(Program("import os\nos.makedirs('a/b')\nopen('a/b/c', 'w').write('x')\nos.chmod('a', 0)"), LIMITS)
    assert sandbox.run(Program("import os", (Step("os.listdir()", True),)), LIMITS).steps[0].value == "[]"


@pytest.mark.usefixtures("machine")
def test_an_object_that_equals_everything_is_seen_from_outside_as_itself(sandbox: Sandbox) -> None:
    (step,) = sandbox.run(Program(PATCHES, (QUESTION,)), LIMITS).steps
    assert step.value is not None
    assert "Anything" in step.value


@pytest.mark.usefixtures("machine")
def test_a_forged_report_says_no_more_than_a_function_could_have_returned(sandbox: Sandbox) -> None:
    (step,) = sandbox.run(Program(FORGERY, (QUESTION,)), LIMITS).steps
    assert (step.kind, step.value) == (Kind.OK, "4")


@pytest.mark.usefixtures("machine")
def test_a_forged_report_does_not_reach_the_next_candidate(sandbox: Sandbox) -> None:
    sandbox.run(Program(FORGERY, (QUESTION,)), LIMITS)
    (step,) = sandbox.run(Program("def f(n): return n + 1", (QUESTION,)), LIMITS).steps
    assert step.value == "3"


SPY = "import gc\nseen = sum(''.join(('marvel', 'lous')) in str(o)[:9999] for o in gc.get_objects())"


@pytest.mark.usefixtures("machine")
def test_a_step_is_known_to_its_own_process_alone(sandbox: Sandbox) -> None:
    steps = (Step("seen", True), Step("'marvellous' and seen > 0", True))
    assert [step.value for step in sandbox.run(Program(SPY, steps), LIMITS).steps] == ["0", "true"]


@pytest.mark.usefixtures("machine")
def test_nothing_of_an_earlier_candidate_is_remembered(sandbox: Sandbox) -> None:
    earlier = Program("def f(): return ['marvellous'] * 3", (Step("f() or 'marvellous'", True),))
    assert "marvellous" in str(sandbox.run(earlier, LIMITS).steps[0].value)
    assert sandbox.run(Program(SPY, (Step("seen", True),)), LIMITS).steps[0].value == "0"
