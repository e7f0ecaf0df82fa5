"""Which samples to take, in which order, and when to stop.

A sampler is any function ``sample(calls) -> seconds`` that makes `calls` calls and returns
the seconds that they took together.  Here is no clock but the one that bounds the whole:
what a sample means is the sampler's business.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

import numpy as np

from pyweanj.measure.clock import Clock, resolution
from pyweanj.measure.statistics import MARGIN, Interval, Ratio, median_interval, ratio

__all__ = [
    "Rule",
    "Sample",
    "Sampler",
    "Samples",
    "calibrate",
    "interleave",
    "seeds_rule",
]

Key = TypeVar("Key", bound=Hashable)
Sampler = Callable[[int], float]
Stop = Literal["narrow", "rounds", "budget", "interrupted", "failed"]

TARGET_S = 0.02
"""A sample shorter than this is repeated inside the sample, unless one call is longer."""
TICKS = 1000
"""A sample is at least this many steps of the clock long."""


@dataclass(frozen=True)
class Rule:
    """When sampling stops."""

    goal: float = 0.05
    """Stop once every interval's half-width, relative to its median, is at most this."""
    min_rounds: int = 7
    """No stop for narrowness before."""
    max_rounds: int = 30
    budget_s: float = math.inf
    """Seconds that the samplers may take together.  Where another round would exceed it the
    costliest rest; without any left the sampling stops.  What those took that rest already after
    `floor_rounds` is not counted.  A round is expected to last as long as the last one."""
    floor_rounds: int = 3
    """This many rounds are taken by all, whatever the budget."""

    def __post_init__(self) -> None:
        if not 1 <= self.min_rounds <= self.max_rounds:
            raise ValueError(
                f"rounds must satisfy 1 ≤ min ≤ max, not {self.min_rounds} and {self.max_rounds}"
            )


def seeds_rule(n: int) -> Rule:
    """The seeds' protocol: 10 samples, 3 from n = 512 on, whatever their spread.

    Take them with ``calls=1``: there a sample is one call.
    """
    rounds = 3 if n >= 512 else 10
    return Rule(goal=0.0, min_rounds=rounds, max_rounds=rounds, floor_rounds=rounds)


@dataclass(frozen=True)
class Sample(Generic[Key]):
    """One sample as it came."""

    key: Key
    round: int
    """0-based."""
    position: int
    """Place within the round's random order, 0-based."""
    calls: int
    seconds: float
    """Per call."""


@dataclass
class Samples(Generic[Key]):
    """All samples of one interleaved measurement, and why it ended."""

    calls: dict[Key, int]
    """Calls within one sample."""
    raw: list[Sample[Key]] = field(default_factory=list)
    """In the order in which they were taken.  The samples of one key are those of the first
    rounds without a gap, so two keys' samples in order pair by their place."""
    failures: dict[Key, Exception] = field(default_factory=dict)
    """Samplers that raised; their samples from before are kept."""
    stopped: Stop = "rounds"
    elapsed_s: float = 0.0

    def seconds(self, key: Key) -> list[float]:
        """Seconds per call of `key`, in the order of rounds."""
        return [s.seconds for s in self.raw if s.key == key]

    def interval(self, key: Key) -> Interval | None:
        """Median seconds per call with its interval; None where there is no sample."""
        seconds = self.seconds(key)
        return median_interval(seconds) if seconds else None

    def paired(self, left: Key, right: Key) -> tuple[list[float], list[float]]:
        """Seconds per call of both, of the rounds in which both were taken."""
        a, b = self.seconds(left), self.seconds(right)
        count = min(len(a), len(b))
        return a[:count], b[:count]

    def ratio(self, left: Key, right: Key, margin: float = MARGIN) -> Ratio | None:
        """Left ÷ right over paired rounds; None where no round holds both."""
        a, b = self.paired(left, right)
        return ratio(a, b, margin=margin) if a else None

    def difference(self, left: Key, right: Key) -> float | None:
        """Median of left − right in seconds over paired rounds; None where no round holds both.

        With one function timed from two places this is what the way between them adds; noise
        can make it negative.
        """
        a, b = self.paired(left, right)
        return statistics.median(x - y for x, y in zip(a, b, strict=True)) if a else None


def calibrate(
    sample: Sampler,
    target_s: float = TARGET_S,
    *,
    tick_s: float | None = None,
    max_calls: int = 10_000_000,
    long_s: float = 0.5,
) -> int:
    """Calls that make a sample long enough for the clock: at least `target_s` and 1000 ticks.

    Parameters
    ----------
    sample
        Asked for 1 call first, as a warm-up; then for more until one sample is long enough.
    target_s
        Seconds that a sample should last.
    tick_s
        Resolution of the sampler's clock in seconds; default: that of `time.perf_counter`.
    max_calls
        Upper limit, for a function that takes no time at all.
    long_s
        If the warm-up alone takes longer than this, it is not repeated: the answer is 1.

    Returns
    -------
    int
        At least 1; 1 where one call is long enough.

    Raises
    ------
    ValueError
        The sampler returned something that is not a time.  What it raises passes through.
    """
    target = max(target_s, TICKS * (resolution() if tick_s is None else tick_s))
    if _valid(sample(1)) >= max(long_s, target):
        return 1
    calls = 1
    while calls < max_calls:
        seconds = _valid(sample(calls), allow_zero=True)
        if seconds >= target:
            break
        # At most tenfold a step: a very short sample predicts badly.
        factor = min(10.0, 1.2 * target / seconds) if seconds > 0 else 10.0
        calls = min(max_calls, max(calls + 1, math.ceil(calls * factor)))
    return calls


