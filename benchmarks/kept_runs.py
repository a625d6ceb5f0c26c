"""Keep runs of `pkg eval` for the record: verdicts, signals and the places of retrieved code, without code and texts.

python benchmarks/kept_runs.py RUN... writes each to benchmarks/results/runs/NAME, and a report of all runs there with
its figures to benchmarks/results/report.md. `pkg eval report benchmarks/results/runs/*` reproduces it from the runs.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from pkg.lab.evaluation.code.run_folder import COSTS, RECORDS, RUN, TASKS, Record, read_records

RESULTS = Path(__file__).parent / "results"
RUNS = RESULTS / "runs"
FIGURES = RESULTS / "figures"
TEXTS = ("code",)  # fields of a record that are not verdicts
FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/'\"]+/)+")  # of this machine, in exception messages
REQUIRED = ("column", "item", "sample", "passed", "error")


def keep_run(path: Path) -> Path:
    """Copy the parts of a run that its report needs."""
    kept = RUNS / path.name
    kept.mkdir(parents=True, exist_ok=True)
    for name in (RUN, TASKS, COSTS):
        if (path / name).exists():
            shutil.copyfile(path / name, kept / name)
    last = {record.key: record for record in read_records(path)}
    lines = (json.dumps(shorten_record(record), ensure_ascii=False) + "\n" for record in last.values())
    (kept / RECORDS).write_text("".join(lines), encoding="utf-8")
    return kept


def shorten_record(record: Record) -> dict[str, Any]:
    """Return a record without its texts and default values."""
    plain = asdict(Record("", "", 0, False, ""))
    row = asdict(replace(record, detail=FOLDERS.sub("", record.detail)))
    return {
        each.name: row[each.name]
        for each in fields(Record)
        if each.name in REQUIRED or (each.name not in TEXTS and row[each.name] != plain[each.name])
    }


def main() -> None:
    """Keep the named runs, and write the report of all that are kept."""
    from pkg.lab import report_evaluation, write_report_page
    from pkg.lab.evaluation.report.code_sections import list_sections
    from pkg.lab.evaluation.report.report_format import render_markdown

    for path in sys.argv[1:]:
        print(keep_run(Path(path)))
    reports = [report_evaluation(path) for path in sorted(RUNS.iterdir())]
    write_report_page(reports, None, FIGURES)
    for each in FIGURES.glob("*.svg"):  # as large as all else together, and reproducible by the command above
        each.unlink()
    text = render_markdown(list_sections(reports), lambda picture: f"figures/{picture.name}.png")
    (RESULTS / "report.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
