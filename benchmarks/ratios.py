"""The ratios that pyweanj holds itself to, measured on one CPU thread of this machine.

usage: python benchmarks/ratios.py [--json | --markdown FILE] [--only WORD …]

Every row has a goal; a row whose parts are not on this machine has no value, and says why.
Exit status: 0 where no goal is missed, 1 where one is, 2 bad usage.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import rows as table
from rows import Goal, Row, ratio_row
from subjects import ByHand, Lab, Missing, measured

import pyweanj
from pyweanj import catalogue
from pyweanj.example import Size
from pyweanj.measure import Rule, Sampler, ratio, stability
from pyweanj.measure.machine import choose_cores
from pyweanj.records import Joint, Record
from pyweanj.run.process import WorkerProcess

EXAMPLE = "02-gauss-seidel"
LEXICOGRAPHIC = Size(256, 100)
RED_BLACK = Size(1024, 100)
BY_HAND = Size(128, 100)
RULE = Rule(goal=0.02, min_rounds=9, max_rounds=40, budget_s=90.0)
FINE_RULE = Rule(goal=0.004, min_rounds=15, max_rounds=80, budget_s=40.0)


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
        "hyperplane-vjp": ("jax", "lexicographic-hyperplane-vjp"),
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
    jax = [name for name in ("jax", "hyperplane", "hyperplane-vjp") if name not in missing]
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
    """Julia's red-black gradient ÷ forward."""
    goal, figure = Goal(3.0), f"enzyme red-black gradient ÷ forward, n = {RED_BLACK.n}"
    try:
        handle = lab.prepare("enzyme", "red-black", RED_BLACK)
    except Missing as reason:
        yield goal.missing(figure, str(reason))
        return
    samplers = {what: lab.sampler(handle, what) for what in ("forward", "gradient")}
    samples = measured(samplers, RULE, [("gradient", "forward")])
    note = f"gradient {statistics.median(samples.seconds('gradient')) * 1e3:.0f} ms"
    yield ratio_row(samples, "gradient", "forward", figure=figure, goal=goal, note=note)


def default_run(lab: Lab) -> Iterator[Row]:
    """A whole run without checks: its intervals, and its wall time against what was timed."""
    yield from run_rows(EXAMPLE, lab.folder / "run")


def run_rows(example: str | Path, folder: Path, **options: Any) -> Iterator[Row]:
    """The figures of one ``compare --no-check``, which is kept in `folder`.

    `options` are those of `pyweanj.compare`; none for a default run.
    """
    with counted_requests() as useful:
        start = time.perf_counter()
        report = pyweanj.compare(example, check=False, output=folder, **options)
        wall = time.perf_counter() - start
    if not report.joint.complete:
        raise KeyboardInterrupt
    widths = half_widths(report.joint)
    goal, figure = Goal(0.05), "interval half-width of a ratio at n ≥ 64 in a default run"
    if widths:
        worst = max(widths, key=lambda name: widths[name])
        within = sum(goal.met(width) for width in widths.values())
        note = f"the widest of {len(widths)}, {worst}; {within} are within the goal, "
        note += f"their median is {statistics.median(widths.values()):.1%}"
        yield goal.row(figure, widths[worst], None, note)
    else:
        yield goal.missing(figure, "nothing was timed at n ≥ 64")
    goal, figure = Goal(1.3), "wall time of compare --no-check ÷ (timed calls + compiles)"
    spent = sum(useful.values())
    if spent:
        note = f"{wall:.1f} s; timed calls {useful['timed calls']:.1f} s, of which "
        note += f"{sampled(report.joint):.1f} s in the samples of the records; "
        note += f"compiles {useful['compiles']:.1f} s"
        yield goal.row(figure, wall / spent, None, note)
    else:
        yield goal.missing(figure, "nothing was timed")


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


def sampled(joint: Joint) -> float:
    """Seconds of all calls whose times are kept: samples × the calls in each."""
    return sum(
        sum(samples or ()) * (calls or 0)
        for record in joint.records
        for samples, calls in (
            (record.forward_samples, record.forward_calls),
            (record.grad_samples, record.grad_calls),
        )
    )


@contextmanager
def counted_requests() -> Iterator[dict[str, float]]:
    """Add up what the workers say that timed calls and compiles took.

    Timed calls are those of the samples that are kept, of the calibration before them and of
    the bridge.
    """
    useful = {"timed calls": 0.0, "compiles": 0.0}
    ask = WorkerProcess.ask

    def counting(self: WorkerProcess, verb: str, timeout: float, **arguments: Any) -> Any:
        reply = ask(self, verb, timeout, **arguments)
        if verb in ("sample", "bridge"):
            useful["timed calls"] += reply["seconds"] or 0.0
        elif verb == "prepare":
            useful["compiles"] += compiling(reply["phases"])
        return reply

    WorkerProcess.ask = counting
    try:
        yield useful
    finally:
        WorkerProcess.ask = ask


def compiling(phases: Mapping[str, float]) -> float:
    """Seconds from the loaded model to the end of the first call.

    A system that is staged tells its compilation and the first call apart; one that compiles
    just in time compiles in its first call, which then holds ``compile_s``.
    """
    first = phases.get("first_call_s", 0.0)
    if "trace_s" in phases:
        return first + phases["trace_s"] + phases["lower_s"] + phases["compile_s"]
    return first


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


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help='{"rows": […]} on stdout')
    output.add_argument(
        "--markdown", type=Path, metavar="FILE", help="put the table between the markers of FILE"
    )
    parser.add_argument("--only", nargs="+", choices=FIGURES, metavar="WORD")
    options = parser.parse_args(arguments)
    if options.markdown:
        if options.only:
            parser.error("--markdown keeps the whole table: leave out --only")
        try:
            # Before minutes are spent on a table that has no place.
            table.split_at_markers(options.markdown.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            parser.error(
                f"--markdown {options.markdown}: {getattr(error, 'strerror', '') or error}"
            )

    cores = choose_cores(1)
    machine = table.about(cores)
    machine["warnings"] = stability.warnings(stability.read(cores))
    for warning in machine["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        for word in options.only or FIGURES:
            # Fresh workers for each figure: none waits with memory of another's.
            with closing(Lab(catalogue.load(EXAMPLE), EXAMPLE, Path(name) / word)) as lab:
                (Path(name) / word / "logs").mkdir(parents=True)
                for row in FIGURES[word](lab):
                    rows.append(row)
                    print("  ".join(table.cells(row)), file=sys.stderr)
    if options.json:
        print(table.as_json(rows, machine))
    elif options.markdown:
        table.replace_table(options.markdown, table.as_markdown(rows, machine))
    else:
        table.print_table(rows)
    return int(any(row.holds is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
