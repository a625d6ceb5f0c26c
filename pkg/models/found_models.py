"""Find the text models on this machine: files in the folders of common programs, and servers that are running."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pkg.errors import ModelError, PathError, UsageError
from pkg.models.fim import find_family
from pkg.models.gguf_file import read_gguf
from pkg.services import conceal_name

SERVERS = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080, "vLLM": 8000}
"""Default ports of servers with the interface of OpenAI, all on this machine."""
SERVER_SECONDS = 1.0
DEEPEST = 6  # folders below the folder of a program

_LATER_PART = re.compile(r"-(\d{5})-of-\d{5}\.gguf\Z")  # of a model in several files; the first one names them
_OLLAMA_MODEL = "application/vnd.ollama.image.model"


@dataclass(frozen=True, slots=True)
class FoundModel:
    """One model on this machine; None where a property is unknown before the model is opened."""

    short: str  # name that --model takes instead of the whole one
    name: str  # such as gguf:/models/coder.gguf
    place: str  # program whose folder or server has it
    size: int | None = None  # bytes on disk
    window: int | None = None  # tokens in training
    can_chat: bool | None = None
    can_fill: bool | None = None
    problem: str = ""  # the reason why it cannot be used

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready line."""
        return {
            "type": "model", "short": self.short, "name": self.name, "place": self.place, "bytes": self.size,
            "window": self.window, "chat": self.can_chat, "fill": self.can_fill, "problem": self.problem or None,
        }  # fmt: skip


def find_models() -> list[FoundModel]:
    """List the models in the folders of llama.cpp, LM Studio, Ollama and the hub of Hugging Face, by place and name.

    Nothing is downloaded and no server is asked. A file that cannot be used is listed with its problem.
    """
    found = [*_find_llama(), *_find_lm_studio(), *_find_ollama(), *_find_hub()]
    return sorted(found, key=lambda model: (model.place, model.short.lower(), model.name))


def find_served(servers: Iterable[tuple[str, int]] = tuple(SERVERS.items())) -> list[FoundModel]:
    """List the models of servers that run on this machine; one that does not answer within a second has none."""
    return [model for program, port in servers for model in _list_served(program, port)]


def name_model(short: str, found: Iterable[FoundModel]) -> str:
    """Return the whole name of a model with a short name, or with a beginning of one that no other model has.

    Raises UsageError for none and for several.
    """
    models = [model for model in found if not model.problem]
    wanted = short.lower()
    fits = [model for model in models if model.short.lower() == wanted]
    fits = fits or [model for model in models if model.short.lower().startswith(wanted)]
    names = list(dict.fromkeys(model.name for model in fits))
    if len(names) == 1:
        return names[0]
    if names:
        raise UsageError(f"'{short}' may be one of: {', '.join(sorted(names))}; give one of these")
    known = ", ".join(dict.fromkeys(model.short for model in models)) or "none"
    raise UsageError(
        f"no model '{conceal_name(short)}'; expected one of: gguf:FILE, openai:NAME@URL, hf:FOLDER, or a name that"
        f" pkg models lists: {known}"
    )


def _find_llama() -> Iterator[FoundModel]:
    given = os.environ.get("LLAMA_CACHE")
    caches = "Library/Caches" if sys.platform == "darwin" else ".cache"
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / caches) / "llama.cpp"
    yield from _list_files(Path(given) if given else home, "llama.cpp")


def _find_lm_studio() -> Iterator[FoundModel]:
    for folder in (".lmstudio/models", ".cache/lm-studio/models"):
        yield from _list_files(Path.home() / folder, "LM Studio")


