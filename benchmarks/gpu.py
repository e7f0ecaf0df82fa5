"""JAX on an NVIDIA GPU: every variant of 02-gauss-seidel checked there, hyperplanes timed.

usage: python benchmarks/gpu.py [--json]

Takes less than five minutes, whatever the GPU: every step has a limit, and what did not come
to its end has a row that says so.
Exit status: 0 where no goal is missed, 1 where one is, 3 where no GPU is visible to JAX.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import rows as table
from rows import Goal, Row, ratio_row
from subjects import Lab, Missing, measured

from pyweanj import catalogue, environment, store, systems
from pyweanj.api import told
from pyweanj.errors import UsageError
from pyweanj.example import Example, Size
from pyweanj.measure import Rule
from pyweanj.records import FAILURES, Case, Joint, Outcome, Pair, Record
from pyweanj.run.process import WorkerError

EXAMPLE = "02-gauss-seidel"
SPEED = Size(64, 100)
FASTER = Goal(least=500)
SLOW = "lexicographic"
FAST = ("lexicographic-hyperplane", "lexicographic-hyperplane-vjp")

LIMIT_S = 280.0
"""Of the whole script."""
CHECK_S = 130.0
"""Of the comparison, which is then interrupted; what it found by then is kept."""
START_S = 60.0
"""Of the start of JAX in a worker."""
FAST_RULE = Rule(goal=0.02, max_rounds=20, budget_s=10.0)
PAIRED = 5
"""Rounds of the two together, where so many calls of the slow one fit into the time."""


class Clock:
    """What is left of a limit."""

    def __init__(self, limit_s: float) -> None:
        self.end = time.monotonic() + limit_s

    def left(self) -> float:
        """Seconds, at least a little: a step that has no time left fails at once."""
        return max(0.01, self.end - time.monotonic())


def figures(
    lab: Lab, reference: str, device: str, against: str, size: Size, limit_s: float = LIMIT_S
) -> Iterator[Row]:
    """All rows.

    Parameters
    ----------
    reference
        What `catalogue.load` finds the lab's example by.
    device, against
        Where JAX is measured, and where the same is computed once more.
    size
        Of the timing.
    """
    clock = Clock(limit_s)
    joint = compared(reference, (device, against), lab.folder / "check", min(CHECK_S, clock.left()))
    yield from check_rows(lab.example, joint, device, against)
    yield from speed_rows(lab, device, size, clock.left)


def compared(
    reference: str, devices: tuple[str, ...], folder: Path, limit_s: float
) -> Joint | None:
    """``compare --no-timing`` of JAX and the oracle, interrupted where it takes longer.

    None where it left nothing.
    """
    command = [sys.executable, "-m", "pyweanj", "compare", reference, "--no-timing", "--no-install"]
    command += ["--systems", "jax,oracle", "--devices", ",".join(devices)]
    command += ["--output", str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        # As a scheduler would: the run ends its workers and writes what it found.
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(15)
    finally:
        process.kill()
        process.wait()
    try:
        return store.read_joint(folder)
    except UsageError:
        return None


def check_rows(example: Example, joint: Joint | None, device: str, against: str) -> Iterator[Row]:
    """Loss, gradient norm and verdict on each device, and the difference between the two."""
    records = {record.case: record for record in joint.records} if joint else {}
    pairs = joint.pairs if joint else []
    for variant in example.variants:
        if "jax" not in variant.systems:
            continue
        for place in dict.fromkeys((device, against)):
            case = Case("jax", variant.name, place, "float64", *example.check)
            yield from _verdict(records.get(case), case)
        case = Case("jax", variant.name, device, "float64", *example.check)
        sides = {f"jax/{variant.name}/{place}" for place in (device, against)}
        found = [pair for pair in pairs if {pair.left, pair.right} == sides]
        yield from _difference(found[0] if found else None, case, against)


def _verdict(record: Record | None, case: Case) -> Iterator[Row]:
    name = f"jax {case.variant} on the {case.device}, n = {case.n}, K = {case.K}"
    figures = (f"{name}: loss", f"{name}: norm of the gradient")
    if record is None:
        for figure in figures:
            yield Row(figure, None, None, None, "right", None, "the comparison did not come to it")
        return
    holds = {"right": True, "wrong": False}.get(record.verdict or "")
    if record.outcome in FAILURES:
        holds = False
    note = "" if record.outcome is Outcome.OK else told(record)
    parts = [f"verdict {record.verdict}"] if record.verdict else []
    if record.oracle_grad_error is not None and record.tolerance is not None:
        parts.append(
            f"gradient against the oracle {record.oracle_grad_error:.1e}, "
            f"allowed {record.tolerance:.1e}"
        )
    note = "; ".join([*parts, note] if note else parts)
    for figure, value in zip(figures, (record.loss, record.grad_norm), strict=True):
        yield Row(figure, value, None, None, "right", holds, note)


def _difference(pair: Pair | None, case: Case, against: str) -> Iterator[Row]:
    name = f"jax {case.variant}, {case.device} against {against}, n = {case.n}, K = {case.K}"
    figures = (f"{name}: difference of the losses", f"{name}: difference of the gradients")
    if pair is None:
        same = case.device == against
        why = f"both sides are the {against}" if same else "the comparison did not come to it"
        for figure in figures:
            yield Row(figure, None, None, None, "agree", None, why)
        return
    norms = [v for v in (pair.grad_difference, pair.grad_difference_max) if v is not None]
    allowed = "" if pair.tolerance is None else f", allowed {pair.tolerance:.1e}"
    note = pair.detail or f"relative{allowed}; the gradient's in the larger of two norms"
    differences = pair.loss_difference, max(norms, default=None)
    for figure, value in zip(figures, differences, strict=True):
        yield Row(figure, value, None, None, "agree", pair.verdict == "ok", note)


def speed_rows(lab: Lab, device: str, size: Size, left: Callable[[], float]) -> Iterator[Row]:
    """The time of a lexicographic gradient ÷ that of each hyperplane one on `device`.

    One lexicographic call may take so long that there is time for one alone, or not even for
    that.  In the first case its time is what the ratio is made of; in the second the time
    until it was given up bounds the ratio from below.
    """
    figure = f"jax {SLOW} gradient ÷ {{}} gradient on the {device}, n = {size.n}, K = {size.K}"
    reasons: dict[str, str] = {}
    handles: dict[str, str] = {}
    for variant in (*FAST, SLOW):
        try:
            handles[variant] = lab.prepare(
                "jax", variant, size, device, first_call=variant != SLOW, timeout=left()
            )
        except Missing as reason:
            reasons[variant] = str(reason)
    fast = {v: figure.format(v) for v in FAST if v in handles and SLOW in handles}
    for variant in FAST:
        if variant not in fast:
            why = reasons.get(variant) or reasons[SLOW]
            yield FASTER.missing(figure.format(variant), why)
    try:
        yield from list(_speeds(lab, handles, fast, left)) if fast else ()
    except WorkerError as error:
        yield from (FASTER.missing(name, str(error)) for name in fast.values())


def _speeds(
    lab: Lab, handles: dict[str, str], fast: dict[str, str], left: Callable[[], float]
) -> Iterator[Row]:
    """A row for each of `fast`, variant and figure.  Raises `WorkerError`."""
    samplers = {v: lab.sampler(handles[v], "gradient", timeout=left()) for v in fast}
    alone = measured(samplers, FAST_RULE, [])
    medians = {variant: statistics.median(alone.seconds(variant)) for variant in fast}
    given = left()
    try:
        once = lab.sampler(handles[SLOW], "gradient", timeout=given)(1)
    except WorkerError as error:
        if error.outcome is not Outcome.TIMEOUT:
            raise
        for variant, figure in fast.items():
            yield bound(figure, given, medians[variant])
        return
    # One call more is calibration's; half as much again, since calls differ.
    if 1.5 * (PAIRED + 1) * once < left():
        samplers = {v: lab.sampler(handles[v], "gradient", timeout=left()) for v in (*fast, SLOW)}
        rule = replace(FAST_RULE, min_rounds=PAIRED, budget_s=min(30.0, left() / 2))
        samples = measured(samplers, rule, [(SLOW, variant) for variant in fast])
        for variant, figure in fast.items():
            slow_s, fast_s = (statistics.median(samples.seconds(v)) for v in (SLOW, variant))
            note = f"{_shown(slow_s)} against {_shown(fast_s)}"
            yield ratio_row(samples, SLOW, variant, figure=figure, goal=FASTER, note=note)
        return
    for variant, figure in fast.items():
        note = f"{_shown(once)}, one call, its first, against {_shown(medians[variant])}"
        yield FASTER.row(figure, once / medians[variant], None, note)


def bound(figure: str, given_s: float, fast_s: float) -> Row:
    """What is known of a ratio whose left side had not ended after `given_s`: at least so much."""
    least = given_s / fast_s
    holds = True if FASTER.met(least) else None
    note = f"at least: no end after {_shown(given_s)}, against {_shown(fast_s)}"
    return Row(figure, least, least, None, str(FASTER), holds, note)


def _shown(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def absent(reason: str, remedy: str) -> str:
    """The one line that is printed where JAX sees no GPU."""
    return (
        f"nothing was measured, because no NVIDIA GPU is visible to JAX: {reason} ({remedy}). "
        'JAX for a GPU comes with: python -m pip install -e ".[gpu]"'
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help='{"rows": […]} on stdout')
    options = parser.parse_args(arguments)
    found = systems.load("jax").probe("gpu")
    if not found.available:
        print(absent(found.reason, found.remedy), file=sys.stderr)
        return 3
    return measure(EXAMPLE, "gpu", "cpu", SPEED, as_json=options.json)


def measure(reference: str, device: str, against: str, size: Size, *, as_json: bool = False) -> int:
    """Measure and print; the exit status."""
    with (
        tempfile.TemporaryDirectory() as name,
        closing(Lab(catalogue.load(reference), reference, Path(name), START_S)) as lab,
    ):
        begin = time.monotonic()
        try:
            started = lab.worker("jax", device)
        except WorkerError as error:
            print(absent(error.message, error.remedy), file=sys.stderr)
            return 3
        machine: dict[str, Any] = table.about(lab.cores)
        machine["device"] = started.said["settings"].get("jax_device")
        machine["driver"] = environment.nvidia_driver()
        machine["versions"] |= started.said["versions"]
        found = []
        limit_s = LIMIT_S - (time.monotonic() - begin)
        for row in figures(lab, reference, device, against, size, limit_s):
            found.append(row)
            print("  ".join(table.cells(row)), file=sys.stderr)
    if as_json:
        print(table.as_json(found, machine))
    else:
        print(f"{machine['device']}, {machine['time']}")
        table.print_table(found)
    return int(any(row.holds is False for row in found))


if __name__ == "__main__":
    sys.exit(main())
