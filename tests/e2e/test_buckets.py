"""Corpora in a bucket of a real S3 service on this machine: the graph of the same files on disk."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from trees import export_lines, open_graph_at

import pkg
from pkg.errors import InputError, PathError
from pkg.model import Skip

pytestmark = pytest.mark.bucket

ROWS = 700  # in each of the Parquet files, more than a batch


@pytest.fixture(scope="module")
def service() -> Iterator[Any]:
    """Start the service, with credentials of no account."""
    from moto.server import ThreadedMotoServer

    with pytest.MonkeyPatch.context() as environment:
        for name, value in {
            "ACCESS_KEY_ID": "key",
            "SECRET_ACCESS_KEY": "secret",
            "EC2_METADATA_DISABLED": "true",
        }.items():
            environment.setenv(f"AWS_{name}", value)
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
        server.start()
        yield server
        server.stop()


@pytest.fixture(name="options")
def options_of(service: Any) -> str:
    return f"?endpoint_override=127.0.0.1:{service.get_host_and_port()[1]}&scheme=http&region=us-east-1"


@pytest.fixture(name="client")
def bucket(service: Any) -> Any:
    import boto3

    endpoint = f"http://127.0.0.1:{service.get_host_and_port()[1]}"
    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    client.create_bucket(Bucket="corpora")
    return client


def make_files() -> dict[str, bytes]:
    """Return two Parquet files in folders, a compressed file of lines, and a file of no rows."""
    import pyarrow
    from pyarrow import parquet

    files = {"_SUCCESS": b"", "more.jsonl.gz": gzip.compress(json.dumps({"code": "def more():\n    pass"}).encode())}
    for year in (2025, 2026):
        target = io.BytesIO()
        codes = [f"def year_{year}_{number}(a):\n    return a + {number}\n" for number in range(ROWS)]
        parquet.write_table(pyarrow.table({"code": codes}), target)
        files[f"year={year}/part.parquet"] = target.getvalue()
    return files


def test_a_bucket_gives_the_graph_of_its_files(tmp_path: Path, client: Any, options: str) -> None:
    for name, content in make_files().items():
        client.put_object(Bucket="corpora", Key=f"rows/{name}", Body=content)
        (tmp_path / "rows.parquet" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "rows.parquet" / name).write_bytes(content)
    exports = []
    for number, place in enumerate((tmp_path / "rows.parquet", f"s3://corpora/rows{options}")):
        path = tmp_path / f"{number}.db"
        report = pkg.build_graph(str(place), store=f"sqlite:///{path}", source="rows")
        assert report.written == 2 * ROWS + 1
        with closing(open_graph_at(path)) as store:
            exports.append([line for line in export_lines(store) if '"label": "Source"' not in line])
    assert exports[0] == exports[1]


def test_changed_objects_are_read_again_and_others_are_not_prepared(tmp_path: Path, client: Any, options: str) -> None:
    address, store = f"s3://corpora/edited/*.jsonl{options}", f"sqlite:///{tmp_path / 'g.db'}"
    for name in "ab":
        client.put_object(Bucket="corpora", Key=f"edited/{name}.jsonl", Body=f'{{"code": "{name} = 1"}}\n'.encode())
    assert pkg.build_graph(address, store=store, source="s").written == 2
    assert not pkg.build_graph(address, store=store, source="s").changed
    client.put_object(Bucket="corpora", Key="edited/b.jsonl", Body=b'{"code": "b = 22"}\n')
    report = pkg.build_graph(address, store=store, source="s")
    assert (report.written, report.unchanged) == (1, 1)
    with pkg.open_graph(store) as graph:
        assert graph.query("b 22").coverage.stale == ()  # a question asks no service
        (skip,) = graph.refresh()
        assert isinstance(skip, Skip)
        assert "in a bucket" in skip.reason


def test_what_is_missing_is_named(client: Any, options: str) -> None:
    client.put_object(Bucket="corpora", Key="other/notes.txt", Body=b"x")
    for name, found in (("nothing", "no such file or folder: s3://corpora/nothing"), ("other", r"seen: notes\.txt")):
        with pytest.raises(PathError, match=found):
            pkg.build_graph(f"s3://corpora/{name}{options}")
    with pytest.raises(InputError, match="check the address and the credentials"):
        pkg.build_graph("s3://corpora/rows?endpoint_override=127.0.0.1:1&scheme=http&region=us-east-1")
