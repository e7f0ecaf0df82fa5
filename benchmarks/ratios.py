"""The ratios that pyweanj holds itself to, measured on one CPU thread of this machine.

usage: python benchmarks/ratios.py [--json | --markdown] [--only WORD …]

Every row has a goal; a row whose parts are not on this machine has no value, and says why.
Exit status: 0 where no goal is missed, 1 where one is.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from subjects import ByHand, Lab, Missing

from pyweanj import catalogue, environment, run, store
from pyweanj.example import Size
from pyweanj.measure import Rule, Sampler, Samples, calibrate, interleave, ratio, stability
from pyweanj.measure.machine import choose_cores
from pyweanj.records import Joint, Record
from pyweanj.run.process import WorkerProcess

EXAMPLE = "02-gauss-seidel"
LEXICOGRAPHIC = Size(256, 100)
RED_BLACK = Size(1024, 100)
BY_HAND = Size(128, 100)
RULE = Rule(goal=0.02, min_rounds=9, max_rounds=40, budget_s=90.0)
FINE_RULE = Rule(goal=0.004, min_rounds=15, max_rounds=80, budget_s=40.0)


@dataclass(frozen=True)
class Row:
    """One figure beside its goal."""

    figure: str
    value: float | None
    low: float | None
    high: float | None
    goal: str
    holds: bool | None
    note: str = ""


@dataclass(frozen=True)
class Goal:
    """A range that a figure must lie in."""

    most: float
    least: float | None = None
    unit: str = ""

    def __str__(self) -> str:
        if self.least is not None:
            return f"{self.least:g}–{self.most:g}{self.unit}"
        return f"≤ {self.most:g}{self.unit}"

    def row(
        self, figure: str, value: float, bounds: tuple[float, float] | None, note: str = ""
    ) -> Row:
        """`value` beside this goal."""
        low, high = bounds or (None, None)
        holds = value <= self.most and (self.least is None or value >= self.least)
        return Row(figure, value, low, high, str(self), holds, note)

    def missing(self, figure: str, reason: str) -> Row:
        """No value, and why."""
        return Row(figure, None, None, None, str(self), None, reason)


def measured(samplers: Mapping[str, Sampler], rule: Rule, pairs: list[tuple[str, str]]) -> Samples:
    """Calibrated, interleaved samples; raises what the first sampler that failed raised."""
    calls = {key: calibrate(sampler) for key, sampler in samplers.items()}
    samples = interleave(samplers, calls, rule, rng=np.random.default_rng(1), ratios=pairs)
    if samples.stopped == "interrupted":
        raise KeyboardInterrupt
    for error in samples.failures.values():
        raise error
    return samples


def ratio_row(
    samples: Samples, left: str, right: str, *, figure: str, goal: Goal, note: str = ""
) -> Row:
    """Left ÷ right of interleaved samples."""
    found = samples.ratio(left, right)
    assert found is not None
    return goal.row(figure, found.value, found.bounds, note)


def by_hand(lab: Lab) -> Iterator[Row]:
    """What pyweanj reports ÷ the same function timed by hand, in the other's own language."""
    goal = Goal(1.02, 0.98)
    for system, variant, hand in (
        ("jax", "red-black", lambda: ByHand.jax(lab, "red-black", BY_HAND)),
        ("enzyme", "lexicographic", lambda: ByHand.julia(lab, BY_HAND)),
    ):
        figure = f"{system} {variant} {{}}, n = {BY_HAND.n}: pyweanj ÷ by hand"
        try:
            handle = lab.prepare(system, variant, BY_HAND)
            with closing(hand()) as process:
                for what in ("forward", "gradient"):
                    both = {"pyweanj": lab.sampler(handle, what), "hand": process.sampler(what)}
                    samples = measured(both, FINE_RULE, [("pyweanj", "hand")])
                    name = figure.format(what)
                    yield ratio_row(samples, "pyweanj", "hand", figure=name, goal=goal)
        except Missing as reason:
            yield goal.missing(figure.format("forward and gradient"), str(reason))


