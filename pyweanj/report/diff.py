"""What changed between two runs, and whether anything got worse.

Verdicts, losses and errors are held against each other where both runs read the same
inputs; times only where they were taken on the same machine, and only changes that the
samples bear out are reported.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pyweanj.measure import MARGIN
from pyweanj.measure.memory import NOISE, RSS_GROWTH, RSS_PEAK
from pyweanj.records import FAILURES, Case, Joint, Outcome, Pair, Record
from pyweanj.report import units
from pyweanj.report.check import within
from pyweanj.report.memory import memory_of
from pyweanj.report.model import shortened
from pyweanj.report.uncertain import Quotient, quotient

__all__ = ["Change", "Difference", "Kind", "diff"]

Kind = Literal["case", "outcome", "verdict", "pair", "loss", "error", "time", "memory", "version"]

#: What tells machines apart; the memory of a virtual one may vary from start to start.
MACHINE = ("cpu", "architecture", "cores", "physical_cores")
ERRORS = {
    "oracle_loss_error": "loss error against the oracle",
    "oracle_grad_error": "gradient error against the oracle",
    "fd_error": "finite-difference error",
}
#: An error made of rounding moves by less than this factor from one version to the next.
ERROR_FACTOR = 10.0
#: One measurement alone tells a change of compile time only when it is this large.
COMPILE_FACTOR, COMPILE_S = 2.0, 0.1
VERDICTS = ("right", "unproven", "wrong")


@dataclass(frozen=True)
class Change:
    """One thing that differs between the two runs."""

    kind: Kind
    what: str
    """The case, pair or package."""
    aspect: str
    """What of it: ``gradient time``, ``rss_peak``, …; empty where `kind` says it."""
    before: str
    after: str
    size: str = ""
    """How much, with its interval where it has one."""
    regression: bool = False


@dataclass(frozen=True)
class Difference:
    """All that changed from run `a` to run `b`."""

    example: str
    threshold: float
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    """What was not compared, or must be kept in mind."""
    compared: int = 0
    """Cases that both runs hold."""
    times_compared: int = 0

    @property
    def regression(self) -> bool:
        """Whether anything got worse (beyond the threshold, for times and memory)."""
        return any(change.regression for change in self.changes)


def diff(a: Joint, b: Joint, threshold: float = 0.1, across_machines: bool = False) -> Difference:
    """What changed from `a` to `b`.

    A time or a memory figure is a regression where it certainly grew by more than
    `threshold`: for times the whole 95 % interval of the ratio lies above 1 + threshold.

    Parameters
    ----------
    threshold
        0.1 allows times and memory to grow by 10 %.
    across_machines
        Compare times also where the machines differ or are not known.

    Raises
    ------
    ValueError
        The runs are of different examples, or the threshold is negative or no number.
    """
    if a.example != b.example:
        raise ValueError(f"runs of different examples: {a.example} and {b.example}")
    if not (threshold >= 0 and math.isfinite(threshold)):
        raise ValueError(f"the threshold must be a number from 0 up, not {threshold}")
    work = _Work(a, b, threshold)
    refusal = None if across_machines else machines_differ(a, b)
    work.cases()
    work.pairs()
    work.versions()
    if refusal is None:
        work.times()
    else:
        work.notes.append(f"times and resident memory are not compared: {refusal}")
    work.memory(resident=refusal is None)
    order = {True: 0, False: 1}
    changes = sorted(work.changes, key=lambda c: order[c.regression])
    return Difference(
        a.example,
        threshold,
        tuple(changes),
        tuple(work.notes),
        len(work.both),
        work.times_compared,
    )


def machines_differ(a: Joint, b: Joint) -> str | None:
    """Why times of the two must not be compared; None where the machine is the same."""
    one, two = (j.environment.get("machine") or {} for j in (a, b))
    unknown = [key for key in MACHINE[:1] if one.get(key) is None or two.get(key) is None]
    if unknown:
        return "it is not known that both runs were made on the same machine"
    other = [
        f"{key.replace('_', ' ')}: {one.get(key)} against {two.get(key)}"
        for key in MACHINE
        if one.get(key) != two.get(key)
    ]
    return f"the machines differ ({'; '.join(other)})" if other else None


class _Work:
    """The comparison under way."""

    def __init__(self, a: Joint, b: Joint, threshold: float) -> None:
        self.a, self.b, self.threshold = a, b, threshold
        self.left = {r.case: r for r in a.records}
        self.right = {r.case: r for r in b.records}
        self.both = [case for case in self.left if case in self.right]
        self.changes: list[Change] = []
        self.notes: list[str] = []
        self.times_compared = 0

    def matched(self) -> Iterator[tuple[Case, Record, Record]]:
        """Cases that both runs hold."""
        for case in self.both:
            yield case, self.left[case], self.right[case]

    def cases(self) -> None:
        """Cases that only one run holds, and how the others ended and were judged."""
        for only, there, words in (
            (self.left, self.right, ("in the first run", "not in the second")),
            (self.right, self.left, ("not in the first run", "in the second")),
        ):
            self.changes += [
                Change("case", str(case), "", *words) for case in only if case not in there
            ]
        other_inputs = 0
        for case, one, two in self.matched():
            self._outcome(case, one, two)
            if _inputs_differ(one, two):
                other_inputs += 1
            else:
                self._loss(case, one, two)
                self._errors(case, one, two)
        if other_inputs:
            self.notes.append(
                f"losses and errors of {units.count(other_inputs, 'case')} are not compared: "
                "the inputs differ"
            )
        for joint, name in ((self.a, "first"), (self.b, "second")):
            if not joint.complete:
                self.notes.append(f"the {name} run was interrupted")

    def _outcome(self, case: Case, one: Record, two: Record) -> None:
        if one.outcome is not two.outcome:
            worse = two.outcome in FAILURES and one.outcome not in FAILURES
            before, after = (r.outcome.value.replace("_", " ") for r in (one, two))
            why = shortened(two.diagnosis or two.message, 160)
            self.changes.append(Change("outcome", str(case), "", before, after, why, worse))
        if one.verdict != two.verdict and one.verdict is not None and two.verdict is not None:
            worse = VERDICTS.index(two.verdict) > VERDICTS.index(one.verdict)
            self.changes.append(
                Change("verdict", str(case), "", one.verdict, two.verdict, two.diagnosis, worse)
            )

    def _loss(self, case: Case, one: Record, two: Record) -> None:
        if one.loss is None or two.loss is None or _same(one.loss, two.loss):
            return
        scale = max(abs(one.loss), abs(two.loss))
        relative = abs(one.loss - two.loss) / scale
        allowed = max((t for t in (one.tolerance, two.tolerance) if t is not None), default=0.0)
        if not relative <= allowed:
            size = f"relative {units.relative(relative)}, allowed {units.relative(allowed)}"
            before, after = units.loss(one.loss), units.loss(two.loss)
            self.changes.append(Change("loss", str(case), "", before, after, size, True))

    def _errors(self, case: Case, one: Record, two: Record) -> None:
        for name, words in ERRORS.items():
            before, after = getattr(one, name), getattr(two, name)
            if before is None or after is None or _same(before, after):
                continue
            allowed = two.tolerance if name != "fd_error" else None
            got_out = within(before, one.tolerance) is True and within(after, allowed) is False
            lost = math.isfinite(before) and not math.isfinite(after)
            factor = after / before if before else math.inf
            if not (got_out or lost) and 1 / ERROR_FACTOR < factor < ERROR_FACTOR:
                continue
            text = f"× {units.multiple(factor)}" if math.isfinite(factor) else ""
            worse = lost or (got_out and allowed is not None)
            shown = (units.relative(before), units.relative(after), text)
            self.changes.append(Change("error", str(case), words, *shown, worse))

    def pairs(self) -> None:
        """Pairs whose verdict changed."""
        known = {_pair_key(p): p for p in self.a.pairs}
        for two in self.b.pairs:
            one = known.get(_pair_key(two))
            if one is not None and one.verdict != two.verdict:
                what = f"{two.left} ↔ {two.right} {two.computes} {two.dtype} n={two.n} K={two.K}"
                reason = " at ".join(part for part in (two.reason, two.where) if part)
                worse = two.verdict == "mismatch"
                self.changes.append(
                    Change("pair", what, "", one.verdict, two.verdict, reason, worse)
                )

    def versions(self) -> None:
        """Packages whose version changed, those of the systems included."""
        one, two = _versions(self.a), _versions(self.b)
        for name in sorted(one.keys() | two.keys()):
            before, after = one.get(name, "not there"), two.get(name, "not there")
            if before != after:
                self.changes.append(Change("version", name, "", before, after))

    def times(self) -> None:
        """Forward, gradient and compile times that certainly changed."""
        found: list[float] = []
        vague: list[str] = []
        other_threads = 0
        for case, one, two in self.matched():
            if one.threads != two.threads:
                other_threads += 1
                continue
            for field, words in (("forward", "forward time"), ("grad", "gradient time")):
                change = quotient(_times(one, field), _times(two, field))
                if change is None:
                    continue
                self.times_compared += 1
                found.append(change.value)
                values = (getattr(r, f"{field}_s") for r in (one, two))
                before, after = (units.seconds(value) for value in values)
                worse = change.low > 1 + self.threshold
                if change.low > 1 + MARGIN or change.high < 1 / (1 + MARGIN):
                    size = _percent(change)
                    self.changes.append(
                        Change("time", str(case), words, before, after, size, worse)
                    )
                if not worse and change.high > 1 + self.threshold:
                    vague.append(str(case))
            self._compile(case, one, two)
        if other_threads:
            cases = units.count(other_threads, "case")
            self.notes.append(f"times of {cases} are not compared: the thread counts differ")
        if vague:
            self.notes.append(
                f"{units.count(len(vague), 'time')} too uncertain to tell whether "
                f"{'it' if len(vague) == 1 else 'they'} grew by more than "
                f"{100 * self.threshold:g} %: more samples would tell"
            )
        middle = statistics.median(found) if len(found) >= 5 else 1.0
        if not 1 / (1 + MARGIN) <= middle <= 1 + MARGIN:
            self.notes.append(
                f"all times together moved by a factor {middle:.2f} (median): the machine "
                "itself may have been faster or slower"
            )

    def _compile(self, case: Case, one: Record, two: Record) -> None:
        if one.compile_s is None or two.compile_s is None:
            return
        low, high = sorted((one.compile_s, two.compile_s))
        if high - low >= COMPILE_S and high >= COMPILE_FACTOR * low:
            before, after = units.seconds(one.compile_s), units.seconds(two.compile_s)
            size = "measured once each"
            self.changes.append(Change("time", str(case), "compile time", before, after, size))

    def memory(self, *, resident: bool) -> None:
        """Memory of one gradient that changed by more than its kind moves on its own."""
        for case, one, two in self.matched():
            before, after = memory_of(one), memory_of(two)
            for kind in before.keys() & after.keys():
                if kind in (RSS_PEAK, RSS_GROWTH) and not resident:
                    continue
                x, y = before[kind], after[kind]
                if abs(y - x) <= max(NOISE.get(kind, 0), 0.01 * x):
                    continue
                worse = y > (1 + self.threshold) * x
                size = f"{100 * (y - x) / x:+.1f} %" if x else ""
                shown = (units.byte_size(x), units.byte_size(y), size)
                self.changes.append(Change("memory", str(case), kind, *shown, worse))


def _times(record: Record, field: str) -> Any:
    """Median and interval of one kind of time of a case that ended well."""
    if record.outcome is not Outcome.OK:
        return None
    return getattr(record, f"{field}_s"), getattr(record, f"{field}_ci")


def _percent(change: Quotient) -> str:
    middle, low, high = (100 * (v - 1) for v in (change.value, change.low, change.high))
    return f"{middle:+.1f} % ({low:+.1f} to {high:+.1f})"


def _same(x: float, y: float) -> bool:
    return x == y or (math.isnan(x) and math.isnan(y))


def _inputs_differ(one: Record, two: Record) -> bool:
    return (
        one.input_sha256 is not None
        and two.input_sha256 is not None
        and one.input_sha256 != two.input_sha256
    )


def _pair_key(pair: Pair) -> tuple[Any, ...]:
    return (pair.computes, pair.dtype, pair.n, pair.K, frozenset((pair.left, pair.right)))


def _versions(joint: Joint) -> dict[str, str]:
    """Every version that the run tells, by name."""
    found = {
        str(name): str(version)
        for name, version in (joint.environment.get("packages") or {}).items()
        if version is not None
    }
    if joint.environment.get("python"):
        found["python"] = str(joint.environment["python"])
    for record in joint.records:
        for name, version in record.versions.items():
            found.setdefault(name, version)
    return found
