"""The main command as a user runs it: real processes, real files, real failures."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from pyweanj import catalogue, systems
from pyweanj.inputs import committed_file, read_arrays, write_arrays
from pyweanj.records import Joint, Record
from tests.helpers import (
    EXAMPLE,
    MODEL,
    command,
    compare_json,
    environment,
    one_line,
    rows,
    write_example,
)

PUBLISHED = {
    "lexicographic": ("0.105860373742", "6.409859e-04"),
    "red-black": ("0.105843754705", "6.366981e-04"),
}
CPP = systems.load("enzyme-cpp").probe("cpu").available
ENZYME = systems.load("enzyme").probe("cpu").available
NO_JULIA = {
    "PYTHON_JULIACALL_EXE": None,
    "PYTHON_JULIACALL_PROJECT": None,
    "PYTHON_JULIAPKG_PROJECT": "/nowhere/at/all",
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """One run of the main example at the check size, without Julia."""
    folder = tmp_path_factory.mktemp("checked")
    env = {**NO_JULIA, "XDG_CONFIG_HOME": str(folder)}
    status, joint, stderr = compare_json(
        "02-gauss-seidel", "--no-timing", "-o", folder / "run", cwd=folder, env=env
    )
    return folder / "run", status, joint, stderr


def test_every_system_gives_the_published_figures(checked):
    _, status, joint, _ = checked
    assert status == 0
    expected = {"jax", "oracle"} | ({"enzyme-cpp", "adjoint"} if CPP else set())
    for variant, (loss, norm) in PUBLISHED.items():
        found = rows(joint, variant=variant, outcome="ok")
        assert {r["system"] for r in found} == expected
        for record in found:
            assert f"{record['loss']:.12f}" == loss
            assert f"{record['grad_norm']:.6e}" == norm
            assert record["fd_error"] < 1e-7
            assert record["verdict"] == "right"


def test_all_pairs_agree_to_rounding(checked):
    _, _, joint, _ = checked
    for computes in PUBLISHED:
        ran = len(rows(joint, computes=computes, outcome="ok"))
        pairs = [p for p in joint["pairs"] if p["computes"] == computes]
        assert len(pairs) == ran * (ran - 1) // 2 > 0
    for pair in joint["pairs"]:
        assert pair["verdict"] == "ok"
        assert pair["grad_difference"] < 1e-14
        assert 1e-15 < pair["tolerance"] < 1e-12


def test_without_julia_its_rows_say_how_to_get_it(checked):
    _, status, joint, _ = checked
    found = rows(joint, system="enzyme")
    assert len(found) == 2
    assert {r["outcome"] for r in found} == {"unavailable"}
    assert all(r["message"] and r["remedy"] for r in found)
    assert status == 0


def test_the_folder_holds_what_was_printed(checked):
    folder, _, joint, _ = checked
    assert json.loads((folder / "joint.json").read_text()) == joint
    Joint.model_validate(joint)
    lines = (folder / "records.jsonl").read_text().splitlines()
    assert [Record.model_validate_json(line).model_dump(mode="json") for line in lines] == joint[
        "records"
    ]
    table = list(csv.DictReader(io.StringIO((folder / "joint.csv").read_text())))
    assert len(table) == len(joint["records"])
    assert "0.105860373742" in (folder / "joint.md").read_text()


def test_gradients_are_kept_in_the_layout_of_the_inputs(checked):
    folder, _, joint, _ = checked
    for record in rows(joint, outcome="ok"):
        gradient = read_arrays(folder / record["gradient"])["theta"]
        assert gradient.shape == (32, 32)
        assert f"{np.linalg.norm(gradient):.12e}" == f"{record['grad_norm']:.12e}"


def test_what_was_measured_with_is_recorded(checked):
    _, _, joint, _ = checked
    record = rows(joint, system="jax", variant="red-black")[0]
    assert record["threads"] == 1
    assert len(record["affinity"]) == 1
    assert record["versions"]["jax"]
    assert set(record["input_sha256"]) == {"theta", "uobs"}
    assert joint["environment"]["packages"]["jax"]


def test_machine_output_stands_alone_on_stdout(tmp_path):
    write_example(tmp_path / "scaled")
    done = command("compare", "scaled", "--no-timing", "--format", "csv", cwd=tmp_path)
    assert done.returncode == 0
    assert len(list(csv.DictReader(io.StringIO(done.stdout)))) == 4
    assert "[4/4]" in done.stderr


def test_the_table_is_for_people(tmp_path):
    write_example(tmp_path / "scaled")
    done = command("compare", "scaled", "--quick", "--no-timing", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "right" in done.stdout
    assert "\x1b[" not in done.stdout
    assert (tmp_path / "results" / "scaled" / "latest" / "joint.json").is_file()


def test_times_and_memory_are_measured(tmp_path):
    write_example(tmp_path / "scaled")
    status, joint, _ = compare_json("scaled", "--systems", "jax,oracle", cwd=tmp_path)
    assert status == 0
    for record in rows(joint, system="jax", n=8):
        assert len(record["grad_samples"]) >= 3
        assert record["forward_s"] == pytest.approx(np.median(record["forward_samples"]))
        assert record["grad_ci"][0] <= record["grad_s"] <= record["grad_ci"][1]
        assert record["compile_s"] > 0
        assert record["memory"]["xla_temp"] >= 0
        assert record["verdict"] == "right"
    assert rows(joint, system="oracle", n=8)[0]["grad_s"] is None


def test_float32_is_held_to_its_own_tolerance(tmp_path):
    status, joint, _ = compare_json(
        "02-gauss-seidel", "--systems", "jax,oracle", "--no-timing", "--dtypes", "float32",
        cwd=tmp_path,
    )  # fmt: skip
    assert status == 0
    for pair in joint["pairs"]:
        assert 1e-7 < pair["tolerance"] < 1e-3
        assert 1e-10 < pair["grad_difference"] <= pair["tolerance"]


HALF_PRECISION = (
    MODEL
    + "\ndef other_loss(x, y, K):\n    return loss(x.astype('float32'), y.astype('float32'), K)\n"
)
FACTOR_2 = MODEL + (
    "\nimport jax\n@jax.custom_vjp\ndef twice(s):\n    return s\n"
    "twice.defvjp(lambda s: (s, None), lambda _, g: (2 * g,))\n"
    "def other_loss(x, y, K):\n    return twice(loss(x, y, K))\n"
)
NOT_A_NUMBER = (
    MODEL + "\ndef other_loss(x, y, K):\n    return loss(x, y, K) + 0 * jnp.log(-jnp.sum(x**2))\n"
)
ZERO = (
    MODEL
    + "\nimport jax\ndef other_loss(x, y, K):\n    return loss(jax.lax.stop_gradient(x), y, K)\n"
)
X64_OFF = "import jax\njax.config.update('jax_enable_x64', False)\n" + MODEL


@pytest.mark.parametrize(
    "model",
    [HALF_PRECISION, FACTOR_2, NOT_A_NUMBER, ZERO],
    ids=["float32", "factor 2", "nan", "zero"],
)
def test_a_wrong_implementation_is_a_mismatch_and_the_right_ones_are_not(tmp_path, model):
    write_example(tmp_path / "scaled", model)
    status, joint, _ = compare_json("scaled", "--no-timing", cwd=tmp_path)
    assert status == 1
    assert rows(joint, variant="other", system="jax")[0]["outcome"] == "mismatch"
    assert rows(joint, variant="other", system="jax")[0]["verdict"] == "wrong"
    assert {r["outcome"] for r in rows(joint, variant="good")} == {"ok"}
    blamed = [p for p in joint["pairs"] if "jax/other/cpu" in (p["left"], p["right"])]
    assert blamed
    for pair in blamed:
        side = "left" if pair["left"] == "jax/other/cpu" else "right"
        assert pair["verdict"] == "mismatch"
        assert pair["wrong"] == side


def test_a_system_that_holds_another_dtype_is_a_mismatch(tmp_path):
    write_example(tmp_path / "scaled", X64_OFF)
    status, joint, _ = compare_json("scaled", "--no-timing", "--variants", "good", cwd=tmp_path)
    assert status == 1
    record = rows(joint, system="jax")[0]
    assert record["outcome"] == "mismatch"
    assert "float32" in record["message"]


CRASH = (
    MODEL
    + "\nimport os, signal\ndef other_loss(x, y, K):\n    os.kill(os.getpid(), signal.SIGSEGV)\n"
)
HANG = MODEL + "\nimport time\ndef other_loss(x, y, K):\n    time.sleep(1e6)\n"
RAISE = MODEL + "\ndef other_loss(x, y, K):\n    return x.nothing_of_the_sort\n"


@pytest.mark.parametrize(
    ("model", "outcome", "text"),
    [
        (CRASH, "crashed", "signal 11"),
        (HANG, "timeout", "no answer within"),
        (RAISE, "compile_error", "model.py"),
    ],
    ids=["crash", "hang", "raise"],
)
def test_a_failure_costs_one_row(tmp_path, model, outcome, text):
    write_example(tmp_path / "scaled", model)
    limit = "8" if outcome == "timeout" else "100"
    status, joint, _ = compare_json("scaled", "--no-timing", "--timeout", limit, cwd=tmp_path)
    assert status == 1
    failed = rows(joint, variant="other", system="jax")[0]
    assert failed["outcome"] == outcome
    assert text in failed["message"]
    others = [r for r in joint["records"] if r is not failed]
    assert {r["outcome"] for r in others} == {"ok"}
    assert len(others) == 3


def start_and_wait_for_rows(folder, count=1, **options):
    """A run in the background, after `count` records are on the disk; its folder."""
    run = folder / "run"
    process = subprocess.Popen(
        [sys.executable, "-m", "pyweanj", "compare", "02-gauss-seidel", "--systems", "jax,oracle",
         "--sizes", "32,64,128", "-o", str(run)],
        cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # Tests that run in the background of a shell ignore Ctrl-C, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        **options,
    )  # fmt: skip
    records = run / "records.jsonl"
    for _ in range(1200):
        if records.exists() and records.read_text().count("\n") >= count:
            return process, run
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.1)
    process.kill()
    pytest.fail("no record appeared")


def worker_pids(parent):
    import psutil

    return [
        child.pid
        for child in psutil.Process(parent).children(recursive=True)
        if "pyweanj.worker" in " ".join(child.cmdline())
    ]


def jax_worker(parent):
    import psutil

    for pid in worker_pids(parent):
        if "jax" in psutil.Process(pid).cmdline():
            return pid
    return None


def test_kill_9_on_a_worker_costs_one_row(tmp_path):
    process, run = start_and_wait_for_rows(tmp_path, 4)
    os.kill(jax_worker(process.pid), signal.SIGKILL)
    out, err = process.communicate(timeout=600)
    joint = json.loads((run / "joint.json").read_text())
    crashed = [r for r in joint["records"] if r["outcome"] == "crashed"]
    assert len(crashed) == 1, (out, err)
    assert "signal 9" in crashed[0]["message"]
    assert process.returncode == 1
    assert {r["outcome"] for r in joint["records"]} - {"ok", "skipped", "crashed"} == set()
    planned = json.loads((run / "run.json").read_text())["plan"]
    assert len(joint["records"]) == len(planned) > 16
    assert "crashed" in out


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_an_interrupted_run_keeps_and_prints_what_it_found(tmp_path, how):
    process, run = start_and_wait_for_rows(tmp_path, 4)
    workers = worker_pids(process.pid)
    assert workers
    process.send_signal(how)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, (out, err)
    joint = json.loads((run / "joint.json").read_text())
    assert joint["complete"] is False
    assert len(joint["records"]) >= 4
    assert "0.105860373742" in out
    assert "Traceback" not in err
    assert_gone(workers)


def test_no_worker_outlives_a_killed_parent(tmp_path):
    process, _ = start_and_wait_for_rows(tmp_path)
    workers = worker_pids(process.pid)
    process.kill()
    process.communicate(timeout=300)
    assert workers
    assert_gone(workers)


def assert_gone(pids):
    import psutil

    for _ in range(100):
        left = [p for p in pids if psutil.pid_exists(p) and psutil.Process(p).status() != "zombie"]
        if not left:
            return
        time.sleep(0.1)
    pytest.fail(f"still running: {left}")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["02-gauss-seidl"], "did you mean 02-gauss-seidel"),
        (["02-gauss-seidel", "--systems", "enzym"], "did you mean enzyme"),
        (["02-gauss-seidel", "--variants", "lexicografic"], "did you mean lexicographic"),
        (["02-gauss-seidel", "--devices", "gpus"], "did you mean gpu"),
        (["02-gauss-seidel", "--dtypes", "float46"], "did you mean float64"),
        (["02-gauss-seidel", "--format", "jsn"], "did you mean json"),
        (["02-gauss-seidel", "--preset", "seed"], "did you mean seeds"),
        (["02-gauss-seidel", "--sizes", "32,x"], "'x' is not a whole number"),
        (["02-gauss-seidel", "--threads", "0"], "threads"),
        (["02-gauss-seidel", "--threads", "100000"], "100000 threads"),
        (["02-gauss-seidel", "--thread", "1"], "--threads"),
        (["02-gauss-seidel", "--budget", "x"], "budget"),
        (["02-gauss-seidel", "--require", "julia"], "unknown system 'julia'"),
        (["02-gauss-seidel", "--no-timing", "--no-check"], "leave nothing to do"),
        (["02-gauss-seidel", "--quick", "--preset", "seeds"], "exclude each other"),
        (["02-gauss-seidel", "--systems", ""], "--systems has an empty name"),
        (["02-gauss-seidel", "--sizes", "32,"], "--sizes has an empty name"),
        (["02-gauss-seidel", "--sizes", "100000"], "over a quarter of this machine's"),
        (["02-gauss-seidel", "--sizes", "9" * 20], "over a quarter of this machine's"),
        (["02-gauss-seidel", "--tolerance", "0"], "give a positive number"),
        (["02-gauss-seidel", "--tolerance", "nan"], "give a positive number"),
        (["02-gauss-seidel", "--timeout", "inf"], "give a positive number of seconds"),
        (["02-gauss-seidel", "--budget", "nan"], "greater than or equal to 0"),
        (["02-gauss-seidel", "--seed", "-1"], "give a whole number from 0 to"),
        (["./nowhere/"], "no such folder"),
        (["."], "no example.py"),
        ([], "Missing argument 'example'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_usage_is_one_line_and_2(tmp_path, arguments, text):
    done = command("compare", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert text in one_line(done.stderr)
    assert not (tmp_path / "results").exists()


def test_two_runs_do_not_share_a_folder(tmp_path):
    write_example(
        tmp_path / "slow", MODEL.replace("def loss", "import time; time.sleep(5)\ndef loss")
    )
    arguments = ("compare", "slow", "--no-timing", "-o", "one")
    first = subprocess.Popen(
        [sys.executable, "-m", "pyweanj", *arguments],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not (tmp_path / "one" / "run.json").exists():
            assert first.poll() is None
            time.sleep(0.05)
        done = command(*arguments, cwd=tmp_path)
        assert done.returncode == 2
        assert "already holds a run" in one_line(done.stderr)
        done = command("compare", "slow", "--resume", "one", cwd=tmp_path)
        assert done.returncode == 2
        assert "another run is writing" in one_line(done.stderr)
    finally:
        assert first.wait(timeout=120) == 0


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_streams_cost_no_worker(tmp_path, closed):
    write_example(tmp_path / "scaled")
    line = f'"$0" -m pyweanj compare scaled --no-timing -o one {closed}'
    done = subprocess.run(
        ["sh", "-c", line, sys.executable], cwd=tmp_path, env=environment(), check=False
    )
    assert done.returncode == 0
    joint = json.loads((tmp_path / "one" / "joint.json").read_text())
    assert {row["outcome"] for row in joint["records"]} == {"ok"}


def test_who_stops_listening_to_the_progress_gets_the_results(tmp_path):
    write_example(tmp_path / "scaled")
    with (tmp_path / "out").open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "pyweanj", "compare", "scaled", "--no-timing"],
            cwd=tmp_path,
            env=environment(),
            stdout=out,
            stderr=subprocess.PIPE,
        )
        assert process.stderr is not None
        process.stderr.close()
        assert process.wait(timeout=120) == 0
    assert "✓ right" in (tmp_path / "out").read_text(encoding="utf-8")


def test_bad_inputs_start_no_worker(tmp_path):
    arrays = read_arrays(committed_file(catalogue.load("02-gauss-seidel")))
    arrays["theta"][0, 0] = np.nan
    write_arrays(tmp_path / "bad.h5", arrays)
    done = command("compare", "02-gauss-seidel", "--inputs", "bad.h5", cwd=tmp_path)
    assert done.returncode == 2
    assert "NaN" in one_line(done.stderr)
    assert [p.name for p in tmp_path.iterdir()] == ["bad.h5"]


def test_other_inputs_are_used_when_given(tmp_path):
    arrays = read_arrays(committed_file(catalogue.load("02-gauss-seidel")))
    write_arrays(tmp_path / "other.h5", {name: 2 * a for name, a in arrays.items()})
    status, joint, _ = compare_json(
        "02-gauss-seidel", "--no-timing", "--systems", "jax,oracle", "--inputs", "other.h5",
        cwd=tmp_path,
    )  # fmt: skip
    assert status == 0
    # The loss is quadratic and without a constant term in (theta, uobs) together.
    assert rows(joint, variant="lexicographic")[0]["loss"] == pytest.approx(4 * 0.105860373742)


def test_one_system_alone_is_3(tmp_path):
    write_example(tmp_path / "scaled")
    done = command(
        "compare", "scaled", "--systems", "jax", "--variants", "good", "--no-timing", cwd=tmp_path
    )
    assert done.returncode == 3


def test_a_required_system_that_is_missing_is_1(tmp_path):
    env = {**NO_JULIA, "XDG_CONFIG_HOME": str(tmp_path)}
    write_example(
        tmp_path / "scaled",
        example=EXAMPLE.replace('("jax", "oracle")', '("enzyme", "jax", "oracle")'),
    )
    done = command("compare", "scaled", "--no-timing", "--require", "enzyme", cwd=tmp_path, env=env)
    assert done.returncode == 1


def test_an_example_that_raises_names_its_line(tmp_path):
    write_example(tmp_path / "scaled", example=EXAMPLE + "\n1 / 0\n")
    done = command("compare", "scaled", cwd=tmp_path)
    assert done.returncode == 2
    assert "example.py:30: ZeroDivisionError" in one_line(done.stderr)


def test_debug_shows_the_traceback(tmp_path):
    done = command("compare", "nonsense", "--debug", cwd=tmp_path)
    assert done.returncode != 0
    assert "Traceback" in done.stderr


def test_a_read_only_folder_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    done = command("compare", "02-gauss-seidel", "-o", "file/run", cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot write results" in one_line(done.stderr)


@pytest.mark.julia
@pytest.mark.skipif(not ENZYME, reason="no Julia is configured; `pyweanj setup` does it")
def test_julia_gives_the_published_figures_too(tmp_path):
    status, joint, _ = compare_json(
        "02-gauss-seidel", "--no-timing", "--require", "enzyme", "--dtypes", "float64,float32",
        cwd=tmp_path, timeout=900,
    )  # fmt: skip
    assert status == 0
    for variant, (loss, norm) in PUBLISHED.items():
        record = rows(joint, system="enzyme", variant=variant, dtype="float64", device="cpu")[0]
        assert f"{record['loss']:.12f}" == loss
        assert f"{record['grad_norm']:.6e}" == norm
        assert record["fd_error"] < 1e-7
        assert record["verdict"] == "right"
        assert record["settings"]["threads"] == 1
    assert {r["outcome"] for r in rows(joint, system="enzyme", device="cpu")} == {"ok"}
