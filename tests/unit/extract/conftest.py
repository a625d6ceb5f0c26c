"""Leave out the tests of what one resolver alone asks of a text where the other is used."""

from __future__ import annotations

from pkg.extract.summary.switch import IS_BOUNDED

collect_ignore = ["test_facts.py"] if IS_BOUNDED else []
