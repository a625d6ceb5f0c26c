"""Looking up encoders by name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pkg.encode.registry import (
    DEFAULT_ENCODER,
    KINDS,
    find_encoder,
    find_kind,
    find_service,
    forget_encoders,
    forget_revision,
    load_encoder,
    name_encoder,
)
from pkg.errors import EncoderError, MissingExtraError, UsageError, name_install

ROOT = Path(__file__).resolve().parents[3]


def test_the_registry_knows_name_and_dimension_of_what_it_loads() -> None:
    encoder = load_encoder(DEFAULT_ENCODER)
    assert find_encoder(DEFAULT_ENCODER) == (encoder.name, encoder.dimension)


def test_an_encoder_is_made_once() -> None:
    assert load_encoder(DEFAULT_ENCODER) is load_encoder(DEFAULT_ENCODER)


def test_a_released_encoder_is_made_again_with_equal_vectors() -> None:
    encoder, text = load_encoder(DEFAULT_ENCODER), b"def parse_header(line): ..."
    before = encoder.encode([text])
    forget_encoders()
    assert load_encoder(DEFAULT_ENCODER) is not encoder
    assert (load_encoder(DEFAULT_ENCODER).encode([text]) == before).all()


@pytest.mark.parametrize(
    "name",
    [
        "word2vec",
        "",
        "st",
        "st:",
        "minilm:",
        "voyage",
        "openai:",
        f"{DEFAULT_ENCODER}:x",
        ":x",
        "STATIC",
        f"{DEFAULT_ENCODER}@",
        f"{DEFAULT_ENCODER}@0000",
        "minilm@0000",
        "@",
    ],
)
def test_an_unknown_name_is_answered_with_the_known_ones(name: str) -> None:
    for look_up in (find_kind, find_encoder, find_service, load_encoder, name_encoder):
        with pytest.raises(UsageError, match=rf"no encoder '{name}'; expected one of: .*minilm\[:FOLDER\], st:NAME"):
            look_up(name)


@pytest.mark.parametrize(
    "name", ["openai:@http://host", "voyage:@http://host/v1", "openai:m@ftp://host", "openai:m@http://"]
)
def test_an_invalid_address_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"expected (openai|voyage):NAME or \1:NAME@http://host/v1"):
        find_kind(name)


def test_the_dimension_of_a_known_model_needs_no_request() -> None:
    assert find_encoder("voyage:voyage-code-2") == ("voyage:voyage-code-2", 1536)
    assert find_encoder("openai:text-embedding-3-small@http://far.example/v1")[1] == 1536
    assert find_encoder("minilm")[1] == 384


@pytest.mark.parametrize(
    ("name", "address"),
    [
        (DEFAULT_ENCODER, None),
        ("minilm", None),
        ("st:some/model", None),
        ("voyage:voyage-code-3", "https://api.voyageai.com/v1"),
        ("openai:m", "https://api.openai.com/v1"),
        ("openai:m@http://far.example:8000/v1/", "http://far.example:8000/v1"),
        ("openai:m@http://localhost:11434/v1", None),
        ("openai:m@http://127.0.0.2/v1", None),
        ("openai:m@http://[::1]:80/v1", None),
    ],
)
def test_the_registry_knows_whether_texts_leave_the_machine(name: str, address: str | None) -> None:
    assert find_service(name) == address


def test_the_environment_names_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1/")
    assert find_service("openai:m") is None


def test_the_stored_name_of_a_folder_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    assert name_encoder("minilm:model") == f"minilm:{tmp_path / 'model'}"
    assert name_encoder("st:model") == f"st:{tmp_path / 'model'}"
    assert name_encoder("st:other/model") == "st:other/model"


def test_the_stored_name_of_an_address_has_no_last_slash() -> None:
    assert name_encoder("openai:m@http://localhost:1/v1/") == "openai:m@http://localhost:1/v1"


@pytest.mark.parametrize(
    ("name", "written"),
    [
        (f"{DEFAULT_ENCODER}@0000", DEFAULT_ENCODER),
        (DEFAULT_ENCODER, DEFAULT_ENCODER),
        ("openai:m@http://localhost:1/v1", "openai:m@http://localhost:1/v1"),
        ("minilm:/models@home", "minilm:/models@home"),
        ("gone@0000", "gone@0000"),
    ],
)
def test_only_an_encoder_whose_weights_come_with_pkg_has_a_revision_to_forget(name: str, written: str) -> None:
    assert forget_revision(name) == written


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("openai:m@http://localhost:1/v1", "openai"),
        ("voyage:m@http://localhost:1/v1", "voyageai"),
        ("st:some/model", "sentence_transformers"),
    ],
)
def test_a_missing_package_is_an_error_with_the_command_that_installs_it(
    name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=re.escape(name_install(find_kind(name).extra))):
        load_encoder(name).encode([b"def f(): pass"])


def test_a_missing_model_file_is_an_error_that_names_the_folder(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=rf"no ONNX file in {tmp_path}; expected model.onnx"):
        load_encoder(f"minilm:{tmp_path}")
    (tmp_path / "model.onnx").write_bytes(b"")
    with pytest.raises(EncoderError, match=rf"no tokenizer.json in {tmp_path}"):
        load_encoder(f"minilm:{tmp_path}")


def test_a_service_elsewhere_wants_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for service, variable in (("openai", "OPENAI_API_KEY"), ("voyage", "VOYAGE_API_KEY")):
        monkeypatch.delenv(variable, raising=False)
        from pkg.encode.service import SERVICES

        with pytest.raises(EncoderError, match=rf"no key for https://far.example; set {variable}"):
            SERVICES[service].read_key("https://far.example", EncoderError)


def test_each_kind_with_packages_names_the_extra_that_brings_them() -> None:
    extras = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for kind in KINDS.values():
        assert bool(kind.packages) == bool(kind.extra)
        assert not kind.extra or f"\n{kind.extra} = [" in extras


def test_the_lookup_of_a_name_imports_no_numpy() -> None:
    names = (DEFAULT_ENCODER, "minilm", "voyage:voyage-code-2", "openai:text-embedding-3-small")
    script = (
        f"import sys, pkg.encode.registry as r; [r.find_encoder(n) for n in {names}]; print('numpy' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    assert ran.stdout.strip() == "False"
