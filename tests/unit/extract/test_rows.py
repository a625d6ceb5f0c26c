"""Reading the rows of corpora: formats, fields, ids, and rows that cannot be read."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.errors import CorpusError, MissingExtraError, PathError, name_install
from pkg.extract.rows import MAX_ROW_BYTES, Row, is_corpus, read_rows
from pkg.model import Skip


def write(folder: Path, data: bytes | str, name: str = "rows.jsonl") -> str:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def texts(items: Sequence[Row | Skip]) -> list[str]:
    return [item.text for item in items if isinstance(item, Row)]


def skips(items: Sequence[Row | Skip]) -> list[Skip]:
    return [item for item in items if isinstance(item, Skip)]


@pytest.mark.parametrize("path", ["a.jsonl", "a.NDJSON", "a.json.gz", "a.csv", "a.csv.gz", "a.parquet", "-"])
def test_a_corpus_is_known_by_its_name(path: str) -> None:
    assert is_corpus(path)


@pytest.mark.parametrize("path", ["a.py", "a.gz", "a.parquet.gz", "a", "jsonl", "a.txt"])
def test_other_names_are_no_corpus(path: str) -> None:
    assert not is_corpus(path)


def test_alpaca_rows_give_the_output_and_the_instruction_as_query(tmp_path: Path) -> None:
    path = write(tmp_path, lines({"instruction": "Add.", "input": "1 2", "output": "x = 1 + 2"}))
    assert list(read_rows(path)) == [Row("row-0000000", "x = 1 + 2", "Add.\n\n1 2")]


def test_ids_of_any_known_name_are_kept_as_text(tmp_path: Path) -> None:
    path = write(tmp_path, lines({"task_id": 7, "code": "a"}, {"_id": "c1", "code": "b"}, {"code": "c"}))
    assert [row.id for row in read_rows(path) if isinstance(row, Row)] == ["7", "c1", "row-0000002"]


def test_repeated_ids_are_numbered_in_the_order_of_the_rows(tmp_path: Path) -> None:
    rows = [{"id": name, "code": "x"} for name in ("a", "a", "a#2", "a", "row-0000005")] + [{"code": "x"}]
    ids = [row.id for row in read_rows(write(tmp_path, lines(*rows))) if isinstance(row, Row)]
    assert ids == ["a", "a#2", "a#2#2", "a#3", "row-0000005", "row-0000005#2"]


def test_a_named_field_may_be_nested_or_hold_a_dot(tmp_path: Path) -> None:
    path = write(tmp_path, lines({"a": {"b": "inner"}, "output": "no"}, {"a.b": "flat"}))
    assert texts(list(read_rows(path, "a.b"))) == ["inner", "flat"]


def test_chats_give_what_the_assistant_said(tmp_path: Path) -> None:
    chat = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "one"},
        {"role": "assistant", "content": [{"type": "text", "text": "two"}]},
    ]
    shared = [{"from": "human", "value": "q"}, {"from": "gpt", "value": "three"}]
    path = write(tmp_path, lines({"messages": chat}))
    assert texts(list(read_rows(path))) == ["one\n\ntwo"]
    path = write(tmp_path, lines({"conversations": shared}))
    assert texts(list(read_rows(path))) == ["three"]


def test_a_list_of_strings_is_joined_by_lines(tmp_path: Path) -> None:
    assert texts(list(read_rows(write(tmp_path, lines({"code": ["a = 1", "b = 2"]}))))) == ["a = 1\nb = 2"]


def test_a_missing_field_is_refused_with_the_existing_ones(tmp_path: Path) -> None:
    path = write(tmp_path, lines({"question": "q", "script": "x"}))
    with pytest.raises(CorpusError, match=r"found: question, script\); name one with --field"):
        list(read_rows(path))
    with pytest.raises(CorpusError, match=r"no field 'code' .*found: question, script"):
        list(read_rows(path, "code"))


def test_a_row_without_text_in_the_field_is_skipped_with_the_reason(tmp_path: Path) -> None:
    rows = [{"code": "x"}, {"other": 1}, {"code": None}, {"code": 3}, {"id": "e", "code": [1]}, {"code": {"a": 1}}]
    items = list(read_rows(write(tmp_path, lines(*rows))))
    assert skips(items) == [
        Skip("line 2", "no field 'code' (found: other)"),
        Skip("line 3", "field 'code' is null; expected text"),
        Skip("line 4", "field 'code' is a number; expected text"),
        Skip("e", "field 'code' is a list without text; expected text"),
        Skip("line 6", "field 'code' is an object; expected text"),
    ]


def test_a_line_that_is_not_json_is_skipped_and_the_next_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, '{"code": "a"}\n{]\n[1]\n' + "[" * 100_000 + '\n{"code": "b"}\n')
    items = list(read_rows(path))
    assert texts(items) == ["a", "b"]
    assert skips(items)[0] == Skip("line 2", "not JSON: Expecting property name enclosed in double quotes at column 2")
    assert skips(items)[1].reason == "a JSON list; expected an object with fields"
    assert skips(items)[2].path == "line 4"


def test_byte_order_mark_crlf_and_empty_lines_are_no_rows(tmp_path: Path) -> None:
    path = write(tmp_path, b'\xef\xbb\xbf{"code": "a"}\r\n\r\n   \n{"code": "b"}')
    assert list(read_rows(path)) == [Row("row-0000000", "a", ""), Row("row-0000003", "b", "")]


def test_wrong_bytes_and_lone_surrogates_are_replaced(tmp_path: Path) -> None:
    path = write(tmp_path, b'{"code": "caf\xe9"}\n{"code": "caf\xc3\xa9"}\n{"code": "\\ud800x\\ud83d\\ude00\\u0000"}\n')
    assert texts(list(read_rows(path))) == ["caf�", "café", "�x😀\0"]


def test_a_row_that_is_too_large_is_skipped_with_both_sizes(tmp_path: Path) -> None:
    large = json.dumps({"code": "x" * (5 * MAX_ROW_BYTES)})
    exact = json.dumps({"code": "x" * (MAX_ROW_BYTES - len(json.dumps({"code": ""})))})
    items = list(read_rows(write(tmp_path, f'{large}\n{exact}\n{{"code": "b"}}\n')))
    assert skips(items) == [Skip("line 1", f"{len(large) + 1:,} bytes; a row may hold 2,000,000")]
    assert [len(text) for text in texts(items)] == [len(exact) - len(json.dumps({"code": ""})), 1]


def test_gzip_is_recognised_by_its_content(tmp_path: Path) -> None:
    data = gzip.compress(b'{"code": "a"}\n')
    assert texts(list(read_rows(write(tmp_path, data, "rows.jsonl.gz")))) == ["a"]
    assert texts(list(read_rows(write(tmp_path, data)))) == ["a"]
    assert texts(list(read_rows(write(tmp_path, b'{"code": "a"}\n', "plain.jsonl.gz")))) == ["a"]


@pytest.mark.parametrize("name", ["rows.jsonl.gz", "rows.json.gz", "rows.csv.gz"])
def test_a_truncated_gzip_gives_the_rows_before_the_damage(tmp_path: Path, name: str) -> None:
    rows = [{"code": f"x = {number * 7919 % 10007}"} for number in range(20_000)]
    plain = lines(*rows) if "jsonl" in name else json.dumps(rows)
    if "csv" in name:
        plain = "code\n" + "\n".join(row["code"] for row in rows)
    data = gzip.compress(plain.encode())
    items = list(read_rows(write(tmp_path, data[: len(data) // 2], name)))
    assert len(texts(items)) > 100
    assert texts(items) == [row["code"] for row in rows[: len(texts(items))]]
    assert len(skips(items)) == 1
    assert "damaged" in skips(items)[0].reason


def test_a_json_array_is_read_element_by_element(tmp_path: Path) -> None:
    tricky = {"id": "a", "code": 'x = {"]": "\\\\", \'[\': "\\""}', "nested": [{"b": [1, 2]}]}
    large = {"code": "[" * (2 * MAX_ROW_BYTES)}
    data = "\n [" + ",\n".join([json.dumps(tricky), "{bad]}", json.dumps(large), "3", '{"code": "z"}']) + "] "
    items = list(read_rows(write(tmp_path, data, "rows.json")))
    assert texts(items) == [tricky["code"], "z"]
    assert [skip.path for skip in skips(items)] == ["row-0000001", "row-0000002", "row-0000003"]
    assert "2,000,000" in skips(items)[1].reason


def test_a_truncated_array_is_reported(tmp_path: Path) -> None:
    items = list(read_rows(write(tmp_path, '[{"code": "a"}, {"code": "b', "rows.json")))
    assert texts(items) == ["a"]
    assert "no closing bracket" in skips(items)[0].reason


def test_json_lines_under_the_name_json_are_read(tmp_path: Path) -> None:
    assert texts(list(read_rows(write(tmp_path, lines({"code": "a"}, {"code": "b"}), "rows.json")))) == ["a", "b"]


def test_csv_fields_may_hold_lines_quotes_and_nul(tmp_path: Path) -> None:
    path = write(tmp_path, b'\xef\xbb\xbfid,code\r\n1,"def f():\n    return ""a"""\r\n\r\n2,b\0c\r\n3\r\n', "rows.csv")
    items = list(read_rows(path))
    assert texts(items) == ['def f():\n    return "a"', "bc"]
    assert skips(items) == [Skip("3", "no field 'code' (found: id)")]


