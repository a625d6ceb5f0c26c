"""The costs in docs/scale.md are products of recorded figures."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pages import ROOT

PAGE = (ROOT / "docs" / "scale.md").read_text("utf-8")
CORE_HOUR = 0.05  # dollars
HOUR = 3600


def read(name: str) -> Any:
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text("utf-8"))


ROWS = read("corpus")["rows"]["143000"]
DJANGO = read("build")["django"]
GROWTH = read("growth")["sizes"]["10000"]
LOAD = read("neo4j_load")
ROW_CPU = ROWS["cpu_seconds"]["median"] / ROWS["functions"]  # seconds a function
TASK_CPU = (ROWS["stage_cpu_seconds"]["extract"] + ROWS["stage_cpu_seconds"]["encode"]) / ROWS["functions"]
FILE_FUNCTIONS = DJANGO["nodes"]["Function"] / DJANGO["nodes"]["File"]
FILE_CPU = GROWTH["cpu_milliseconds_a_file"]["all"] / 1000 / FILE_FUNCTIONS
ROW_BYTES = ROWS["bytes_a_node"]["value"] * ROWS["nodes"] / ROWS["functions"]
FILE_BYTES = DJANGO["disk"]["mb"]["value"] * 1e6 / DJANGO["nodes"]["Function"]
EXTRACTED = LOAD["extraction_encoding_resolution"]
ELEMENTS = sum(EXTRACTED[each] for each in ("nodes", "relations", "nodes_of_links", "links"))
LOAD_CPU = (
    ELEMENTS / LOAD["with_vectors"]["nodes_by_label"]["Function"] / LOAD["bulk_import"]["elements_a_second"]["value"]
)
MILLION, MANY = 1e6, 1e8
CLUSTER = read("cluster")
LONG = read("store_sets_long")


@pytest.mark.parametrize(
    "row",
    [
        f"CPU | {ROW_CPU * MILLION:.0f} seconds | {ROW_CPU * MANY / HOUR:.1f} hours | 143,000 rows with"
        f" {ROWS['functions']:,} functions: {ROWS['cpu_seconds']['median']:.1f} CPU-seconds |",
        f"one that writes | {TASK_CPU * MILLION:.0f} seconds | {TASK_CPU * MANY / HOUR:.1f} hours |",
        f"| {((ROW_CPU - TASK_CPU) + TASK_CPU / 32) * MANY / HOUR:.1f} hours, all but"
        f" {TASK_CPU * MANY / 32 / 60:.0f} minutes by the one that writes |",
        f"stores: time | {ROW_CPU * MILLION / 32:.0f} seconds | {ROW_CPU * MANY / 32 / 60:.0f} minutes |",
        f"| {FILE_CPU * MILLION / HOUR:.1f} hours | {FILE_CPU * MANY / HOUR:.0f} hours | {GROWTH['files']:,} files:"
        f" {GROWTH['cpu_milliseconds_a_file']['all']:.1f} CPU-milliseconds a file; django has {FILE_FUNCTIONS:.1f}",
        f"and {FILE_CPU * MILLION / HOUR * CORE_HOUR:.2f} dollars | {ROW_CPU * MANY / HOUR * CORE_HOUR:.1f} and"
        f" {FILE_CPU * MANY / HOUR * CORE_HOUR:.0f} dollars |",
        f"| {ROW_BYTES / 1e3:.1f} and {FILE_BYTES / 1e3:.1f} GB | {round(ROW_BYTES / 10, -1):.0f} and"
        f" {round(FILE_BYTES / 10, -1):.0f} GB |",
        f"{CLUSTER['one']['rows']:,} rows with two workers on one machine take"
        f" {CLUSTER['processes']['ratio_to_one_process']['value']:.2f} times",
        f"{CLUSTER['ray']['ratio_to_one_process']['value']:.2f} times with Ray",
        f"takes {CLUSTER['processes']['driver_mb']['value']:.0f} and {CLUSTER['ray']['driver_mb']['value']:.0f} MB",
        f"{LONG['rows']:,} rows with two processes take {LONG['build']['memory_mb']:.0f} MB and"
        f" {LONG['build']['cpu_seconds']:,.0f} CPU-seconds (into one store {CLUSTER['long']['driver_mb']:.0f} MB and"
        f" {CLUSTER['long']['cpu_seconds']:,.0f} CPU-seconds)",
        f"takes {LONG['query']['cpu_seconds']:.1f} CPU-seconds and reads all vectors:"
        f" {LONG['query']['memory_mb']:,.0f} MB",
        f"| {LOAD_CPU * MILLION / 60:.0f} minutes | {LOAD_CPU * MANY / HOUR:.0f} hours |",
    ],
)
def test_each_cost_is_a_product_of_recorded_figures(row: str) -> None:
    assert row in PAGE
