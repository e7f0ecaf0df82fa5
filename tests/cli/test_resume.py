"""A run that was cut off is taken up again, and ends as an undisturbed one."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time

from tests.helpers import EXAMPLE, command, environment, one_line, write_example

#: How often; PYWEANJ_KILLS=10 tries harder.
KILLS = int(os.environ.get("PYWEANJ_KILLS", "4"))

SLOW = """
import time
import jax.numpy as jnp

time.sleep(0.3)

def loss(x, y, K):
    return jnp.sum((K * x - y) ** 2)

other_loss = loss
"""
ARGUMENTS = ("compare", "scaled", "--systems", "jax,oracle", "--sizes", "2,3,4,6", "--quick")


def cases(run):
    joint = json.loads((run / "joint.json").read_text())
    found = [(r["system"], r["variant"], r["n"], r["K"], r["outcome"]) for r in joint["records"]]
    pairs = [(p["left"], p["right"], p["n"], p["K"], p["verdict"]) for p in joint["pairs"]]
    return found, pairs


def test_a_run_killed_at_random_moments_ends_as_an_undisturbed_one(tmp_path):
    write_example(tmp_path / "scaled", SLOW)
    begin = time.monotonic()
    done = command(*ARGUMENTS, "-o", "whole", cwd=tmp_path)
    lasted = time.monotonic() - begin
    assert done.returncode == 0, done.stderr
    expected = cases(tmp_path / "whole")
    assert len(expected[0]) == len(set(expected[0])) == 20
    moments = random.Random(5)
    cut = 0
    for k in range(KILLS):
        run = tmp_path / f"run{k}"
        process = subprocess.Popen(
            [sys.executable, "-m", "pyweanj", *ARGUMENTS, "-o", str(run)],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(moments.uniform(0.2, 1.0) * lasted)
        process.kill()
        process.wait()
        if not (run / "run.json").exists():
            continue  # killed before there was anything to take up
        cut += not (run / "joint.json").exists()
        done = command("compare", "scaled", "--resume", str(run), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert cases(run) == expected
    assert cut >= 1  # some of the kills hit a run that was going on


def test_only_what_is_missing_is_run_again(tmp_path):
    write_example(tmp_path / "scaled")
    assert command(*ARGUMENTS, "-o", "run", cwd=tmp_path).returncode == 0
    records = tmp_path / "run" / "records.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    expected = cases(tmp_path / "run")
    # The last line is cut short, as by a full disk.
    records.write_text("".join(lines[:-1]) + lines[-1][: len(lines[-1]) // 2])
    done = command("compare", "scaled", "--resume", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert cases(tmp_path / "run") == expected
    again = records.read_text().splitlines()
    assert again[: len(lines) - 1] == [line.rstrip() for line in lines[:-1]]
    # One group of four cases was run again, behind the half line.
    assert len(again) == len(lines) + 4


def test_a_failed_case_is_run_again(tmp_path):
    broken = SLOW.replace("other_loss = loss", "def other_loss(x, y, K):\n    raise ValueError")
    write_example(tmp_path / "scaled", broken)
    assert command(*ARGUMENTS, "-o", "run", cwd=tmp_path).returncode == 1
    write_example(tmp_path / "scaled", SLOW)
    assert command("compare", "scaled", "--resume", "run", cwd=tmp_path).returncode == 0
    assert {case[-1] for case in cases(tmp_path / "run")[0]} == {"ok"}


def test_what_is_no_run_is_refused(tmp_path):
    write_example(tmp_path / "scaled")
    done = command("compare", "scaled", "--resume", "nothing", cwd=tmp_path)
    assert done.returncode == 2
    assert "give the folder of a run" in one_line(done.stderr)


def test_a_run_of_another_example_is_refused(tmp_path):
    write_example(tmp_path / "scaled")
    write_example(tmp_path / "other", example=EXAMPLE)
    assert command(*ARGUMENTS, "--no-timing", "-o", "run", cwd=tmp_path).returncode == 0
    done = command("compare", "other", "--resume", "run", cwd=tmp_path)
    assert done.returncode == 2
    assert "is a run of" in one_line(done.stderr)
