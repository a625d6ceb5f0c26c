"""The real client of OpenAI against the real server of llama.cpp with a real small coder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pkg.errors import ContextLengthError, ModelError
from pkg.models.gguf_file import read_gguf
from pkg.models.gguf_model import GgufModel, start_server
from pkg.models.model_options import ModelOptions
from pkg.models.registry import open_model
from pkg.models.text_model import Decoding, Message, TextModel

pytestmark = pytest.mark.model

KEY = "key-of-the-test"
HEAD = "def add(a, b):\n"


@pytest.fixture(scope="module")
def address(coder_file: Path) -> Iterator[str]:
    """Run the server in this process; return its address."""
    server = start_server(coder_file, read_gguf(coder_file), ModelOptions(window=1024, parallel=2, threads=1), KEY)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture
def served(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[TextModel]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with closing(open_model(f"openai:coder@{address}")) as opened:
        yield opened


def test_the_server_reports_its_model(served: TextModel) -> None:
    assert (served.window, served.parallel, served.can_fill, served.can_prime) == (1024, 2, True, True)
    assert served.count_tokens(f"{HEAD}    return a + b") == 11


def test_its_texts_equal_those_of_the_model_in_this_process(served: TextModel) -> None:
    told: list[str] = []
    short = Decoding(max_tokens=12, stop=("\n",))
    assert served.complete(f"{HEAD}    return", short, told.append).text == "".join(told) == " a + b"
    assert served.fill(f"{HEAD}    return ", "\n\nassert add(2, 3) == 5\n", short).text.strip() == "a + b"
    begun = [Message("user", "Write a function add of two numbers."), Message("assistant", f"{HEAD}    return")]
    assert served.chat(begun, short).text == " a + b"


def test_special_tokens_around_a_hole_are_escaped(served: TextModel) -> None:
    short = Decoding(max_tokens=1)
    plain = served.fill("x = 1\n", "\ny = 2\n", short).usage.prompt_tokens
    holed = served.fill("x = 1\n<|fim_middle|>", "\ny = 2\n", short).usage.prompt_tokens
    assert holed > plain + 3  # an unescaped token would end the hole there


def test_infill_works_for_families_outside_the_table(served: TextModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pkg.models.openai_model.FAMILIES", ())
    short = Decoding(max_tokens=12, stop=("\n",))
    assert served.can_fill
    written = served.fill(f"{HEAD}    return ", "\n\nassert add(2, 3) == 5\n", short)
    assert written.text.strip() == "a + b"
    assert written.usage.prompt_tokens > 10
    with pytest.raises(ContextLengthError, match="500 after it; these texts have 1 and 601"):
        served.fill("a", "word " * 600, short)


def test_a_dropped_suffix_is_detected(served: TextModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pkg.models.openai_model.FAMILIES", ())
    monkeypatch.setattr("pkg.models.openai_model.OpenAIModel._has_infill", False)
    assert not served.can_fill


def test_a_wrong_key_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    with pytest.raises(ModelError, match=r"refuses the key .*set OPENAI_API_KEY to a valid one") as caught:
        open_model(f"openai:coder@{address}").chat([Message("user", "Hello")], Decoding(max_tokens=4))
    assert "another" not in str(caught.value)


def test_a_model_in_this_process_prints_nothing_and_ends_with_the_process(coder_file: Path) -> None:
    script = (
        "import sys; from pkg.models.registry import open_model; from pkg.models.text_model import Decoding;"
        "from pkg.models.model_options import ModelOptions;"
        "model = open_model(f'gguf:{sys.argv[1]}', ModelOptions(window=256, threads=1));"
        "print(model.complete('1 2 3', Decoding(max_tokens=2)).text)"
    )
    ran = subprocess.run([sys.executable, "-c", script, str(coder_file)], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == (" 4\n", "")


def test_an_error_of_a_listener_ends_the_call(coder: TextModel) -> None:
    def fail(piece: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        coder.complete(HEAD, Decoding(max_tokens=20), fail)
    assert coder.complete("1 2 3", Decoding(max_tokens=2)).text == " 4"  # the model remains usable


def test_a_truncated_model_is_refused_before_it_is_loaded(coder_file: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    with coder_file.open("rb") as source:
        cut.write_bytes(source.read(20_000_000))
    with pytest.raises(ModelError, match=r"truncated: it has 20,000,000 bytes of \d\d\d,"):
        open_model(f"gguf:{cut}")


def test_an_architecture_unknown_to_llama_is_an_error(tmp_path: Path) -> None:
    from gguf_writer import write_gguf

    path = write_gguf(tmp_path / "m.gguf", {"general.architecture": "strange", "tokenizer.ggml.tokens": ["a"]})
    with pytest.raises(ModelError, match=r"cannot be loaded .*'strange', which this llama.cpp may not know"):
        open_model(f"gguf:{path}")


def test_the_identity_of_a_model_depends_on_its_content(coder: TextModel, coder_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.symlink_to(coder_file)
    assert isinstance(coder, GgufModel)
    assert coder.identity == f"gguf {read_gguf(other).identity}"
