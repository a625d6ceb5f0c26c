"""Adapters merged into the weights of their base, as a model of its own (Q-13)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from pkg import __version__
from pkg.errors import UsageError, refuse_file
from pkg.lab.tuning.checkpoint_folder import FINAL, finish_run, open_run
from pkg.lab.tuning.tuning_run import import_tuning, quiet_training, save_weights
from pkg.models.adapters import split_adapters, write_card
from pkg.models.hf_model import load_weights
from pkg.models.model_options import ModelOptions, read_options


def merge_adapters(model: str, out: Path, options: ModelOptions) -> dict[str, Any]:
    """Write a base with its adapters merged as a folder of transformers; return its card.

    Raises UsageError if the name has no adapter or the folder is there, and the errors of loading.
    """
    kind, _, detail = model.partition(":")
    base, adapters = split_adapters(detail)
    if kind != "hf" or not adapters:
        raise UsageError(f"model '{model}' has no adapter to merge; expected hf:BASE+ADAPTER")
    if out.exists():
        raise UsageError(f"{out} is there already; give another --out")
    options = options.fill_up(read_options())
    import_tuning(detail, options.allow_download)
    loaded = load_weights(detail, options.dtype or "float32", options.allow_download, "cpu", merge=True)
    card = {
        "made_by": f"pkg {__version__}",
        "kind": "model",
        "base": {"model": f"hf:{base}", "identity": loaded.identity},
        "adapters": [str(Path(each).expanduser()) for each in adapters],
        "precision": options.dtype or "float32",
    }
    with open_run(out, card, restart=True) as part:
        final = part / FINAL
        try:
            final.mkdir()
            with quiet_training():
                save_weights(loaded.model, final)
                loaded.tokenizer.save_pretrained(str(final))
            write_card(final, card)
            finish_run(part, out)
        except OSError as fault:
            shutil.rmtree(part, ignore_errors=True)
            raise refuse_file(out, fault) from fault
    return card
