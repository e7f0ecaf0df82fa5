"""What the cases of one group cost: interleaved samples of live workers, then memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from pyweanj.example import Size
from pyweanj.measure import Rule, Sample, SweepBudget, calibrate, interleave, seeds_rule
from pyweanj.records import Case, Record
from pyweanj.run.process import WorkerError
from pyweanj.run.session import Session
from pyweanj.systems import What

__all__ = ["Budgets", "measure_bridge", "measure_memory", "sample"]

#: Seconds of sampling that one group of cases may take, however many rounds that is.
GROUP_BUDGET_S = 3.0
QUICK_BUDGET_S = 1.0

#: The oracle is evaluated once at a size, not in rounds, and decides what is right there.
ONCE = 10

#: An evaluation (a loss, a gradient, writing it) longer than this needs no calibration.
LONG_S = 0.5

BRIDGE_ROUNDS = 5
#: What a bridge adds is microseconds: beside a longer call than this it cannot be seen.
BRIDGE_WORTH_S = 0.05

#: The kind that stands as `peak_mem_bytes`: each system's own, as in the seeds.
OWN_KIND = ("julia_allocated", "xla_temp", "cuda_allocated", "rss_growth")


class Key(NamedTuple):
    """One thing that is sampled."""

    session: Session
    what: What


class Budgets:
    """What every implementation's sweep has cost so far, to stop it before it costs too much."""

    def __init__(self, budget_s: float) -> None:
        self._budget_s = budget_s
        self._by_implementation: dict[tuple[str, ...], SweepBudget] = {}

    def _of(self, case: Case) -> SweepBudget:
        budget_s = self._budget_s * (ONCE if case.system == "oracle" else 1)
        return self._by_implementation.setdefault(case[:4], SweepBudget(budget_s))

    def add(self, case: Case, gradient_s: float) -> None:
        """Tell what one gradient of `case` took."""
        self._of(case).add(Size(case.n, case.K), gradient_s)

    def add_record(self, record: Record) -> None:
        """Tell what a case of an earlier run took."""
        if record.grad_s is not None:
            self.add(record.case, record.grad_s)

    def refusal(self, case: Case) -> str:
        """Why `case` must not run, or nothing."""
        return self._of(case).forecast(Size(case.n, case.K)).reason


def sample(
    sessions: list[Session],
    preset: str,
    rng: np.random.Generator,
    on_sample: Callable[[Sample[Key]], object] | None = None,
) -> bool:
    """Sample forward and gradient of every live session, interleaved; fills their records.

    Returns whether it was interrupted: what was found by then is kept.
    """
    seeds = preset == "seeds"
    calls: dict[Key, int] = {}
    for session in sessions:
        for what in ("forward", "gradient"):
            with session.guard():
                key = Key(session, what)
                # One evaluation was timed before: where it was long, so is a sample.
                long = (session.evaluate_s or 0.0) > LONG_S
                calls[key] = 1 if seeds or long else calibrate(_sampler(key))
                if seeds:
                    _sampler(key)(1)  # the warm-up
    samplers = {key: _sampler(key) for key in calls if key.session.alive}
    if not samplers:
        return False
    if seeds:
        rule = seeds_rule(sessions[0].case.n)
    else:
        budget = QUICK_BUDGET_S if preset == "quick" else GROUP_BUDGET_S
        rule = Rule(budget_s=budget)
    samples = interleave(
        samplers, calls, rule, rng=rng, ratios=_ratios(samplers), on_sample=on_sample
    )
    for key, error in samples.failures.items():
        if isinstance(error, WorkerError):
            key.session.fail(error)
        else:
            raise error
    for key in samplers:
        seconds = samples.seconds(key)
        if not seconds:
            continue
        interval = samples.interval(key)
        assert interval is not None  # there are samples
        record = key.session.record
        prefix = "forward" if key.what == "forward" else "grad"
        setattr(record, f"{prefix}_samples", seconds)
        setattr(record, f"{prefix}_s", interval.value)
        setattr(record, f"{prefix}_ci", interval.bounds)
        setattr(record, f"{prefix}_calls", samples.calls[key])
    return samples.stopped == "interrupted"


def measure_memory(session: Session, *, run_it: bool) -> None:
    """Memory of one gradient, by kind; `run_it`: also watch the process while it runs."""
    with session.guard():
        kinds: Mapping[str, int] = session.ask("memory", what="gradient", peak=run_it)["memory"]
        record = session.record
        record.memory = dict(kinds)
        for kind in OWN_KIND:
            if kind in kinds:
                record.peak_mem_kind, record.peak_mem_bytes = kind, kinds[kind]
                break


def measure_bridge(session: Session) -> None:
    """What the language bridge adds to one gradient call, where there is a bridge."""
    record = session.record
    if record.grad_s is None or record.grad_s > BRIDGE_WORTH_S:
        return
    calls = record.grad_calls or 1
    differences = []
    with session.guard():
        for _ in range(BRIDGE_ROUNDS):
            across = session.ask("bridge", what="gradient", calls=calls)["seconds"]
            if across is None:
                return
            inside = session.ask("sample", what="gradient", calls=calls)["seconds"]
            differences.append((across - inside) / calls)
        record.bridge_s = float(np.median(differences))


def _ratios(samplers: Mapping[Key, object]) -> list[tuple[Key, Key]]:
    """The ratios that the table shows: gradient ÷ forward, and gradients against the first."""
    gradients = [key for key in samplers if key.what == "gradient"]
    own = [(key, Key(key.session, "forward")) for key in gradients]
    return [
        *((a, b) for a, b in own if b in samplers),
        *((key, gradients[0]) for key in gradients[1:]),
    ]


def _sampler(key: Key) -> Callable[[int], float]:
    def take(calls: int) -> float:
        return key.session.ask("sample", what=key.what, calls=calls)["seconds"]

    return take
