"""Looking up text models by name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pkg.errors import MissingExtraError, PathError, UsageError, name_install
from pkg.models.registry import KINDS, TEMPLATE, check_ready, open_model, split_name

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", ["", "gpt", "openai", "openai:", "gguf:", "hf", ":m", "OPENAI:m", "template:x"])
def test_an_invalid_name_is_refused_with_the_expected_syntaxes(name: str) -> None:
    for look_up in (split_name, check_ready, open_model):
        with pytest.raises(UsageError, match=rf"no model '{name}'; expected one of: ") as raised:
            look_up(name)
        assert str(raised.value).endswith("openai:NAME@URL, hf:NAME_OR_FOLDER[+ADAPTER], gguf:FILE, template")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("openai:qwen2.5-coder:7b@http://localhost:11434/v1", ("openai", "qwen2.5-coder:7b@http://localhost:11434/v1")),
        ("openai:@cf/meta/llama@https://host/v1", ("openai", "@cf/meta/llama@https://host/v1")),
        ("gguf:C:/models/m.gguf", ("gguf", "C:/models/m.gguf")),
        ("hf:bigcode/starcoder2-7b", ("hf", "bigcode/starcoder2-7b")),
        (TEMPLATE, (TEMPLATE, "")),
    ],
)
def test_a_name_is_split_into_kind_and_rest(name: str, parts: tuple[str, str]) -> None:
    assert split_name(name) == parts


def test_the_template_writes_only_docstrings() -> None:
    check_ready(TEMPLATE)
    with pytest.raises(UsageError, match=r"'template' writes docstrings only \(pkg enhance\)"):
        open_model(TEMPLATE)


@pytest.mark.parametrize(
    "name",
    [
        "openai:m@https://user:secret@host/v1",
        "openai:m@https://user:secret@host:99999999/v1",
        "openai:m@https://secret@host/v1",
        "openai:m@https://host/v1?api_key=secret",
        "openai:m@user:secret@host",
        "opena1:m@https://user:secret@host/v1",
        "openai:@https://user:secret@host/v1",
        "openai:m@https://user:sec%72et%40@host/v1",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_shown(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_model(name)
    assert "secret" not in str(caught.value)
    assert "sec%72et" not in str(caught.value)


def test_a_password_in_the_address_of_the_environment_is_not_shown_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://user:secret@host/v1")
    monkeypatch.setattr("pkg.models.registry.find_spec", lambda name: object())
    with pytest.raises(UsageError, match="OPENAI_BASE_URL has a log-in") as caught:
        open_model("openai:m")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("word", list(KINDS))
def test_a_missing_package_is_an_error_with_the_command_that_installs_it(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pkg.models.registry.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=re.escape(name_install(KINDS[word].extra))):
        open_model(f"{word}:m")


def test_each_kind_names_the_extra_that_installs_its_packages() -> None:
    extras = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for kind in KINDS.values():
        (line,) = (line for line in extras.splitlines() if line.startswith(f"{kind.extra} = ["))
        assert all(f'"{package}' in line for package in kind.packages)


def test_a_file_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pkg.models.registry.find_spec", lambda name: object())
    with pytest.raises(PathError, match=rf"no file {tmp_path}/none.gguf"):
        open_model(f"gguf:{tmp_path}/none.gguf")


def test_the_lookup_of_a_name_imports_no_large_package() -> None:
    script = "import sys, pkg.models.registry as r; r.split_name('openai:m@http://localhost/v1');"
    script += "print([n for n in ('numpy', 'openai', 'torch', 'transformers', 'xllamacpp') if n in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    assert ran.stdout.strip() == "[]"
