"""Models in GGUF files, run in this process by llama.cpp (package xllamacpp, pinned because its names change).

The package can be called directly, but then the evaluation of a prompt cannot be interrupted, and exceptions of a
listener are lost. So requests go to the server that it starts anyway, on the loopback interface and with a key.
"""

from __future__ import annotations

import atexit
import gc
import secrets
from pathlib import Path
from typing import Any

from pkg.errors import MissingExtraError, ModelError
from pkg.models.gguf_file import GgufFile, read_gguf
from pkg.models.model_options import ModelOptions
from pkg.models.openai_client import OpenAIClient
from pkg.models.openai_model import OpenAIModel
from pkg.resources import count_idle_cores

WINDOW = 8192  # tokens of one request, enough for a function and a few helpers; memory grows with it
PARALLEL = 1  # parallel requests slightly change each other's texts


def open_model(detail: str, options: ModelOptions) -> GgufModel:
    """Load the model of a file; raises PathError without the file and ModelError for a file that is no text model."""
    path = Path(detail).expanduser().resolve()
    file = read_gguf(path)
    if not file.is_text_model:
        raise ModelError(f"{path} is no text model: '{file.architecture}' has no vocabulary; expected a text model")
    return GgufModel(path, file, options)


class GgufModel(OpenAIModel):
    """A model of a GGUF file with its own server in this process."""

    def __init__(self, path: Path, file: GgufFile, options: ModelOptions) -> None:
        key = secrets.token_hex(32)
        self._server: Any = start_server(path, file, options, key)
        client = OpenAIClient(f"{self._server.listening_address}/v1", f"gguf:{path}", options.timeout, key)
        super().__init__(client, path.stem, f"gguf:{path}", f"gguf {file.identity}", options)
        atexit.register(self.close)  # its threads must end before those of Python

    def close(self) -> None:
        """Release the model."""
        super().close()
        if self._server is not None:
            self._server = None
            gc.collect()
            atexit.unregister(self.close)


def start_server(path: Path, file: GgufFile, options: ModelOptions, key: str) -> Any:
    """Load a model and start its server on the loopback interface, protected by the key.

    Raises MissingExtraError without the package, and ModelError if loading fails.
    """
    try:
        import xllamacpp
    except ImportError:
        raise MissingExtraError("xllamacpp", "gguf", f"the model 'gguf:{path}'") from None
    parallel = options.parallel or PARALLEL
    window = options.window or min(WINDOW, file.window or WINDOW)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_parallel = parallel
    parameters.n_ctx = window * parallel  # shared by the requests
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = options.threads or count_idle_cores()
    parameters.hostnames, parameters.port, parameters.cors_origins = ["127.0.0.1"], 0, ""
    parameters.api_keys = [key]
    parameters.ui = parameters.warmup = False
    parameters.verbosity = -1  # its log goes to the terminal otherwise
    try:
        return xllamacpp.Server(parameters)
    except RuntimeError as fault:
        raise ModelError(
            f"{path} cannot be loaded ({fault}); it is a '{file.architecture}', which this llama.cpp may not know,"
            " or memory is insufficient: try PKG_MODEL_WINDOW=2048"
        ) from None
