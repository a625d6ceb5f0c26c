"""Leave out the tests of the machinery of one resolver where the other is used."""

from __future__ import annotations

from pkg.extract.summary.switch import IS_BOUNDED

OLD = (
    "test_changes", "test_fixture_changes", "test_flows", "test_growth", "test_hierarchy", "test_own_edits",
    "test_queries", "test_scopes", "test_solver",
)  # fmt: skip
collect_ignore = [f"{name}.py" for name in OLD] if IS_BOUNDED else []
