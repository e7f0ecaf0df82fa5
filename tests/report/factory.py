"""Synthetic runs for the tests of the report.  Every figure here is made up."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from pyweanj.inputs import save_gradient
from pyweanj.records import Figure, Joint, Outcome, Pair, Record

EXAMPLE = "02-gauss-seidel"
SWEEP = (32, 64, 128, 256, 512, 1024)

# Seconds of one forward call at n = 32, K = 100, and gradient over forward.
COSTS = {
    ("jax", "lexicographic"): (3.5e-3, 9.0),
    ("jax", "lexicographic-hyperplane"): (0.7e-3, 2.6),
    ("enzyme", "lexicographic"): (0.43e-3, 1.8),
    ("enzyme-cpp", "lexicographic"): (0.41e-3, 1.7),
    ("oracle", "lexicographic"): (1.4e-3, 2.0),
    ("jax", "red-black"): (0.6e-3, 4.2),
    ("enzyme", "red-black"): (0.34e-3, 3.4),
    ("enzyme-cpp", "red-black"): (0.31e-3, 2.2),
    ("oracle", "red-black"): (1.5e-3, 2.1),
}
LOSS = {"lexicographic": 0.105860373742, "red-black": 0.105843754705}
NORM = {"lexicographic": 6.409859e-04, "red-black": 6.366981e-04}


def computes(variant: str) -> str:
    return "lexicographic" if variant.startswith("lexicographic") else variant


def record(system: str = "jax", variant: str = "lexicographic", **fields: Any) -> Record:
    """A record of the check size, right unless `fields` say otherwise."""
    size = fields.get("n", 32)
    given: dict[str, Any] = {
        "example": EXAMPLE,
        "system": system,
        "variant": variant,
        "computes": computes(variant),
        "device": "cpu",
        "dtype": "float64",
        "n": 32,
        "K": 20,
        "N": size * size,
        "tasks": ["check"],
        "outcome": Outcome.OK,
        "loss": LOSS.get(computes(variant), 1.0),
        "grad_norm": NORM.get(computes(variant), 1.0),
        "oracle_loss_error": None if system == "oracle" else 1.3e-16,
        "oracle_grad_error": None if system == "oracle" else 4.2e-15,
        "fd_error": 3.2e-9,
        "taylor_rate": 2.0,
        "tolerance": 1.4e-12,
        "verdict": "right",
        "proofs": [
            Figure(name="oracle", value=4.2e-15, tolerance=1.4e-12, passed=True),
            Figure(name="finite differences", value=3.2e-9, tolerance=1e-7, passed=True),
        ],
    }
    return Record(**{**given, **fields})


def failed(system: str, outcome: Outcome, message: str, **fields: Any) -> Record:
    """A record of a case that gave no figures."""
    nothing: dict[str, Any] = dict.fromkeys(
        ("loss", "grad_norm", "oracle_loss_error", "oracle_grad_error", "fd_error")
    )
    nothing |= {"taylor_rate": None, "tolerance": None, "verdict": None, "proofs": []}
    return record(system, **{**nothing, "outcome": outcome, "message": message, **fields})


def timed(
    system: str, variant: str, n: int, K: int = 100, *, scale: float = 1.0, **fields: Any
) -> Record:
    """A record of a timing size: cost grows with n², intervals of 2 %."""
    forward, ratio = COSTS[system, variant]
    forward *= (n / 32) ** 2 * K / 100
    gradient = forward * ratio * scale
    given: dict[str, Any] = {
        "n": n,
        "K": K,
        "N": n * n,
        "tasks": ["time", "memory"],
        "forward_s": forward,
        "grad_s": gradient,
        "forward_ci": (0.99 * forward, 1.02 * forward),
        "grad_ci": (0.98 * gradient, 1.02 * gradient),
        "forward_samples": [forward * f for f in (0.99, 1.0, 1.02)],
        "grad_samples": [gradient * (1 + 0.004 * math.sin(7 * k)) for k in range(15)],
        "forward_calls": max(1, round(2e-2 / gradient)),
        "grad_calls": max(1, round(1e-2 / gradient)),
        "compile_s": 0.7,
        "memory": {"rss_peak": 24 * n * n + 40_000_000},
        "fd_error": None,
        "taylor_rate": None,
    }
    if system == "jax":
        given["memory"]["xla_temp"] = 32 * n * n + 9000
    return record(system, variant, **{**given, **fields})


def joint(records: list[Record], pairs: list[Pair] | None = None, **fields: Any) -> Joint:
    environment = {
        "synthetic": True,
        "machine": {"id": "synthetic-1", "cpu": "Imaginary 9000", "cores": 2},
        "versions": {"jax": "0.10.2"},
    }
    given: dict[str, Any] = {
        "example": EXAMPLE,
        "environment": environment,
        "records": records,
        "pairs": all_pairs(records) if pairs is None else pairs,
    }
    return Joint(**{**given, **fields})


def side(row: Record) -> str:
    return f"{row.system}/{row.variant}/{row.device}"


def pair(left: Record, right: Record, **fields: Any) -> Pair:
    given: dict[str, Any] = {
        "example": EXAMPLE,
        "computes": left.computes,
        "dtype": left.dtype,
        "n": left.n,
        "K": left.K,
        "left": side(left),
        "right": side(right),
        "kind": "oracle" if "oracle" in (left.system, right.system) else "systems",
        "loss_difference": 1.1e-16,
        "grad_difference": 5.0e-15,
        "grad_difference_max": 7.1e-15,
        "tolerance": 1.4e-12,
        "verdict": "ok",
    }
    return Pair(**{**given, **fields})


def all_pairs(records: list[Record]) -> list[Pair]:
    checked = [r for r in records if "check" in r.tasks and r.loss is not None]
    return [
        pair(a, b)
        for k, a in enumerate(checked)
        for b in checked[k + 1 :]
        if (a.computes, a.dtype, a.n, a.K) == (b.computes, b.dtype, b.n, b.K)
    ]


def full(*, sweep: tuple[int, ...] = SWEEP) -> Joint:
    """A good run: check, timing and memory of every implementation in `COSTS`."""
    check = [record(system, variant) for system, variant in COSTS]
    times = [timed(system, variant, n) for system, variant in COSTS for n in sweep]
    memory = [
        record(
            system,
            variant,
            n=256,
            K=K,
            tasks=["memory"],
            memory={"rss_peak": 42_000_000 + 1000 * K},
            fd_error=None,
        )
        for system, variant in COSTS
        for K in (10, 1000)
    ]
    return joint([*check, *times, *memory])


def troubled() -> Joint:
    """A run in which everything that can go wrong did, once each."""
    wrong = record(
        "jax",
        loss=LOSS["lexicographic"],
        grad_norm=2 * NORM["lexicographic"],
        outcome=Outcome.MISMATCH,
        verdict="wrong",
        oracle_grad_error=1.0,
        fd_error=1.0,
        diagnosis="constant factor 2 (residual 3.1e-15 after undoing it)",
        message="gradient differs from the oracle",
        remedy="look for a term that is counted twice",
        proofs=[
            Figure(
                name="oracle",
                value=1.0,
                tolerance=1.4e-12,
                passed=False,
                detail="‖gradient − oracle‖₂ / ‖oracle‖₂",
                where="theta[3, 7] interior",
            ),
            Figure(name="finite differences", value=1.0, tolerance=1e-7, passed=False),
            Figure(name="Taylor rate", value=1.0, passed=None, detail="quadratic loss: exact"),
        ],
    )
    nan = record(
        "enzyme",
        outcome=Outcome.MISMATCH,
        verdict="wrong",
        loss=math.nan,
        grad_norm=math.nan,
        oracle_loss_error=math.nan,
        oracle_grad_error=math.nan,
        fd_error=math.inf,
        diagnosis="NaN at theta[0, 0]",
        message="NaN in the gradient",
        proofs=[Figure(name="oracle", value=math.nan, tolerance=1.4e-12, passed=False)],
    )
    good = record("enzyme-cpp")
    oracle = record("oracle", verdict="unproven")
    long = "error: " + "a very long compiler message | with a pipe, `ticks` and <tags>; " * 12
    others = [
        failed("enzyme", Outcome.UNAVAILABLE, "no Julia was found", variant=variant,
               remedy="run: pyweanj setup")
        for variant in ("red-black", "red-black-loops")
    ] + [
        failed("jax", Outcome.TIMEOUT, "no answer after 60 s", n=1024, K=100, tasks=["time"]),
        failed("jax", Outcome.CRASHED, "the worker died", variant="red-black", exit_status=-9,
               log="logs/jax-cpu.log"),
        failed("enzyme-cpp", Outcome.COMPILE_ERROR, long + "\nsecond line", variant="red-black"),
        failed("oracle", Outcome.RUNTIME_ERROR, "=SUM(A1) looks like a formula",
               variant="red-black", remedy="none"),
        failed("adjoint", Outcome.UNSUPPORTED, "no adjoint of red-black", variant="red-black"),
        *(failed("jax", Outcome.SKIPPED, "predicted gradient time above the budget of 5 s",
                 n=n, K=100, tasks=["time"]) for n in (256, 512)),
    ]  # fmt: skip
    times = [timed("jax", "lexicographic", 64, outcome=Outcome.MISMATCH, verdict="wrong"),
             timed("enzyme-cpp", "lexicographic", 64)]  # fmt: skip
    pairs = [
        pair(wrong, good, verdict="mismatch", grad_difference=0.5, reason="gradient",
             where="theta[3, 7]"),
        pair(nan, good, verdict="mismatch", loss_difference=math.nan, grad_difference=math.nan,
             grad_difference_max=math.nan, reason="finite"),
        pair(good, oracle),
    ]  # fmt: skip
    return joint([wrong, nan, good, oracle, *others, *times], pairs, complete=False)


def wrong_on_disk(folder: Path, *, shape: tuple[int, int] = (24, 17)) -> Joint:
    """A run whose gradients are on disk: jax has the axes flipped, enzyme one NaN."""
    i, j = np.meshgrid(*(np.arange(s) / s for s in shape), indexing="ij")
    right = 1e-4 * np.sin(3 * i) * np.cos(7 * j * j)
    broken = right.copy()
    broken[3, 7] = np.nan
    found = [
        (record("oracle", n=shape[0]), right),
        (
            record(
                "jax",
                n=shape[0],
                outcome=Outcome.MISMATCH,
                verdict="wrong",
                oracle_grad_error=1.1,
                diagnosis="flipped axis 0 (residual 0 after undoing it)",
                message="gradient differs from the oracle",
                remedy="look at the order of the axes",
            ),
            right[::-1],
        ),
        (
            record(
                "enzyme",
                n=shape[0],
                outcome=Outcome.MISMATCH,
                verdict="wrong",
                oracle_grad_error=math.nan,
                diagnosis="NaN at theta[3, 7]",
            ),
            broken,
        ),
        (record("enzyme-cpp", n=shape[0], oracle_grad_error=0.0), right),
    ]
    for row, gradient in found:
        path = save_gradient(EXAMPLE, row.case.slug, {"theta": gradient}, folder)
        row.gradient = path.relative_to(folder).as_posix()
    return joint([row for row, _ in found])
