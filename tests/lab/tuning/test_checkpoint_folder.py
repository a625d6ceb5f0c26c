"""A run is written beside its name, resumed from its last complete checkpoint, and renamed when complete."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pkg.errors import InputError, UsageError
from pkg.lab.tuning.checkpoint_folder import (
    FINAL,
    SEAL,
    check_target,
    find_checkpoint,
    find_part,
    finish_run,
    open_run,
    seal_checkpoint,
)
from pkg.models.adapters import write_card

KEY = {"task": "sft", "data": ["12"], "recipe": {"rank": 8}}


def make_checkpoint(part: Path, step: int, is_sealed: bool = True) -> Path:
    folder = part / f"checkpoint-{step}"
    folder.mkdir()
    (folder / "weights").write_bytes(bytes([step]))
    if is_sealed:
        seal_checkpoint(folder)
    return folder


def test_the_same_run_is_resumed_and_another_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    with open_run(out, KEY, restart=False) as part:
        kept = make_checkpoint(part, 1)
    with open_run(out, KEY, restart=False) as part:
        assert (part, find_checkpoint(part)) == (find_part(out), kept)
    assert not out.exists()
    with (
        pytest.raises(UsageError, match=r"holds another run, which was interrupted \(other data, recipe\)"),
        open_run(out, {**KEY, "data": ["34"], "recipe": {"rank": 4}}, restart=False),
    ):
        pass
    with open_run(out, {**KEY, "data": ["34"]}, restart=True) as part:
        assert find_checkpoint(part) is None


HOLD = """
import json, sys, time
from pathlib import Path
from pkg.lab.tuning.checkpoint_folder import open_run
with open_run(Path(sys.argv[1]), json.loads(sys.argv[2]), restart=False):
    print("open", flush=True)
    time.sleep(60)
"""


def test_a_folder_is_used_by_one_run_at_a_time_and_free_after_a_kill(tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    words = [sys.executable, "-c", HOLD, str(out), json.dumps(KEY)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == "open\n"
            kept = make_checkpoint(find_part(out), 1)
            for restart in (False, True):
                with (
                    pytest.raises(UsageError, match="is in use by another run of pkg tune; wait until it ends"),
                    open_run(out, KEY, restart),
                ):
                    pass
        finally:
            other.kill()
    with open_run(out, KEY, restart=False) as part:
        assert find_checkpoint(part) == kept


def test_the_latest_complete_checkpoint_is_found_and_half_a_one_removed(tmp_path: Path) -> None:
    assert find_checkpoint(tmp_path) is None
    make_checkpoint(tmp_path, 9)
    complete = make_checkpoint(tmp_path, 10)
    half = make_checkpoint(tmp_path, 11, is_sealed=False)
    assert find_checkpoint(tmp_path) == complete
    assert not half.exists()


@pytest.mark.parametrize("fault", ["changed", "truncated", "missing", "seal"])
def test_a_damaged_checkpoint_is_an_error(tmp_path: Path, fault: str) -> None:
    folder = make_checkpoint(tmp_path, 3)
    if fault == "missing":
        (folder / "weights").unlink()
    elif fault == "seal":
        (folder / SEAL).write_text("{")
    else:
        (folder / "weights").write_bytes(b"" if fault == "truncated" else b"x")
    with pytest.raises(InputError, match=r"checkpoint .*checkpoint-3 is damaged \(.*\); remove it to resume"):
        find_checkpoint(tmp_path)


def test_a_complete_run_appears_under_its_name_alone(tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    with open_run(out, KEY, restart=False) as part:
        final = part / FINAL
        final.mkdir()
        with pytest.raises(InputError, match="is not complete"):
            finish_run(part, out)
        write_card(final, {"base": {}, "run": KEY})
        finish_run(part, out)
    assert [path.name for path in tmp_path.iterdir()] == ["tuned"]
    card = check_target(out, KEY)
    assert card is not None
    assert card["run"] == KEY
    with pytest.raises(UsageError, match=r"is another run \(other task\)"):
        check_target(out, {**KEY, "task": "dpo"})


def test_a_folder_of_anything_else_is_not_overwritten(tmp_path: Path) -> None:
    assert check_target(tmp_path / "none", KEY) is None
    with pytest.raises(UsageError, match=r"is there already and no run of pkg tune; give another --out"):
        check_target(tmp_path, KEY)
