"""Run a notebook that is written as Markdown, and return its page with the printed lines and the pictures."""

from __future__ import annotations

import base64
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

TIMEOUT = 120  # seconds for one cell


def render_notebook(file: Path, pictures: Path) -> str:
    """Return the page of a notebook with the outputs of its cells, written after a run; pictures go to a folder."""
    import jupytext
    from nbclient import NotebookClient
    from traitlets.config import Config

    notebook = jupytext.read(file)
    # Sockets of files instead of ports, which others on this machine could read.
    with TemporaryDirectory() as folder:
        config = Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/kernel"}})
        NotebookClient(notebook, config=config, kernel_name="python3", timeout=TIMEOUT).execute()
    pieces: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            pieces.append(cell.source)
            continue
        pieces.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            pieces += render_output(output, pictures)
    return "\n\n".join(pieces) + "\n"


def render_output(output: dict[str, Any], pictures: Path) -> list[str]:
    """Return the Markdown of one output: text as a block, a picture as a file."""
    if output["output_type"] == "stream":
        return [f"```text\n{output['text'].rstrip()}\n```"]
    data = output.get("data", {})
    if "image/png" not in data:
        return []
    pictures.mkdir(parents=True, exist_ok=True)
    name = f"{len(list(pictures.iterdir())) + 1}.png"
    (pictures / name).write_bytes(base64.b64decode(data["image/png"]))
    return [f"![A plot of the code above]({pictures.name}/{name})"]
