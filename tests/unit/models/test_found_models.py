"""Text models on this machine are found in the folders of common programs, and named shortly."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner
from gguf_writer import write_gguf
from trees import write_tree

from pkg.cli import main
from pkg.errors import UsageError
from pkg.models.found_models import FoundModel, find_models, find_served, name_model

TEXT: dict[str, int | str | list[str]] = {
    "general.architecture": "llama", "llama.context_length": 2048, "tokenizer.ggml.tokens": ["a"],
    "tokenizer.chat_template": "x",
}  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("XDG_CACHE_HOME", "LLAMA_CACHE", "OLLAMA_MODELS", "HF_HOME", "HF_HUB_CACHE", "PKG_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    return tmp_path


def _write_text_model(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_gguf(path, TEXT)


def test_models_of_four_programs_are_found(home: Path) -> None:
    llama = _write_text_model(home / ".cache/llama.cpp/starcoder2-3b.gguf")
    studio = _write_text_model(home / ".lmstudio/models/me/chat/chat-q4.gguf")
    blob = _write_text_model(home / ".ollama/models/blobs/sha256-12")
    layers = [
        {"mediaType": "other", "digest": "x"},
        {"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:12"},
    ]
    manifests = home / ".ollama/models/manifests/registry.ollama.ai"
    write_tree(manifests, {"library/qwen2.5-coder/7b": json.dumps({"layers": layers}), "me/cloud/latest": "{}"})
    hub = home / ".cache/huggingface/hub"
    write_tree(
        hub / "models--org--small/snapshots/1",
        {
            "config.json": json.dumps({"architectures": ["LlamaForCausalLM"], "max_position_embeddings": 512}),
            "model.safetensors": "12345", "tokenizer_config.json": '{"chat_template": "x"}',
        },
    )  # fmt: skip
    write_tree(hub / "models--org--bert/snapshots/1", {"config.json": '{"architectures": ["BertModel"]}', "m.bin": "1"})
    found = find_models()
    assert [(each.place, each.short, each.name) for each in found] == [
        ("Hugging Face", "org/small", "hf:org/small"),
        ("LM Studio", "chat-q4", f"gguf:{studio}"),
        ("Ollama", "qwen2.5-coder:7b", f"gguf:{blob}"),
        ("llama.cpp", "starcoder2-3b", f"gguf:{llama}"),
    ]
    assert [(each.window, each.can_chat, each.can_fill) for each in found] == [
        (512, True, False), (2048, True, False), (2048, True, True), (2048, True, True),
    ]  # fmt: skip
    assert found[0].size == 5


def test_unusable_files_are_named_and_parts_count_once(home: Path) -> None:
    folder = home / ".cache/llama.cpp"
    _write_text_model(folder / "big-00001-of-00002.gguf")
    _write_text_model(folder / "big-00002-of-00002.gguf")
    write_gguf(folder / "mmproj.gguf", {"general.architecture": "clip"})
    write_tree(folder, {"half.gguf": "GGUF"})
    big, half = find_models()
    assert big.short == "big-00001-of-00002"
    assert "its header cannot be read; fetch it again" in half.problem


def test_a_short_name_is_replaced(home: Path) -> None:
    found = [
        FoundModel("coder:7b", "gguf:/a", "p"),
        FoundModel("coder:0.5b", "gguf:/b", "p"),
        FoundModel("x", "", "p", problem="broken"),
    ]
    assert name_model("CODER:7b", found) == "gguf:/a"
    assert name_model("coder:0", found) == "gguf:/b"
    with pytest.raises(UsageError, match=r"'coder' may be one of: gguf:/a, gguf:/b; give one of these"):
        name_model("coder", found)
    with pytest.raises(UsageError, match=r"no model 'x'; expected .*: coder:7b, coder:0\.5b"):
        name_model("x", found)


def test_a_mistyped_address_with_a_password_is_not_shown() -> None:
    with pytest.raises(UsageError, match="no model") as caught:
        name_model("opnai:coder@https://me:secret@host/v1", [])
    assert "secret" not in str(caught.value)


def test_commands_take_a_short_name(home: Path) -> None:
    path = _write_text_model(home / ".cache/llama.cpp/coder.gguf")
    shown = CliRunner().invoke(main, ["mcp", "--install", "cursor", "--scope", "user", "--model", "coder", "--json"])
    assert f"gguf:{path}" in json.loads(shown.stdout)["server"]["args"]
    none = CliRunner().invoke(main, ["ask", "x", "--model", "other"])
    assert (none.exit_code, "a name that pkg models lists: coder" in none.stderr) == (2, True)


def test_a_model_that_a_command_does_not_use_is_not_looked_for(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable for other commands may hold a short name whose model is gone."""
    write_tree(home / "shop", {"cart.py": "def total():\n    return 1\n"})
    monkeypatch.setenv("PKG_MODEL", "gone")
    assert CliRunner().invoke(main, ["build", str(home / "shop")]).exit_code == 0
    found = CliRunner().invoke(main, ["query", "total"])
    assert (found.exit_code, "cart.py" in found.stdout) == (0, True)
    asked = CliRunner().invoke(main, ["query", "total", "--generate"])
    assert (asked.exit_code, "no model 'gone'" in asked.stderr) == (2, True)
    typed = CliRunner().invoke(main, ["query", "total", "--model", "other", "--generate"])
    assert (typed.exit_code, "no model 'other'" in typed.stderr) == (2, True)


def test_the_command_lists_models_or_three_ways_to_get_one(home: Path) -> None:
    empty = CliRunner().invoke(main, ["models", "--no-json"])
    assert "three ways to get one" in empty.stdout
    _write_text_model(home / ".cache/llama.cpp/coder.gguf")
    (line,) = map(json.loads, CliRunner().invoke(main, ["models", "--json"]).stdout.splitlines())
    assert (line["short"], line["window"], line["chat"], line["fill"]) == ("coder", 2048, True, False)


class _Models(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"data": [{"id": "served"}]}' if self.path == "/v1/models" else b"[]"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    server = HTTPServer(("localhost", 0), _Models)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def test_servers_are_asked_for_their_models(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:1")
    (found,) = find_served([("Ollama", port), ("vLLM", 1)])
    assert (found.short, found.name) == ("served", f"openai:served@http://localhost:{port}/v1")
