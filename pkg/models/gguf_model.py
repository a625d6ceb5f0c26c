"""Models in GGUF files, run in this process by llama.cpp (package xllamacpp, pinned: its names change)."""

from __future__ import annotations

import atexit
import gc
import secrets
from pathlib import Path
from typing import Any

from pkg.errors import MissingExtraError, ModelError, PathError
from pkg.models.model_options import ModelOptions
from pkg.models.openai_client import OpenAIClient
from pkg.models.openai_model import OpenAIModel
from pkg.resources import count_cores

WINDOW = 8192  # tokens of one request: prompts of functions and a few helpers; memory grows with it
PARALLEL = 1


def open_model(detail: str, options: ModelOptions) -> GgufModel:
    """Load the model of a file; raises PathError without a file, and ModelError for one that is no model."""
    file = Path(detail).expanduser().resolve()
    if not file.is_file():
        raise PathError(f"no file {file}; expected a model as GGUF file")
    key = secrets.token_hex(32)
    server = start_server(file, options, key)
    client = OpenAIClient(f"{server.listening_address}/v1", f"gguf:{file}", options.timeout, key)
    return GgufModel(server, client, file, options)


def start_server(file: Path, options: ModelOptions, key: str) -> Any:
    """Load a model and start its server, which listens on this machine alone and to those who know the key.

    Raises MissingExtraError without the package, and ModelError for a file that it cannot load.
    """
    try:
        import xllamacpp
    except ImportError:
        raise MissingExtraError("xllamacpp", "gguf", f"the model 'gguf:{file}'") from None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(file)
    parallel = options.parallel or PARALLEL
    parameters.n_parallel = parallel
    parameters.n_ctx = (options.window or WINDOW) * parallel  # shared out among the requests at once
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = options.threads or count_cores()
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.api_keys = [key]
    parameters.cors_origins = ""
    parameters.ui = False
    parameters.verbosity = -1
    parameters.warmup = False
    try:
        return xllamacpp.Server(parameters)
    except RuntimeError as fault:
        raise ModelError(f"{file} cannot be loaded ({fault}); is it a text model of a known kind?") from None


class GgufModel(OpenAIModel):
    """A model of a GGUF file, behind a server of its own in this process."""

    def __init__(self, server: Any, client: OpenAIClient, file: Path, options: ModelOptions) -> None:
        super().__init__(client, file.stem, f"gguf:{file}", f"gguf {file}", options)
        self._server: Any = server
        atexit.register(self.close)

    def close(self) -> None:
        """Free the model."""
        super().close()
        if self._server is not None:
            self._server = None
            gc.collect()
            atexit.unregister(self.close)