def lexicographic(lab: Lab) -> Iterator[Row]:
    """Everything in lexicographic order at n = 256, interleaved in one measurement."""
    subjects = {
        "enzyme": ("enzyme", "lexicographic"),
        "enzyme-cpp": ("enzyme-cpp", "lexicographic"),
        "adjoint": ("adjoint", "lexicographic"),
        "jax": ("jax", "lexicographic"),
        "hyperplane": ("jax", "lexicographic-hyperplane"),
        "hyperplane-adjoint": ("jax", "lexicographic-hyperplane-adjoint"),
    }
    missing: dict[str, str] = {}
    samplers: dict[str, Sampler] = {}
    for name, (system, variant) in subjects.items():
        try:
            handle = lab.prepare(system, variant, LEXICOGRAPHIC)
        except Missing as reason:
            missing[name] = str(reason)
            continue
        samplers[f"{name} gradient"] = lab.sampler(handle, "gradient")
        if name.startswith("enzyme"):
            samplers[f"{name} forward"] = lab.sampler(handle, "forward")
    jax = [name for name in ("jax", "hyperplane", "hyperplane-adjoint") if name not in missing]
    enzyme = next((name for name in ("enzyme", "enzyme-cpp") if name not in missing), None)
    plan = [
        (
            f"{name} lexicographic gradient ÷ forward",
            Goal(2.0),
            f"{name} gradient",
            f"{name} forward",
        )
        for name in ("enzyme", "enzyme-cpp")
    ]
    # The adjoint is C++ with the compiler and flags of enzyme-cpp, so it is held against that.
    figure = "enzyme-cpp lexicographic gradient ÷ hand-written adjoint"
    plan.append((figure, Goal(1.3), "enzyme-cpp gradient", "adjoint gradient"))
    figure = "jax lexicographic-hyperplane gradient ÷ jax lexicographic gradient"
    plan.append((figure, Goal(0.1), "hyperplane gradient", "jax gradient"))
    pairs = [(left, right) for *_, left, right in plan if {left, right} <= samplers.keys()]
    pairs += [(f"{name} gradient", f"{enzyme} gradient") for name in jax if enzyme]
    samples = measured(samplers, RULE, pairs) if samplers else None
    n = f", n = {LEXICOGRAPHIC.n}"
    for figure, goal, left, right in plan:
        reason = missing.get(left.split()[0]) or missing.get(right.split()[0])
        if reason or samples is None:
            yield goal.missing(figure + n, reason or "nothing could be prepared")
        else:
            yield ratio_row(samples, left, right, figure=figure + n, goal=goal)
    goal, figure = Goal(2.0), f"best jax lexicographic gradient ÷ Enzyme's{n}"
    if samples is None or enzyme is None or not jax:
        yield goal.missing(figure, "; ".join(missing.values()))
        return
    medians = {name: statistics.median(samples.seconds(f"{name} gradient")) for name in jax}
    best = min(medians, key=lambda name: medians[name])
    note = f"{best}, {medians[best] * 1e3:.3g} ms, against {enzyme}"
    pair = (f"{best} gradient", f"{enzyme} gradient")
    yield ratio_row(samples, *pair, figure=figure, goal=goal, note=note)


def red_black(lab: Lab) -> Iterator[Row]:
    """Julia's red-black gradient ÷ forward, of the fastest variant that there is."""
    goal, rows, reasons = Goal(3.0), [], []
    for variant in ("red-black", "red-black-loops"):
        try:
            handle = lab.prepare("enzyme", variant, RED_BLACK)
        except Missing as reason:
            reasons.append(str(reason))
            continue
        samplers = {what: lab.sampler(handle, what) for what in ("forward", "gradient")}
        samples = measured(samplers, RULE, [("gradient", "forward")])
        seconds = statistics.median(samples.seconds("gradient"))
        figure = f"enzyme {variant} gradient ÷ forward, n = {RED_BLACK.n}"
        note = f"gradient {seconds * 1e3:.0f} ms"
        row = ratio_row(samples, "gradient", "forward", figure=figure, goal=goal, note=note)
        rows.append((seconds, row))
    if rows:
        yield min(rows, key=lambda row: row[0])[1]
    else:
        yield goal.missing(f"enzyme red-black gradient ÷ forward, n = {RED_BLACK.n}", reasons[0])


def default_run(lab: Lab) -> Iterator[Row]:
    """A whole run without checks: its intervals, and its wall time against what was timed."""
    options = run.Options(tasks=("time", "memory"))
    with counted_requests() as useful:
        start = time.perf_counter()
        prepared = run.prepare(lab.example, lab.reference, options)
        joint = run.execute(prepared, store.new_run(EXAMPLE, lab.folder / "run"), Silent())
        wall = time.perf_counter() - start
    if not joint.complete:
        raise KeyboardInterrupt
    widths = half_widths(joint)
    goal, figure = Goal(0.05), "widest interval of a ratio at n ≥ 64 in a default run (half-width)"
    if widths:
        worst = max(widths, key=lambda name: widths[name])
        note = f"{worst}; median {statistics.median(widths.values()):.1%} of {len(widths)} ratios"
        yield goal.row(figure, widths[worst], None, note)
    else:
        yield goal.missing(figure, "no two implementations were timed at n ≥ 64")
    goal, figure = Goal(1.3), "wall time of compare --no-check ÷ (timed calls + compiles)"
    spent = sum(useful.values())
    parts = ", ".join(f"{part} {seconds:.0f} s" for part, seconds in useful.items())
    yield goal.row(figure, wall / spent, None, f"{wall:.0f} s; {parts}")


