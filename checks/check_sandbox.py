"""Run every hostile program on a backend, kill its client at random moments, and print the figures as JSON.

    python checks/check_sandbox.py [--backend process|docker|none] [--image NAME] [--kills 200] [--seed 0]

Exits with status 1 if a program escaped, got a wrong verdict or left something on the machine. The backend none has no
isolation: hostile programs are not run on it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from pathlib import Path

from hostile_code import CASES, ESCAPED, LIMITS, SECRET_NAME
from kills import LIFE, kill_client
from traces import describe_machine, find_family, wait_for_end

from pkg.sandbox import Program, Sandbox, open_sandbox

SECRET = "a secret of the host"


def check_cases(sandbox: Sandbox, home: Path) -> dict[str, list[str]]:
    """Run each program alone; return those with wrong verdicts, escapes, or changes to the machine."""
    found: dict[str, list[str]] = {"wrong": [], "escaped": [], "left": []}
    for case in CASES:
        before, family = describe_machine(home), find_family(os.getpid())
        verdict = sandbox.run(Program(case.code), LIMITS).load
        if verdict.kind not in case.kinds:
            found["wrong"].append(f"{case.name}: {verdict.kind.value} {verdict.detail}")
        if ESCAPED in verdict.output or SECRET in verdict.output + verdict.detail:
            found["escaped"].append(f"{case.name}: {verdict.output[:200]}")
        after = describe_machine(home)
        changed = [part for part in before.__slots__ if getattr(before, part) != getattr(after, part)]
        changed += ["processes"] if find_family(os.getpid()).processes != family.processes else []
        found["left"] += [f"{case.name}: {part}" for part in changed]
    return found


def check_hostile(backend: str, image: str | None) -> dict[str, object]:
    """Open a sandbox, run all programs and close it; return the findings."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "diary.txt").write_text(SECRET, encoding="utf-8")
        os.environ.update({SECRET_NAME: SECRET, "HOME": folder})
        sandbox = open_sandbox(backend, jobs=1, image=image)
        found = check_cases(sandbox, home)
        family = find_family(os.getpid())
        sandbox.close()
        found["left"] += [f"process {number}" for number in wait_for_end(family)]
        return {"cases": len(CASES), "walls": sandbox.layers, **found}


def check_kills(backend: str, times: int, seed: int) -> dict[str, object]:
    """Kill the client of a sandbox at random moments; return how often a process survived."""
    moments = random.Random(seed)
    left = [len(kill_client(backend, moments.uniform(0.0, LIFE))) for _ in range(times)]
    return {"kills": times, "alive_after_kills": sum(left)}


def main() -> None:
    """Check one backend according to the options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--backend", default="process", choices=("process", "docker", "none"))
    parser.add_argument("--image", help="image of the docker backend")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    figures: dict[str, object] = {"backend": options.backend}
    if options.backend != "none":
        figures |= check_hostile(options.backend, options.image)
    figures |= check_kills(options.backend, options.kills, options.seed)
    print(json.dumps(figures, indent=1))
    sys.exit(any(figures.get(name) for name in ("wrong", "escaped", "left", "alive_after_kills")))


if __name__ == "__main__":
    main()
