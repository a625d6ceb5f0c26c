"""Memory of writing the index of terms."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_an_index_with_more_postings_than_a_run_takes_no_more_memory(tmp_path: Path) -> None:
    """Inverting 30 million postings at once would take a gigabyte."""
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from test_index_file import GROUP, pack_fragments\n"
        "from pkg.terms.index_writing import write_terms\n"
        "(one,) = pack_fragments([('s', [{str(term): 7 for term in range(1000)}] * 100)])\n"
        "write_terms(Path(sys.argv[1]), 'stamp', ((n, 's', one[2]) for n in range(300)), [GROUP])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "terms")], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 400  # megabytes