def _find_ollama() -> Iterator[FoundModel]:
    """Yield the models of Ollama: each manifest names the file of its weights by a digest."""
    folder = Path(os.environ.get("OLLAMA_MODELS") or Path.home() / ".ollama/models")
    for path in sorted((folder / "manifests").glob("*/*/*/*")):
        *_, owner, name, tag = path.parts
        short = f"{name}:{tag}" if owner == "library" else f"{owner}/{name}:{tag}"
        try:
            layers = json.loads(path.read_bytes())["layers"]
            digest = next(str(each["digest"]) for each in layers if each["mediaType"] == _OLLAMA_MODEL)
        except (OSError, ValueError, LookupError, TypeError, StopIteration):
            continue  # no model with weights, such as one of a cloud
        yield describe_file(folder / "blobs" / digest.replace(":", "-"), "Ollama", short)


def _find_hub() -> Iterator[FoundModel]:
    """Yield the models of the cache of Hugging Face: GGUF files, and folders with weights of a causal model."""
    hub = os.environ.get("HF_HUB_CACHE")
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache/huggingface")
    for folder in sorted((Path(hub) if hub else home / "hub").glob("models--*")):
        yield from _list_files(folder / "snapshots", "Hugging Face")
        for config in sorted((folder / "snapshots").glob("*/config.json"))[:1]:
            model = _describe_folder(config, folder.name.removeprefix("models--").replace("--", "/"))
            if model is not None:
                yield model


def _describe_folder(config: Path, short: str) -> FoundModel | None:
    """Describe a folder of transformers; None for one without weights, or of a model that writes no text."""
    files = [each for pattern in ("*.safetensors", "*.bin") for each in sorted(config.parent.glob(pattern))]
    try:
        data = json.loads(config.read_bytes())
        is_writer = any("CausalLM" in each for each in data.get("architectures") or ())
        window = data.get("max_position_embeddings")
        size = sum(each.stat().st_size for each in files)
    except (OSError, ValueError, AttributeError, TypeError):
        return None
    if not files or not is_writer:
        return None
    template = (config.parent / "chat_template.jinja").exists() or _has_template(
        config.parent / "tokenizer_config.json"
    )
    number = window if isinstance(window, int) else None
    return FoundModel(short, f"hf:{short}", "Hugging Face", size, number, template, find_family(short) is not None)


def _has_template(path: Path) -> bool:
    try:
        return "chat_template" in json.loads(path.read_bytes())
    except (OSError, ValueError, TypeError):
        return False


def _list_files(folder: Path, place: str) -> Iterator[FoundModel]:
    """Yield the models of the GGUF files below a folder; of a model in several files the first one."""
    for path in sorted(_walk(folder)):
        part = _LATER_PART.search(path.name)
        if part is not None and int(part[1]) > 1:
            continue
        model = describe_file(path, place, path.stem)
        if model.problem or model.can_chat is not None:
            yield model


def _walk(folder: Path) -> Iterator[Path]:
    depth = len(folder.parts)
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(folders) if len(Path(root).parts) - depth < DEEPEST else []
        yield from (Path(root, name) for name in files if name.endswith(".gguf"))


def describe_file(path: Path, place: str, short: str) -> FoundModel:
    """Describe a GGUF file by its header; one that writes no text can neither chat nor fill: both are None."""
    name = f"gguf:{path}"
    try:
        file, size = read_gguf(path), path.stat().st_size
    except (OSError, ModelError, PathError) as fault:
        return FoundModel(short, name, place, problem=str(fault))
    if not file.is_text_model:
        return FoundModel(short, name, place, size)
    return FoundModel(short, name, place, size, file.window, file.has_template, find_family(short) is not None)


def _list_served(program: str, port: int) -> Iterator[FoundModel]:
    from urllib.request import ProxyHandler, build_opener

    address = f"http://localhost:{port}/v1"
    opener = build_opener(ProxyHandler({}))  # this machine alone is asked, whatever proxy is set
    try:
        with opener.open(f"{address}/models", timeout=SERVER_SECONDS) as answer:
            names = [str(each["id"]) for each in json.load(answer)["data"]]
    except (OSError, ValueError, LookupError, TypeError):
        return
    for name in names:
        yield FoundModel(name, f"openai:{name}@{address}", f"{program} on port {port}")