def interleave(
    samplers: Mapping[Key, Sampler],
    calls: Mapping[Key, int] | int,
    rule: Rule = Rule(),
    *,
    rng: np.random.Generator,
    ratios: Iterable[tuple[Key, Key]] = (),
    on_sample: Callable[[Sample[Key]], object] | None = None,
    clock: Clock = time.perf_counter,
) -> Samples[Key]:
    """Take samples in rounds: each round takes every sampler once, in a fresh random order.

    A slow phase of the machine then hits all samplers alike, and no sampler always runs
    after the same other one (asv interleaves its rounds for the same reason).  The rule
    looks at the width of intervals only, never at who is ahead, so that stopping early
    favours nobody.

    Where the budget ends, the costliest samplers rest and the cheap ones go on until they are
    narrow: one slow implementation does not make the others' intervals wide.

    A sampler that raises drops out; the others go on, and `Samples.failures` tells.
    KeyboardInterrupt ends the measurement and is not raised again: what was found is
    returned with ``stopped="interrupted"``.

    Parameters
    ----------
    samplers
        By any hashable key.
    calls
        Calls in one sample, for each key (`calibrate`) or for all.
    rule
        When to stop.
    rng
        Of the order within the rounds.
    ratios
        Pairs (left, right) whose ratio must be as narrow as the goal too.
    on_sample
        Called with each sample as it comes, e.g. to write it down.  What it raises passes
        through.
    clock
        Monotonic, in seconds; of the budget alone.
    """
    keys = list(samplers)
    samples: Samples[Key] = Samples(
        {k: calls if isinstance(calls, int) else calls[k] for k in keys}
    )
    pairs = list(ratios)
    wanted = [k for pair in pairs for k in pair if k not in samplers]
    if wanted:
        raise KeyError(f"a ratio of {wanted[0]!r} is asked for, which has no sampler")
    judge = _Judge(rule, keys, pairs)
    start = clock()
    try:
        for number in range(rule.max_rounds):
            order = [judge.live[i] for i in rng.permutation(len(judge.live))]
            for position, key in enumerate(order):
                began = clock()
                try:
                    seconds = _valid(samplers[key](samples.calls[key])) / samples.calls[key]
                except Exception as error:
                    samples.failures[key] = error
                    judge.live.remove(key)
                    continue
                taken = Sample(key, number, position, samples.calls[key], seconds)
                samples.raw.append(taken)
                if on_sample is not None:
                    on_sample(taken)
                judge.took(key, clock() - began)
            stop = judge.stop(samples, number + 1)
            if stop is not None:
                samples.stopped = stop
                break
    except KeyboardInterrupt:
        samples.stopped = "interrupted"
    samples.elapsed_s = clock() - start
    return samples


class _Judge(Generic[Key]):
    """Applies a rule after each round: who goes on, and whether anybody does."""

    def __init__(self, rule: Rule, keys: list[Key], pairs: list[tuple[Key, Key]]) -> None:
        self.rule = rule
        self.live = list(keys)
        self.costs: dict[Key, float] = {}
        """Seconds that the last sample of each key took from outside."""
        self.spent = dict.fromkeys(keys, 0.0)
        """Seconds that all samples of each key took."""
        self.resting = False
        self.questions: list[tuple[Key, Key | None]] = [*((k, None) for k in keys), *pairs]

    def took(self, key: Key, seconds: float) -> None:
        """Tell what one more sample took from outside."""
        self.costs[key] = seconds
        self.spent[key] += seconds

    def stop(self, samples: Samples[Key], rounds: int) -> Stop | None:
        if not self.live:
            return "failed"
        if rounds >= self.rule.max_rounds:
            return "rounds"
        if rounds >= self.rule.min_rounds and self._narrow(samples):
            return "budget" if self.resting else "narrow"
        if rounds >= self.rule.floor_rounds:
            self._rest(free=rounds == self.rule.floor_rounds)
            if not self.live:
                return "budget"
        return None

    def _rest(self, *, free: bool) -> None:
        """Let the costliest samplers rest until another round of the others fits the budget.

        `free`: what they have spent, in the rounds that all take, is not held against the others.
        """
        for key in sorted(self.live, key=lambda k: self.costs[k], reverse=True):
            spent = sum(self.spent.values())
            if spent + sum(self.costs[k] for k in self.live) <= self.rule.budget_s:
                break
            self.live.remove(key)
            self.resting = True
            if free:
                del self.spent[key]

    def _narrow(self, samples: Samples[Key]) -> bool:
        """Whether every interval that more rounds could still narrow is narrow enough."""
        live = set(self.live)
        for place, (left, right) in enumerate(self.questions):
            if left not in live or (right is not None and right not in live):
                continue
            found = samples.interval(left) if right is None else samples.ratio(left, right)
            if found is not None and not found.half_width <= self.rule.goal:
                # Asked first next time: what is widest now will be the last to be narrow.
                self.questions.insert(0, self.questions.pop(place))
                return False
        return True


def _valid(seconds: float, allow_zero: bool = False) -> float:
    if not (math.isfinite(seconds) and (seconds > 0 or (allow_zero and seconds == 0))):
        raise ValueError(f"a sampler returned {seconds} s, which is not the time of a call")
    return seconds