def test_a_csv_field_that_is_too_large_is_skipped_and_reading_goes_on(tmp_path: Path) -> None:
    large = "line of text\n" * (MAX_ROW_BYTES // 10)
    items = list(read_rows(write(tmp_path, f'id,code\n1,a\n2,"{large}"\n3,c\n', "rows.csv")))
    assert texts(items) == ["a", "c"]
    assert "larger than field limit" in skips(items)[0].reason


def test_parquet_rows_are_read_in_batches(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    codes = [f"x = {number}" for number in range(600)]
    path = str(tmp_path / "rows.parquet")
    parquet.write_table(pyarrow.table({"id": list(range(600)), "code": codes}), path)
    rows = list(read_rows(path))
    assert texts(rows) == codes
    assert rows[-1] == Row("599", "x = 599", "")


def test_a_damaged_parquet_file_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(CorpusError, match="not a Parquet file"):
        list(read_rows(write(tmp_path, b"PAR1 but not really", "rows.parquet")))


def test_parquet_without_its_extra_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=re.escape(name_install("parquet"))):
        list(read_rows(write(tmp_path, b"PAR1", "rows.parquet")))


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_standard_input_is_json_lines_plain_or_gzip(monkeypatch: pytest.MonkeyPatch, compress: type[bytes]) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(compress(b'{"code": "a"}\n{bad\n')))
    monkeypatch.setattr(sys, "stdin", stdin)
    items = list(read_rows("-"))
    assert texts(items) == ["a"]
    assert skips(items)[0].path == "line 2"


