import json
import subprocess
import sys
from pathlib import Path

import pytest

from pyweanj import catalogue, inputs
from pyweanj.example import Size
from pyweanj.records import Joint, Outcome, Pair, Record
from pyweanj.run.process import WorkerError
from tests.helpers import environment

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gpu.py"
EXAMPLE = "02-gauss-seidel"
SMALL = """
from dataclasses import replace
from pyweanj.example import Size
from pyweanj.examples.gauss_seidel.example import example as whole

kept = ("lexicographic", "lexicographic-hyperplane")
example = replace(
    whole,
    check=Size(6, 3),
    data=None,
    variants=tuple(v for v in whole.variants if v.name in kept),
)
"""
SIZE = Size(32, 20)


def test_no_gpu_is_said_in_one_line():
    # Hides the GPU where there is one.
    env = environment({"CUDA_VISIBLE_DEVICES": ""})
    for options in ([], ["--json"]):
        done = subprocess.run(
            [sys.executable, str(SCRIPT), *options],
            capture_output=True,
            text=True,
            check=False,
            env=env,
        )
        assert done.returncode == 3
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert "nothing was measured, because no NVIDIA GPU is visible to JAX" in line
        assert 'pip install -e ".[gpu]"' in line


def test_gpu_that_jax_cannot_start_on_is_said_in_one_line(gpu, monkeypatch, capsys):
    def fails(_lab, system, device):
        assert (system, device) == ("jax", "gpu")
        raise WorkerError(Outcome.UNAVAILABLE, "JAX finds no gpu device", "see its log")

    monkeypatch.setattr(gpu.Lab, "worker", fails)
    assert gpu.measure(EXAMPLE, "gpu", "cpu", SIZE) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert "JAX finds no gpu device (see its log)" in captured.err


def test_whole_script_on_the_cpu(gpu, tmp_path, capsys):
    (tmp_path / "example.py").write_text(SMALL)
    status = gpu.measure(str(tmp_path), "cpu", "cpu", Size(6, 3), as_json=True)
    found = json.loads(capsys.readouterr().out)
    rows = {row["figure"]: row for row in found["rows"]}
    assert len(rows) == len(found["rows"]) == 2 * 4 + 2
    assert found["machine"]["device"] == "cpu"
    example = catalogue.load(str(tmp_path))
    arrays = inputs.inputs(example, 6)
    for variant in example.variants:
        loss, gradient = example.oracle(variant.computes, arrays, 3)
        norm = float((gradient["theta"] ** 2).sum() ** 0.5)
        name = f"jax {variant.name} on the cpu, n = 6, K = 3"
        for what, value in (("loss", loss), ("norm of the gradient", norm)):
            row = rows[f"{name}: {what}"]
            assert row["value"] == pytest.approx(value, rel=1e-13)
            assert row["holds"] is True
            assert row["note"].startswith("verdict right; gradient against the oracle")
        for what in ("losses", "gradients"):
            # One device is nothing that it could be held against.
            row = rows[
                f"jax {variant.name}, cpu against cpu, n = 6, K = 3: difference of the {what}"
            ]
            assert (row["value"], row["holds"]) == (None, None)
            assert row["note"] == "both sides are the cpu"
    speed = "jax lexicographic gradient ÷ {} gradient on the cpu, n = 6, K = 3"
    row = rows[speed.format("lexicographic-hyperplane")]
    assert 0 < row["low"] <= row["value"] <= row["high"]
    assert (row["goal"], row["holds"]) == ("≥ 500", False)
    row = rows[speed.format("lexicographic-hyperplane-vjp")]
    assert (row["value"], row["holds"]) == (None, None)
    assert "no variant lexicographic-hyperplane-vjp" in row["note"]
    assert status == 1


def _record(variant, device, **fields):
    filled = {"loss": 0.1, "grad_norm": 0.2, "verdict": "right", "outcome": Outcome.OK} | fields
    return Record(
        example=EXAMPLE,
        system="jax",
        variant=variant,
        computes=variant,
        device=device,
        dtype="float64",
        n=SIZE.n,
        K=SIZE.K,
        N=SIZE.n**2,
        tolerance=5e-14,
        oracle_grad_error=3e-16,
        **filled,
    )


def _pair(variant, **fields):
    filled = {
        "loss_difference": 1e-16,
        "grad_difference": 2e-16,
        "grad_difference_max": 3e-16,
        "verdict": "ok",
    } | fields
    return Pair(
        example=EXAMPLE,
        computes=variant,
        dtype="float64",
        n=SIZE.n,
        K=SIZE.K,
        left=f"jax/{variant}/cpu",
        right=f"jax/{variant}/gpu",
        kind="devices",
        tolerance=5e-14,
        **filled,
    )