def half_widths(joint: Joint) -> dict[str, float]:
    """Relative half-width of every gradient ÷ forward, and gradient ÷ fastest gradient."""
    found: dict[str, float] = {}
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in joint.records:
        if record.n >= 64 and record.grad_samples and record.forward_samples:
            key = (record.computes, record.dtype, record.n, record.K)
            groups.setdefault(key, []).append(record)
    for records in groups.values():
        fastest = min(records, key=lambda r: r.grad_s or 0.0)
        for record in records:
            pairs = [("÷ forward", record.forward_samples)]
            if record is not fastest:
                pairs.append((f"÷ {fastest.system} {fastest.variant}", fastest.grad_samples))
            for name, other in pairs:
                # Samples of one group are those of the first rounds, in order: they pair by place.
                assert record.grad_samples is not None
                assert other is not None
                count = min(len(record.grad_samples), len(other))
                width = ratio(record.grad_samples[:count], other[:count]).half_width
                found[f"{record.case} {name}"] = width
    return found


class Silent:
    """An observer that shows nothing."""

    def doing(self, planned: run.Planned, step: str) -> None:
        """Nothing."""

    def done(self, record: Record) -> None:
        """Nothing."""


@contextmanager
def counted_requests() -> Iterator[dict[str, float]]:
    """Add up what the workers say that timed calls and compiles took."""
    useful = {"timed calls": 0.0, "compiles": 0.0}
    ask = WorkerProcess.ask

    def counting(self: WorkerProcess, verb: str, timeout: float, **arguments: Any) -> Any:
        reply = ask(self, verb, timeout, **arguments)
        if verb in ("sample", "bridge"):
            useful["timed calls"] += reply["seconds"] or 0.0
        elif verb == "prepare":
            useful["compiles"] += sum(reply["phases"].values())
        return reply

    WorkerProcess.ask = counting
    try:
        yield useful
    finally:
        WorkerProcess.ask = ask


def start_up(_lab: Lab) -> Iterator[Row]:
    """How long a user waits before anything happens."""
    goal = Goal(0.3, unit=" s")
    for figure, arguments in (
        ("pyweanj --help", ["-m", "pyweanj", "--help"]),
        ("import pyweanj", ["-c", "import pyweanj"]),
    ):
        seconds = []
        for _ in range(11):
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            seconds.append(time.perf_counter() - start)
        yield goal.row(figure, statistics.median(seconds), (min(seconds), max(seconds)))


FIGURES: dict[str, Callable[[Lab], Iterator[Row]]] = {
    "by-hand": by_hand,
    "lexicographic": lexicographic,
    "red-black": red_black,
    "start-up": start_up,
    "default-run": default_run,
}


def shown(row: Row) -> list[str]:
    """The cells of one row."""
    value = "–" if row.value is None else f"{row.value:.3g}"
    interval = "" if row.low is None or row.high is None else f"{row.low:.3g}–{row.high:.3g}"
    holds = {True: "yes", False: "no", None: "not measured"}[row.holds]
    return [row.figure, value, interval, row.goal, holds, row.note]


HEAD = ["figure", "value", "95 % interval", "goal", "holds", "note"]


def as_markdown(rows: list[Row], about: dict[str, Any]) -> str:
    """The table with the machine that it came from."""
    lines = [f"Measured {about['time']} on {about['cpu']}, {about['kernel']}, one thread.", ""]
    lines += [f"- {warning}" for warning in about["warnings"]]
    lines += ["" if about["warnings"] else "The machine was quiet.", ""]
    for cells in (HEAD, ["---"] * len(HEAD), *map(shown, rows)):
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help='{"rows": […]} on stdout')
    output.add_argument("--markdown", action="store_true", help="for docs/performance.md")
    parser.add_argument("--only", nargs="+", choices=FIGURES, default=list(FIGURES), metavar="WORD")
    options = parser.parse_args()

    found = environment.describe()
    about: dict[str, Any] = {
        "time": found["time"],
        "cpu": found["machine"]["cpu"],
        "kernel": found["machine"]["kernel"],
        "warnings": stability.warnings(stability.read(choose_cores(1))),
    }
    for warning in about["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        for word in options.only:
            # Fresh workers for each figure: none waits with memory of another's.
            with closing(Lab(catalogue.load(EXAMPLE), EXAMPLE, Path(name) / word)) as lab:
                (Path(name) / word / "logs").mkdir(parents=True)
                for row in FIGURES[word](lab):
                    rows.append(row)
                    print("  ".join(shown(row)), file=sys.stderr)
    if options.json:
        print(
            json.dumps(
                {"rows": [asdict(row) for row in rows], "machine": about},
                indent=1,
                ensure_ascii=False,
            )
        )
    else:
        print(as_markdown(rows, about) if options.markdown else as_text(rows))
    return int(any(row.holds is False for row in rows))


def as_text(rows: list[Row]) -> str:
    """The table with aligned columns."""
    cells = [HEAD, *map(shown, rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )


if __name__ == "__main__":
    sys.exit(main())
