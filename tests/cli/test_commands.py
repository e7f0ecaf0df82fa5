"""The commands beside `compare`: what they print, and what they refuse."""

from __future__ import annotations

import json

import pytest

from pyweanj import catalogue
from pyweanj.inputs import committed_file, read_arrays
from tests.helpers import command, one_line, write_example


def test_list_shows_examples_and_why_a_system_is_missing(tmp_path):
    done = command("list", "--json", cwd=tmp_path)
    assert done.returncode == 0
    data = json.loads(done.stdout)
    example = next(e for e in data["examples"] if e["name"] == "02-gauss-seidel")
    assert {"lexicographic", "red-black"} <= {v["name"] for v in example["variants"]}
    for row in data["systems"]:
        assert row["available"] or (row["reason"] and row["remedy"] is not None)
    text = command("list", cwd=tmp_path).stdout
    assert "u[i−1, j]" in text


def test_doctor_starts_what_is_there(tmp_path):
    done = command("doctor", "--json", cwd=tmp_path)
    assert done.returncode == 0
    data = json.loads(done.stdout)
    assert data["environment"]["packages"]["jax"]
    rows = {(r["system"], r["device"]): r for r in data["systems"]}
    assert rows["jax", "cpu"]["settings"]["jax_enable_x64"] == 1
    assert len(rows["jax", "cpu"]["affinity"]) == 1
    assert {"Julia", "PythonCall", "Enzyme", "KernelAbstractions", "HDF5", "CUDA"} <= set(
        data["julia"]["versions"]
    )


def test_doctor_tells_how_to_get_julia(tmp_path):
    env = {
        "XDG_CONFIG_HOME": str(tmp_path),
        "PYTHON_JULIACALL_EXE": None,
        "PYTHON_JULIACALL_PROJECT": None,
        "PYTHON_JULIAPKG_PROJECT": "/nowhere/at/all",
    }
    done = command("doctor", "--no-start", cwd=tmp_path, env=env)
    assert done.returncode == 0
    assert "remedy: pyweanj setup" in done.stdout


def test_inputs_are_made_checked_and_described(tmp_path):
    name = "02-gauss-seidel"
    done = command("inputs", "make", name, "eight.h5", "--n", "8", "--seed", "3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert read_arrays(tmp_path / "eight.h5")["theta"].shape == (8, 8)
    assert command("inputs", "check", name, "eight.h5", "--n", "8", cwd=tmp_path).returncode == 0
    wrong = command("inputs", "check", name, "eight.h5", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "at n = 32 needs" in one_line(wrong.stderr)
    again = command("inputs", "make", name, "eight.h5", cwd=tmp_path)
    assert again.returncode == 2
    assert "exists" in one_line(again.stderr)
    described = command("inputs", "describe", name, cwd=tmp_path)
    assert "Xoshiro(42)" in described.stdout


def test_a_stored_run_is_rendered_again_and_compared_with_itself(tmp_path):
    write_example(tmp_path / "scaled")
    assert command("compare", "scaled", "-o", "run", cwd=tmp_path).returncode == 0
    for form, text in (("markdown", "| "), ("latex", "toprule"), ("html", "<html"), ("csv", ",")):
        done = command("report", "run", "--format", form, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert text in done.stdout
    assert "<html" in (tmp_path / "run" / "report.html").read_text()
    plots = command("report", "run", "--plots", "plots", cwd=tmp_path)
    assert plots.returncode == 0
    assert list((tmp_path / "plots").glob("*.svg"))
    same = command("diff", "run", "run", cwd=tmp_path)
    assert same.returncode == 0, same.stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["report", "nowhere"], "give the folder of a finished run"),
        (["diff", "nowhere", "nowhere"], "give the folder of a finished run"),
        (["inputs", "check", "02-gauss-seidel", "nowhere.h5"], "no such file"),
        (["inputs", "make", "02-gauss-seidel", "x.h5", "--dtype", "f64"], "unknown dtype"),
        (["setup", "--julia", "julia"], "go together"),
        (["setup", "--show", "--reset"], "give one of"),
        (["nonsense"], "nonsense"),
    ],
)
def test_bad_usage_is_one_line_and_2(tmp_path, arguments, text):
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert text in one_line(done.stderr)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("{", "not JSON"),
        ('{"schema_version": 0}', "schema version 0"),
        ('{"schema_version": 1, "example": "x"}', "environment"),
        ("[]", "schema version None"),
    ],
)
def test_a_joint_table_that_cannot_be_read_is_one_line(tmp_path, content, text):
    (tmp_path / "joint.json").write_text(content)
    done = command("report", "joint.json", cwd=tmp_path)
    assert done.returncode == 2
    assert text in one_line(done.stderr)


def test_the_committed_inputs_pass_their_check(tmp_path):
    assert committed_file(catalogue.load("02-gauss-seidel")).is_file()
    assert command("inputs", "check", "02-gauss-seidel", cwd=tmp_path).returncode == 0
