"""Test `pkg serve` with requests that schemathesis generates from its OpenAPI description; exits 1 on failures.

    python checks/check_service.py [--schemathesis COMMAND] [--code FOLDER] [--examples 100] [--seed 0] [--token]

Needs schemathesis (pip install schemathesis, in an environment of its own). Builds a graph of the folder, by default of
PKG itself, and serves it with all permissions, so that building is tested too.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from serve_process import TOKEN, start_serve  # noqa: E402

PHASES = "examples,coverage,fuzzing"


def run_check(command: str, code: Path, examples: int, seed: int, has_token: bool) -> int:
    """Build, serve and run schemathesis; return its exit status."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        store = f"sqlite:///{folder / 'graph.db'}"
        build = [sys.executable, "-m", "pkg.cli", "build", str(code), "--store", store, "--json"]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        secured = ["--token"] if has_token else []
        with start_serve(folder, "--store", store, "--allow-build", *secured) as served:
            asked = [command, "--config-file", str(ROOT / "checks" / "schemathesis.toml")]
            asked += ["run", f"{served.address}/openapi.json", "--phases", PHASES]
            asked += ["--max-examples", str(examples), "--seed", str(seed), "--request-timeout", "60"]
            asked += ["--header", f"Authorization: Bearer {TOKEN}"] if has_token else []
            status = subprocess.run(asked, cwd=folder, check=False).returncode
            print(served.told, file=sys.stderr)
        return status


def main() -> None:
    """Parse the options, run the check, and exit with its status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemathesis", default="schemathesis", metavar="COMMAND")
    parser.add_argument("--code", type=Path, default=ROOT / "pkg", metavar="FOLDER")
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--token", action="store_true", help="serve with a token, and ask with it and without")
    given = parser.parse_args()
    command = shutil.which(given.schemathesis)
    if command is None:
        sys.exit(f"no command {given.schemathesis}; run: pip install schemathesis, or name it with --schemathesis")
    sys.exit(run_check(command, given.code, given.examples, given.seed, given.token))


if __name__ == "__main__":
    main()
