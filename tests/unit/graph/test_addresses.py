"""A mistyped address may contain a password, which no command prints."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from pkg.cli import main
from pkg.errors import PkgError, conceal_address
from pkg.graph.opening import open_store

FORMS = [
    "neo4j://user:{}@host",
    "neo4j+s://user:{}@host:7687/shop",
    "neo4j+ssc://user:{}@host",
    "bolt://user:{}@[::1]:7687",
    "bolt:/user:{}@host",
    "bolt:user:{}@host",
    "neo4j:user:{}@host",
    "neo4j:///user:{}@host",
    "neo4j//user:{}@host",
    "neo4j;//user:{}@host",
    "NEO4J://user:{}@host",
    "Bolt+S://user:{}@host",
    "noe4j://user:{}@host",
    " neo4j://user:{}@host",
    "neo4j://user:{}@host ",
    "neo4j:// user:{}@host",
    "neo4j://user: {} @host",
    "\tneo4j://user:{}@host\n",
    "neo4j://user:{}@",
    "neo4j://:{}@host",
    "neo4j://user:{}",
    "neo4j://user:{}/shop",
    "neo4j://user:x@{}@host",
    "neo4j://user:{}@x@host",
    "neo4j://user:x/{}@host",
    "neo4j://user:x#{}@host",
    "neo4j://user:x?{}@host",
    "neo4j://user:x:{}@host",
    "neo4j://user:{}@host/a@b",
    "neo4j://user@host:{}",
    "neo4j://host/user:{}",
    "neo4j://user%3A{}%40host",
    "neo4j://user:%41{}@host",
    "neo4j://user%253A{}%2540host",
    "neo4j://us\u00e9r:\u00fc{}@h\u00f6st",
    "neo4j://user:{}\uff20host",
    "neo4j\uff1a//user\uff1a{}@host",
    "neo4j://[user:{}@host",
    "neo4j://user:{}]@host",
    "neo4j://user:{}@host:notaport",
    "neo4j://host?password={}",
    "neo4j://host/shop?user=me&password={}",
    "neo4j://host#{}",
    "neo4j://host;password={}",
    "neo4j://host -u user -p {}",
    "host?password={}",
    "user:{}@host",
    "user:{}",
    "//user:{}@host",
    "sqlite://user:{}@host",
    "sqlite:/user:{}@host",
    "sqlite:user:{}@host",
    "sqlite:///user:{}@host/graph.db",
    "sqlite:////user:{}@host/graph.db",
    "sqlite:///user:x/{}@host/graph.db",
    "sqlite:///neo4j://user:{}@host",
    "sqlite:///graph.db?password={}",
    "SQLITE:///user:{}@host",
    "postgres://user:{}@h",
    "postgresql+psycopg://user:{}@h/shop",
    "mongodb://user:{}@a,b/shop",
    "jdbc:neo4j:bolt://user:{}@host",
    "https://user:{}@host:7473/browser",
    "Server=host;User=user;Password={}",
]
SECRET = "Tr0ub4dor"
COMMANDS = [
    ["build", "{place}"],
    ["build", "{place}", "--database", "shop"],
    ["build", "{place}", "--watch", "--poll"],
    ["query", "parse"],
    ["stats", "--json"],
    ["deps", "main"],
    ["export"],
    ["doctor", "--json"],
    ["browser"],
    ["verify", "--store", "sqlite:///none.db"],
    ["verify", "--store", "sqlite:///none.db", "--database", "shop"],
    ["verify", "--trace", "true"],
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "main.py").write_text("def main():\n    pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pkg.doctor._examine_tools", lambda: iter(()))
    monkeypatch.setattr("pkg.doctor.examine_encoders", lambda: iter(()))
    return tmp_path


@pytest.mark.parametrize("form", FORMS)
def test_no_command_prints_the_password_of_an_address(place: Path, form: str) -> None:
    address = form.format(SECRET)
    for words in COMMANDS:
        for debug in ([], ["--debug"]):
            command = [*debug, *(word.format(place=place) for word in words), "--store", address]
            result = CliRunner().invoke(main, command)
            trace = "".join(traceback.format_exception(*result.exc_info)) if result.exc_info else ""
            assert SECRET not in result.output + trace, command
            assert result.exit_code != 0
            assert result.exception is None or isinstance(result.exception, (SystemExit, PkgError))
    assert [each.name for each in place.iterdir()] == ["main.py"]


@pytest.mark.parametrize("form", ["neo4j:user:{}@host", "sqlite:///user:{}@host", "neo4j://user:{}"])
def test_variables_and_settings_are_no_other_way(place: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    (place / "pkg.toml").write_text(f'store = "{form.format(SECRET)}"\n')
    assert SECRET not in CliRunner().invoke(main, ["stats"]).output
    (place / "pkg.toml").write_text(f'store = ["{form.format(SECRET)}"]\n')
    assert SECRET not in CliRunner().invoke(main, ["stats"]).output
    (place / "pkg.toml").unlink()
    monkeypatch.setenv("PKG_STORE", form.format(SECRET))
    assert SECRET not in CliRunner().invoke(main, ["stats"]).output


@pytest.mark.parametrize("command", [["stats"], ["doctor"], ["build", "main.py"], ["--debug", "stats"]])
def test_the_password_of_the_environment_is_not_printed(
    place: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    pytest.importorskip("neo4j")
    monkeypatch.setenv("PKG_NEO4J_PASSWORD", SECRET)
    result = CliRunner().invoke(main, [*command, "--store", "bolt://127.0.0.1:1"])
    trace = "".join(traceback.format_exception(*result.exc_info)) if result.exc_info else ""
    assert result.exit_code == 1
    assert SECRET not in result.output + trace


@given(
    st.sampled_from(["neo4j://", "bolt+s://", "neo4j:", "sqlite://", "", "postgres://", "bolt:/"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
)
def test_text_between_the_user_and_the_last_at_sign_is_never_shown(scheme: str, left: str, right: str) -> None:
    shown = conceal_address(f"{scheme}user:{left}{SECRET}{right}@host")
    assert SECRET not in shown
    with pytest.raises(PkgError) as caught:
        open_store(f"{scheme}user:{left}{SECRET}{right}@host")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "sqlite:///graph.db", "sqlite:////srv/graphs/shop.db", "sqlite:///~/graph.db", "sqlite:///my graph #1?%41.db",
        "sqlite:////srv/me@work/graph.db", "sqlite:///C:/Data/me@work/graph.db", "sqlite:////srv/10:30@main/graph.db",
        "neo4j://host", "neo4j+s://graph.example:7687/shop", "bolt://[::1]:7000/my-graph.v2", "postgres://server",
        "graph.db", "my graph.db", "mysql:///graph", "https://host", "",
    ],
)  # fmt: skip
def test_an_address_without_a_password_is_shown_unchanged(address: str) -> None:
    assert conceal_address(address) == address