def test_rows_of_a_check_on_both_devices(gpu):
    joint = Joint(
        example=EXAMPLE,
        environment={},
        records=[
            _record("lexicographic", "cpu"),
            _record("lexicographic", "gpu"),
            _record("red-black", "cpu"),
            _record(
                "red-black", "gpu", verdict="wrong", outcome=Outcome.MISMATCH, message="oracle: off"
            ),
            _record("lexicographic-hyperplane", "cpu", verdict="unproven"),
            _record(
                "lexicographic-hyperplane",
                "gpu",
                verdict=None,
                loss=None,
                grad_norm=None,
                outcome=Outcome.CRASHED,
                message="crashed (signal 11, SIGSEGV)",
            ),
        ],
        pairs=[
            _pair("lexicographic"),
            _pair("red-black", verdict="mismatch", reason="gradient", detail="too far apart"),
        ],
    )
    rows = list(gpu.check_rows(catalogue.load(EXAMPLE), joint, "gpu", "cpu"))
    assert len(rows) == 4 * 6
    assert len({row.figure for row in rows}) == len(rows)

    def holds(variant):
        return [row.holds for row in rows if row.figure.split()[1].strip(",") == variant]

    assert holds("lexicographic") == [True] * 6
    # On the GPU, on the CPU, and between them; loss and gradient each.
    assert holds("red-black") == [False, False, True, True, False, False]
    assert holds("lexicographic-hyperplane") == [False, False, None, None, None, None]
    assert holds("lexicographic-hyperplane-vjp") == [None] * 6
    values = [row.value for row in rows[:6]]
    assert values == [0.1, 0.2, 0.1, 0.2, 1e-16, 3e-16]
    notes = " ".join(row.note for row in rows)
    assert "allowed 5.0e-14" in notes
    assert "oracle: off" in notes
    assert "crashed (signal 11, SIGSEGV)" in notes
    assert "too far apart" in notes
    assert "the comparison did not come to it" in notes


def test_comparison_beyond_its_limit_is_ended(gpu, tmp_path):
    joint = gpu.compared(EXAMPLE, ("cpu",), tmp_path / "run", 0.2)
    # It has found nothing by then, but may have got as far as saying so.
    assert joint is None or not joint.complete
    for row in gpu.check_rows(catalogue.load(EXAMPLE), None, "gpu", "cpu"):
        assert (row.value, row.holds) == (None, None)


class SimulatedLab:
    """Implementations whose calls take the seconds that are given, or fail as is given."""

    def __init__(self, **seconds):
        self.seconds = {name.replace("_", "-"): value for name, value in seconds.items()}
        self.clock = 0.0
        self.calls = 0

    def left(self):
        return max(0.0, 200.0 - self.clock)

    def prepare(self, system, variant, size, device, *, first_call, timeout):
        assert (system, device) == ("jax", "gpu")
        # The call that may take minutes is not made before it can be bounded.
        assert first_call == (variant != "lexicographic")
        return variant

    def sampler(self, handle, what, timeout):
        assert what == "gradient"

        def sample(calls):
            seconds = self.seconds[handle]
            if isinstance(seconds, WorkerError):
                raise seconds
            self.calls += handle == "lexicographic" and calls
            if seconds * calls > timeout:
                raise WorkerError(Outcome.TIMEOUT, f"no answer within {timeout:g} s")
            self.clock += seconds * calls
            return seconds * calls

        return sample


def _speeds(gpu, **seconds):
    fast = {"lexicographic_hyperplane": 0.5, "lexicographic_hyperplane_vjp": 0.25}
    lab = SimulatedLab(**(fast | seconds))
    rows = list(gpu.speed_rows(lab, "gpu", Size(64, 100), lab.left))
    assert [row.figure.split(" ÷ ")[1].split()[0] for row in rows] == list(gpu.FAST)
    return lab, rows


def test_fast_enough_calls_are_taken_in_the_same_rounds(gpu):
    lab, rows = _speeds(gpu, lexicographic=5.0)
    assert [row.value for row in rows] == pytest.approx([10.0, 20.0])
    assert [row.low for row in rows] == pytest.approx([10.0, 20.0])
    assert [row.high for row in rows] == pytest.approx([10.0, 20.0])
    assert lab.calls >= 3
    assert all(row.holds is False for row in rows)


def test_long_call_is_made_once_and_said_to_be(gpu):
    lab, rows = _speeds(gpu, lexicographic=140.0)
    assert [row.value for row in rows] == [280.0, 560.0]
    assert [row.holds for row in rows] == [False, True]
    assert all((row.low, row.high) == (None, None) for row in rows)
    assert all("one call" in row.note for row in rows)
    assert lab.calls == 1


def test_call_without_end_bounds_the_ratio_from_below(gpu):
    lab, rows = _speeds(gpu, lexicographic=1e6)
    given = lab.left()
    assert [row.value for row in rows] == [given / 0.5, given / 0.25]
    # Where the bound is below the goal nobody knows whether it is met.
    assert [row.holds for row in rows] == [None, True]
    assert all(row.low == row.value and row.high is None for row in rows)
    assert all(row.note.startswith("at least: no end after") for row in rows)


def test_call_that_crashes_bounds_nothing(gpu):
    crash = WorkerError(Outcome.CRASHED, "crashed (signal 9, SIGKILL)")
    _, rows = _speeds(gpu, lexicographic=crash)
    assert all((row.value, row.holds) == (None, None) for row in rows)
    assert all(row.note == "crashed (signal 9, SIGKILL)" for row in rows)
