from __future__ import annotations

import io
import os
import tarfile
import warnings
import zipfile
from pathlib import Path

import pytest

from pkg.errors import PathError
from pkg.extract.archives import name_archive
from pkg.extract.discovery import discover
from pkg.extract.files import Discovery
from pkg.model import Skip


def write_zip(place: Path, members: dict[str, str], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(place, "w", compression) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return place


def write_tar(place: Path, members: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(place, mode) as archive:  # type: ignore[call-overload]
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    return place


def read_all(found: Discovery) -> dict[str, bytes]:
    return {entry.path: entry.read() for entry in found.entries}


def list_reasons(found: Discovery) -> dict[str, str]:
    return {skip.path: skip.reason for skip in found.skipped}


@pytest.mark.parametrize(
    ("filename", "name"),
    [
        ("django-5.2.8-py3-none-any.whl", "django"),
        ("spyder-6.0.0a4.tar.gz", "spyder"),
        ("py-2048-1.0.tgz", "py-2048"),
        ("project-main.zip", "project-main"),
        ("project-v2.1.tar.bz2", "project"),
        ("Project.ZIP", "Project"),
        ("2.0.tar", "2.0"),
    ],
)
def test_an_archive_is_named_after_its_project(filename: str, name: str) -> None:
    assert name_archive(filename) == name


def test_a_wheel_gives_its_modules(tmp_path: Path) -> None:
    members = {"pack/b.py": "b = 1\n", "pack/__init__.py": "", "pack-1.0.dist-info/METADATA": "", "pack/data.txt": ""}
    found = discover(str(write_zip(tmp_path / "pack-1.0-py3-none-any.whl", members)))
    assert (found.name, found.root) == ("pack", str(tmp_path / "pack-1.0-py3-none-any.whl"))
    assert read_all(found) == {"pack/__init__.py": b"", "pack/b.py": b"b = 1\n"}


@pytest.mark.parametrize(
    ("suffix", "mode"), [(".tar.gz", "w:gz"), (".tgz", "w:gz"), (".tar", "w"), (".tar.bz2", "w:bz2")]
)
def test_a_source_distribution_loses_its_top_folder(tmp_path: Path, suffix: str, mode: str) -> None:
    members = {
        "pack-1.0/src/z.py": b"z = 1\n",
        "pack-1.0/PKG-INFO": b"",
        "pack-1.0/setup.py": b"",
        "pack-1.0/src/a.py": b"a",
    }
    found = discover(str(write_tar(tmp_path / f"pack-1.0{suffix}", members, mode)))
    assert found.name == "pack"
    assert read_all(found) == {"setup.py": b"", "src/a.py": b"a", "src/z.py": b"z = 1\n"}


def test_a_top_folder_that_is_a_package_stays(tmp_path: Path) -> None:
    found = discover(str(write_zip(tmp_path / "pack.zip", {"pack/__init__.py": "", "pack/a.py": ""})))
    assert list(read_all(found)) == ["pack/__init__.py", "pack/a.py"]


def test_a_tar_over_the_memory_bound_reads_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pkg.extract.archives._SPOOL_IN_MEMORY", 100)
    members = {f"m{number}.py": b"x" * number for number in range(60)}
    entries = discover(str(write_tar(tmp_path / "a.tar.gz", members))).entries
    assert {entry.path: entry.read() for entry in reversed(entries)} == members


def test_fingerprints_follow_the_content(tmp_path: Path) -> None:
    places = [write_tar(tmp_path / f"{text}.tar", {"a.py": text.encode(), "b.py": b"same"}) for text in ("one", "two")]
    places += [write_zip(tmp_path / f"{text}.zip", {"a.py": text, "b.py": "same"}) for text in ("one", "two")]
    prints = [[entry.fingerprint for entry in discover(str(place)).entries] for place in places]
    assert prints[0] == prints[2] != prints[1] == prints[3]
    assert len({second for _, second in prints}) == 1


def test_member_names_are_labels_that_never_climb(tmp_path: Path) -> None:
    names = ["/etc/a.py", "../../b.py", "x/./../c.py", "win\\d.py"]
    for place in (
        write_zip(tmp_path / "a.zip", dict.fromkeys(names, "x")),
        write_tar(tmp_path / "a.tar", dict.fromkeys(names, b"x")),
    ):
        assert list(read_all(discover(str(place)))) == ["b.py", "etc/a.py", "win/d.py", "x/c.py"]
    assert sorted(os.listdir(tmp_path)) == ["a.tar", "a.zip"]


def test_of_members_with_one_name_the_last_counts(tmp_path: Path) -> None:
    with warnings.catch_warnings(), zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        warnings.simplefilter("ignore")  # zipfile warns of duplicate names
        archive.writestr("a.py", "first")
        archive.writestr("./a.py", "second")
    found = discover(str(tmp_path / "a.zip"))
    assert read_all(found) == {"a.py": b"second"}
    assert list_reasons(found) == {"a.py": "a later member has the same name"}


def test_members_over_the_cap_are_left_out(tmp_path: Path) -> None:
    for place in (
        write_zip(tmp_path / "a.zip", {"big.py": "x" * 5_000_001, "a.py": ""}),
        write_tar(tmp_path / "a.tgz", {"big.py": b"x" * 5_000_001, "a.py": b""}),
    ):
        found = discover(str(place))
        assert list(read_all(found)) == ["a.py"]
        assert "larger than 5.0 MB" in list_reasons(found)["big.py"]


def test_a_member_that_unpacks_to_more_than_its_header_says_is_refused(tmp_path: Path) -> None:
    place = write_zip(tmp_path / "bomb.zip", {"a.py": "x" * 1_000_000})
    data = place.read_bytes()
    place.write_bytes(data.replace((1_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    entry = discover(str(place)).entries[0]
    assert entry.size == 10
    with pytest.raises(PathError, match=r"bomb\.zip: a\.py: damaged"):
        entry.read()


def test_a_damaged_member_is_an_error_that_names_it(tmp_path: Path) -> None:
    place = write_zip(tmp_path / "a.zip", {"a.py": "unchanged"}, zipfile.ZIP_STORED)
    place.write_bytes(place.read_bytes().replace(b"unchanged", b"different"))
    with pytest.raises(PathError, match=r"a\.zip: a\.py: damaged .*; fetch the archive again"):
        discover(str(place)).entries[0].read()


def test_an_encrypted_member_is_left_out(tmp_path: Path) -> None:
    place = write_zip(tmp_path / "a.zip", {"a.py": ""})
    data = bytearray(place.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1  # general purpose flags in the directory
    place.write_bytes(data)
    assert "encrypted" in list_reasons(discover(str(place)))["a.py"]


def test_links_and_devices_in_archives_are_left_out(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name, kind in (("s.py", tarfile.SYMTYPE), ("h.py", tarfile.LNKTYPE), ("p.py", tarfile.FIFOTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        member = zipfile.ZipInfo("s.py")
        member.external_attr = 0o120777 << 16
        packed.writestr(member, "/etc/passwd")
    assert list_reasons(discover(str(tmp_path / "a.tar"))) == {
        "h.py": "same file as /etc/passwd",
        "p.py": "not a regular file",
        "s.py": "link; links in archives are not followed",
    }
    assert list_reasons(discover(str(tmp_path / "a.zip"))) == {"s.py": "link; links in archives are not followed"}


@pytest.mark.parametrize("suffix", [".zip", ".whl", ".tar.gz", ".tar", ".tar.bz2"])
@pytest.mark.parametrize(
    "content", [b"", b"no archive at all", b"\x1f\x8b\x08\x00broken", b"BZh9broken", b"PK\x05\x06"]
)
def test_another_file_is_an_error_that_names_it(tmp_path: Path, suffix: str, content: bytes) -> None:
    (tmp_path / f"a{suffix}").write_bytes(content)
    with pytest.raises(PathError, match=rf"a{suffix}: not a readable archive .*; expected"):
        discover(str(tmp_path / f"a{suffix}"))


def test_a_truncated_archive_is_an_error(tmp_path: Path) -> None:
    place = write_tar(tmp_path / "a.tar.gz", {"a.py": os.urandom(20_000), "b.py": os.urandom(20_000)})
    place.write_bytes(place.read_bytes()[:30_000])
    with pytest.raises(PathError, match="not a readable archive"):
        discover(str(place))


def test_a_header_with_a_size_of_gigabytes_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("a.py")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 4_000_000_000
    (tmp_path / "a.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + b"x" * 1024)
    with pytest.raises(PathError, match="not a readable archive"):
        discover(str(tmp_path / "a.tar"))


def test_folders_without_code_are_left_out_as_on_disk(tmp_path: Path) -> None:
    names = ["setup.py", "build/a.py", "env/pyvenv.cfg", "env/lib/b.py", "sub/node_modules/c.py", "sub/build/d.py"]
    found = discover(str(write_zip(tmp_path / "a.zip", dict.fromkeys(names, ""))))
    assert list(read_all(found)) == ["setup.py", "sub/build/d.py"]
    assert [skip.path for skip in found.skipped] == ["build", "env"]


def test_a_name_that_is_impossible_on_disk_is_left_out(tmp_path: Path) -> None:
    found = discover(str(write_zip(tmp_path / "a.zip", {"a/" * 30_000 + "a.py": "", "b.py": ""})))
    assert list(read_all(found)) == ["b.py"]
    assert found.skipped == (Skip("a/" * 40 + "...", "name longer than 4,096 characters"),)
