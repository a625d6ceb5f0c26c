"""The parts of the Neo4j test servers that need no server: Java, ports, settings, jars."""

from __future__ import annotations

import re
import socket
import subprocess
from pathlib import Path

import pytest
from neo4j_install import (
    POM,
    STAMP,
    Java,
    choose_java,
    fetch_jars,
    find_java,
    hash_pom,
    list_homes,
    parse_major,
    read_java,
)
from neo4j_process import LOOPBACK, PORTS, LaunchedServer, Sizing, pick_port, render_settings
from neo4j_servers import VERSIONS

from pkg.errors import StoreError


def make_home(folder: Path, script: str = "", release: str = "") -> Path:
    """Make a folder that looks like an installed Java."""
    executable = folder / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    executable.chmod(0o755)
    if release:
        (folder / "release").write_text(release, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('IMPLEMENTOR="Debian"\nJAVA_RUNTIME_VERSION="17.0.15+6"\nJAVA_VERSION="17.0.15"\n', 17),
        ('openjdk version "25" 2025-09-16\nOpenJDK Runtime Environment (build 25+36)', 25),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "26-ea" 2026-03-17', 26),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
        ("", None),
    ],
)
def test_the_major_version_of_java_is_read(text: str, major: int | None) -> None:
    assert parse_major(text) == major


@pytest.mark.parametrize(
    ("version", "majors", "chosen"),
    [
        ("5.26.30", [11, 17, 25], 17),
        ("5.26.30", [17, 21, 25], 21),
        ("2026.08.1", [17, 21, 25], 25),
        ("2026.08.1", [21], 21),
    ],
)
def test_the_newest_java_that_fits_is_chosen(version: str, majors: list[int], chosen: int) -> None:
    javas = [None, *(Java(Path(f"java-{major}"), major) for major in majors)]
    assert choose_java(version, javas).major == chosen


def test_a_preferred_java_wins_only_where_it_fits() -> None:
    older, newer = Java(Path("java-17"), 17), Java(Path("java-21"), 21)
    assert choose_java("5.26.30", [newer, older], preferred=older.home) == older
    assert choose_java("2026.08.1", [newer, older], preferred=older.home) == newer


@pytest.mark.parametrize(
    ("version", "seen", "message"),
    [
        ("5.26.30", [], r"found none, expected 17 to 21; install a JDK 17 .* or set JAVA_HOME"),
        ("2026.08.1", [Java(Path("old"), 17)], r"found 17 in old, expected 21 or newer; install a JDK 21"),
    ],
)
def test_a_missing_java_is_named_with_what_to_install(version: str, seen: list[Java], message: str) -> None:
    with pytest.raises(StoreError, match=message):
        choose_java(version, seen)


def test_the_version_of_a_java_is_read_from_its_release_file_or_output(tmp_path: Path) -> None:
    released = make_home(tmp_path / "released", "exit 1", 'JAVA_VERSION="21.0.2"')
    asked = make_home(tmp_path / "asked", "echo 'openjdk version \"17.0.1\"' >&2")
    broken = make_home(tmp_path / "broken", "echo no runtime >&2; exit 1")
    assert [read_java(home) for home in (released, asked, broken, tmp_path)] == [
        Java(released, 21),
        Java(asked, 17),
        None,
        None,
    ]


def test_java_is_searched_in_java_home_first_and_then_on_path(tmp_path: Path) -> None:
    own, other = make_home(tmp_path / "own"), make_home(tmp_path / "other")
    (tmp_path / "java").symlink_to(other / "bin" / "java")
    homes = list(list_homes({"JAVA_HOME": str(own), "PATH": str(tmp_path)}))
    assert homes[:2] == [own, other]


def test_a_picked_port_can_be_listened_on() -> None:
    port = pick_port()
    assert port in PORTS
    with socket.socket() as listener:
        listener.bind((LOOPBACK, port))


def test_a_port_in_use_is_skipped() -> None:
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        taken = listener.getsockname()[1]
        with pytest.raises(StoreError, match="no free port"):
            pick_port(range(taken, taken + 1))


