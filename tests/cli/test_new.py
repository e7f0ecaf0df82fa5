"""``pyweanj new``: what it writes compares, and what cannot be written is told."""

from __future__ import annotations

import pytest

from pyweanj import systems
from pyweanj.cli.new import FILES
from pyweanj.cli.new import TEMPLATES as FOLDER
from tests.helpers import command, compare_json, one_line, rows

CPP = systems.load("enzyme-cpp").probe("cpu").available
LONGEST = {"example.py": 60, "model.py": 15, "model.jl": 20, "model.cpp": 20, "test_example.py": 15}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("new")
    done = command("new", "deep/decay-2", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "python -m pyweanj compare deep/decay-2" in done.stdout
    return folder / "deep" / "decay-2"


def test_every_file_is_short_and_says_what_to_change(made):
    assert {file.name for file in made.iterdir()} == set(FILES)
    for name, limit in LONGEST.items():
        text = (made / name).read_text()
        assert len(text.splitlines()) <= limit
        assert "NAME" not in text
    assert (made / "example.py").read_text().count("←") >= 8
    assert 'name="decay-2"' in (made / "example.py").read_text()


@pytest.mark.parametrize("system", [pytest.param("enzyme", marks=pytest.mark.julia), "enzyme-cpp"])
def test_it_compares_with_success(made, system, tmp_path):
    if system == "enzyme-cpp" and not CPP:
        pytest.skip(systems.load(system).probe("cpu").reason)
    status, joint, stderr = compare_json(
        made, "--systems", f"jax,{system}", "--no-timing", "--dtypes", "float64,float32",
        "--require", system, cwd=tmp_path,
    )  # fmt: skip
    assert status == 0, stderr
    assert len(rows(joint, outcome="ok", verdict="right")) == 4
    assert [pair["verdict"] for pair in joint["pairs"]] == ["ok", "ok"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a name", "no name for an example"),
        ("-x", "No such option"),
        (".", "no name for an example"),
        ("02-gauss-seidel", "is an installed example already"),
        ("full", "full exists already"),
        ("file", "file exists already"),
    ],
)
def test_what_cannot_be_written_is_told(name, text, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.py").write_text("")
    (tmp_path / "file").write_text("")
    done = command("new", name, cwd=tmp_path)
    assert done.returncode == 2
    assert text in one_line(done.stderr)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "full"]


def test_the_templates_are_part_of_the_package():
    assert all((FOLDER / name).is_file() for name in FILES)