def test_a_path_that_cannot_be_read_is_a_path_error(tmp_path: Path) -> None:
    with pytest.raises(PathError, match="No such file"):
        list(read_rows(str(tmp_path / "missing.jsonl")))
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(PathError, match=r"folder\.jsonl"):
        list(read_rows(str(tmp_path / "folder.jsonl")))
    with pytest.raises(PathError, match="is not a corpus"):
        list(read_rows(write(tmp_path, "x", "rows.txt")))


@pytest.mark.parametrize(
    ("data", "name"),
    [("", "a.jsonl"), ("\n\n", "a.jsonl"), ("[]", "a.json"), ("id,code\n", "a.csv"), ("{bad\n", "a.jsonl")],
)
def test_a_corpus_without_a_readable_row_is_refused(tmp_path: Path, data: str, name: str) -> None:
    with pytest.raises(CorpusError, match=r"no row of .* can be read"):
        list(read_rows(write(tmp_path, data, name)))


def test_many_bad_lines_before_the_first_row_do_not_hide_it(tmp_path: Path) -> None:
    items = list(read_rows(write(tmp_path, "bad\n" * 250 + '{"code": "a"}\n')))
    assert [len(skips(items)), texts(items)] == [250, ["a"]]
    assert skips(items)[-1].path == "line 250"


TEXT = st.text(st.characters(codec="utf-8"), max_size=60)


@given(st.lists(TEXT, min_size=1, max_size=8))
def test_texts_come_back_from_every_format(tmp_path_factory: pytest.TempPathFactory, codes: list[str]) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    rows = [{"id": f"r{number}", "code": code} for number, code in enumerate(codes)]
    assert texts(list(read_rows(write(folder, lines(*rows))))) == codes
    assert texts(list(read_rows(write(folder, json.dumps(rows, ensure_ascii=False), "rows.json")))) == codes
    plain = [code.replace("\0", "") for code in codes]
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([["id", "code"], *([f"r{number}", code] for number, code in enumerate(plain))])
    assert texts(list(read_rows(write(folder, buffer.getvalue(), "rows.csv")))) == plain


@given(st.binary(max_size=300))
def test_no_bytes_crash_a_reader(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    good = b'{"code": "a"}\n'
    assert "a" in texts(list(read_rows(write(folder, good + data))))
    for name, start in (("rows.json", b'[{"code": "a"},'), ("rows.csv", b"code\na\n"), ("rows.jsonl.gz", b"")):
        content = start + data if start else gzip.compress(good) + data
        assert texts(list(read_rows(write(folder, content, name))))[:1] == ["a"]
