"""Looking up encoders by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pkg.encode.registry import find_encoder, load_encoder
from pkg.errors import UsageError

ROOT = Path(__file__).resolve().parents[3]


def test_the_registry_knows_name_and_dimension_of_what_it_loads() -> None:
    encoder = load_encoder("hashing")
    assert find_encoder("hashing") == (encoder.name, encoder.dimension)


def test_an_encoder_is_made_once() -> None:
    assert load_encoder("hashing") is load_encoder("hashing")


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    for look_up in (find_encoder, load_encoder):
        with pytest.raises(UsageError, match=r"no encoder 'word2vec'; expected one of: hashing"):
            look_up("word2vec")


def test_looking_a_name_up_imports_no_numpy() -> None:
    script = "import sys, pkg.encode.registry as r; r.find_encoder('hashing'); print('numpy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    assert ran.stdout.strip() == "False"