def test_a_server_listens_on_loopback_alone_and_reports_nothing() -> None:
    settings = dict(line.split("=", 1) for line in render_settings(20_001, 20_002, "256m").splitlines())
    hosts = {value.partition(":")[0] for name, value in settings.items() if name.endswith("_address")}
    assert hosts == {LOOPBACK}
    assert settings["dbms.usage_report.enabled"] == "false"


def test_full_speed_needs_the_optimising_compiler() -> None:
    assert "-XX:TieredStopAtLevel=1" in Sizing().render_flags()
    assert not [flag for flag in Sizing(quick=False).render_flags() if "Tiered" in flag]


@pytest.mark.server
@pytest.mark.parametrize("version", VERSIONS)
def test_a_virtual_machine_takes_the_flags_of_full_speed(version: str) -> None:
    command = [str(find_java(version).executable), *Sizing("64m", quick=False).render_flags(), "-version"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.server
@pytest.mark.parametrize("quick", [True, False])
def test_a_quick_server_starts_from_an_archive_of_its_classes_where_there_is_one(tmp_path: Path, quick: bool) -> None:
    server = LaunchedServer(VERSIONS[0], tmp_path, Sizing(quick=quick))
    server.archive = tmp_path / "classes.jsa"
    flag = f"-XX:SharedArchiveFile={server.archive}"
    assert flag not in server.render_start()
    server.archive.touch()
    assert (flag in server.render_start()) == quick


def test_the_pom_pins_each_version_and_holds_no_range() -> None:
    text = POM.read_text(encoding="utf-8")
    assert tuple(re.findall(r"<neo4j.version>(.*)</neo4j.version>", text)) == VERSIONS
    versions = re.findall(r"<version>(.*)</version>", text)
    assert [version for version in versions if not re.fullmatch(r"[\d.]+|\$\{neo4j.version\}", version)] == []


def test_fetched_jars_are_not_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "1.0" / "lib"
    library.mkdir(parents=True)
    (library / "b.jar").touch()
    (library / "a.jar").touch()
    (tmp_path / "1.0" / STAMP).write_text(hash_pom(), encoding="utf-8")
    monkeypatch.setenv("PATH", "")
    assert fetch_jars("1.0", tmp_path) == [library / "a.jar", library / "b.jar"]


def test_jars_of_another_pom_are_fetched_again_and_a_missing_maven_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "1.0").mkdir()
    (tmp_path / "1.0" / STAMP).write_text("another", encoding="utf-8")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(StoreError, match=r"no 'mvn' on PATH, expected Maven 3 .* install it .* PKG_TEST_NEO4J_URI"):
        fetch_jars("1.0", tmp_path)


def test_new_jars_take_the_place_of_old_ones_only_when_maven_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maven = make_home(tmp_path / "maven", 'mkdir -p "${8#*=}" && touch "${8#*=}/neo4j-server-1.0.jar"; exit $FAIL')
    (maven / "bin" / "java").rename(maven / "bin" / "mvn")
    monkeypatch.setenv("PATH", f"{maven / 'bin'}:/usr/bin:/bin")
    old = tmp_path / "1.0" / "lib" / "old.jar"
    old.parent.mkdir(parents=True)
    old.touch()

    monkeypatch.setenv("FAIL", "1")
    with pytest.raises(StoreError, match="Maven ended with 1"):
        fetch_jars("1.0", tmp_path)
    assert old.exists()

    monkeypatch.setenv("FAIL", "0")
    assert [path.name for path in fetch_jars("1.0", tmp_path)] == ["neo4j-server-1.0.jar"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.0", "1.0.lock", "maven"]


def test_tests_that_start_a_server_are_marked_and_so_no_quick_ones() -> None:
    tests = sorted((Path(__file__).parents[1] / "e2e").glob("test_*.py"))
    starting = {path.name: text for path in tests if "neo4j_servers" in (text := path.read_text(encoding="utf-8"))}
    assert len(starting) > 10
    assert [name for name, text in starting.items() if "pytest.mark.server" not in text] == []
