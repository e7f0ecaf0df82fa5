"""Implementations that are broken on purpose, and whether pyweanj sees through each.

usage: python benchmarks/controls.py [--json] [--cases N] [--seed S] [--only numpy | real]

Every control must be flagged, on the right side, with the right diagnosis.  Those in NumPy run
in this process, with an oracle and without; those in C++ and Julia run through
`pyweanj compare`, where the system is on this machine.  Right implementations must pass:
unusual ones, and N random ones (default 1000), beside N random broken ones whose effect
is above the detection limit.
Exit status: 0 where everything holds, 1 where something does not.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pyweanj.records import Joint
from pyweanj.verify.controls import (
    LIMIT,
    Control,
    RandomResult,
    broken,
    judge_pair,
    random_broken,
    random_right,
    unusual,
)

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "controls"


@dataclass
class Row:
    """One line of the table."""

    name: str
    flagged: bool
    side: str
    """Who was named as wrong, with an oracle and without one."""
    diagnosis: str
    holds: bool
    text: str = ""
    expected: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Real:
    """One case of an example folder, as `compare` must report it."""

    name: str
    folder: str
    system: str
    variant: str
    verdict: str
    text: str = ""
    """What the diagnosis must say."""
    diagnosis: str = ""


REAL = (
    Real("overwritten location", "overwritten", "enzyme-cpp", "in-place", "wrong",
         "forward mode is right and reverse mode is not", "reverse mode"),
    Real("overwritten location", "overwritten", "enzyme", "in-place", "wrong",
         "forward mode is right and reverse mode is not", "reverse mode"),
    Real("overwritten location: two buffers", "overwritten", "enzyme-cpp", "two-buffers", "right"),
    Real("overwritten location: two buffers", "overwritten", "enzyme", "two-buffers", "right"),
    Real("overwritten location", "overwritten", "jax", "in-place", "right"),
    Real("u as an output of C++", "output_buffer", "jax", "u-as-output", "wrong",
         "exactly zero everywhere", "zero"),
    Real("u local to C++", "output_buffer", "enzyme-cpp", "u-local", "right"),
    Real("scratch as Const", "const_scratch", "enzyme", "const", "wrong",
         "exactly zero everywhere", "zero"),
    Real("scratch as Duplicated", "const_scratch", "enzyme", "duplicated", "right"),
)  # fmt: skip
#: Controls whose code needs another system than the one that it runs in.
NEEDS = {("output_buffer", "jax"): "enzyme-cpp"}


def judged(control: Control) -> Row:
    """A control with an oracle, and with the sides exchanged and no oracle."""
    problem, held = control.build()
    partner = control.partner(problem) if control.partner else problem.holding(problem.second)
    names = {"left": "broken", "right": "other"}
    mine, _, found, pair = judge_pair(problem, held, partner, calls=control.calls)
    side = names.get(pair.wrong, pair.wrong)
    _, alone, found_alone, pair_alone = judge_pair(
        problem, partner, held, oracle=False, calls=control.calls
    )
    side_alone = {"left": "other", "right": "broken"}.get(pair_alone.wrong, pair_alone.wrong)
    text = mine.findings[0].text if mine.findings else mine.verdict.text
    flagged = all(
        not c.ok or v.word == "wrong"
        for c, v in ((found, mine.verdict), (found_alone, alone.verdict))
    )
    known = mine.diagnosis == control.diagnosis and control.text in text
    if control.alone in {"broken", "neither"}:
        known = known and alone.diagnosis == control.diagnosis
    holds = flagged and known and (side, side_alone) == (control.side, control.alone)
    return Row(
        control.name,
        flagged,
        side if side == side_alone else f"{side}, without oracle {side_alone}",
        mine.diagnosis,
        holds,
        text,
        {"side": control.side, "alone": control.alone, "diagnosis": control.diagnosis},
    )


def unusual_rows() -> Iterator[Row]:
    """Right implementations in unusual conditions: nothing may be flagged."""
    for name, make in unusual():
        problem = make()
        words, sides, flagged = [], set(), False
        for oracle in (True, False):
            left, right, found, pair = judge_pair(
                problem,
                problem.holding(problem.first),
                problem.holding(problem.second),
                oracle=oracle,
            )
            words += [left.verdict.word, right.verdict.word]
            sides.add(pair.wrong)
            flagged = flagged or not found.ok or "wrong" in words
        holds = not flagged and sides == {"neither"} and set(words) == {"right"}
        yield Row(f"right: {name}", flagged, " ".join(sorted(sides)), "", holds)


def real_rows(
    log: Any, systems: tuple[str, ...] = ("enzyme", "enzyme-cpp", "jax")
) -> tuple[list[Row], list[dict[str, str]]]:
    """The controls in C++ and Julia, and those that could not run here, with the reason."""
    rows, missing = [], []
    for folder in dict.fromkeys(real.folder for real in REAL):
        joint = _compare(folder, log, systems)
        for real in (r for r in REAL if r.folder == folder and r.system in systems):
            name = f"{real.system}: {real.name}"
            reason = _unavailable(joint, NEEDS.get((folder, real.system), real.system))
            if reason:
                missing.append({"name": name, "reason": reason})
                continue
            rows.append(_real_row(name, real, joint))
    return rows, missing


def _compare(folder: str, log: Any, systems: tuple[str, ...]) -> Joint:
    """`pyweanj compare` of one example folder, at its check size."""
    with tempfile.TemporaryDirectory() as results:
        command = [sys.executable, "-m", "pyweanj", "compare", str(FOLDER / folder)]
        command += ["--systems", ",".join(systems), "--no-timing", "--no-install"]
        command += ["--format", "json", "--output", results]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=log, text=True, check=False)
        if done.returncode not in {0, 1}:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}")
        return Joint.model_validate_json(done.stdout)


def _unavailable(joint: Joint, system: str) -> str:
    """Why no case of `system` ran; empty where one did."""
    records = [r for r in joint.records if r.system == system]
    if any(r.outcome != "unavailable" for r in records):
        return ""
    return next((r.message for r in records if r.message), f"{system} is not on this machine")


def _real_row(name: str, real: Real, joint: Joint) -> Row:
    record = next(r for r in joint.records if (r.system, r.variant) == (real.system, real.variant))
    flagged = record.outcome != "ok"
    first = record.diagnosis.partition("\n")[0]
    holds = record.verdict == real.verdict and flagged == (real.verdict == "wrong")
    holds = holds and real.text in first
    side = "broken" if record.verdict == "wrong" else "neither"
    kind = real.diagnosis if real.text and real.text in first else "other" if first else ""
    expected = {"verdict": real.verdict, "diagnosis": real.diagnosis}
    return Row(name, flagged, side, kind, holds, first or record.message, expected)


def table(rows: list[Row]) -> str:
    """The rows as aligned text."""
    lines = [("control", "flagged", "wrong side", "diagnosis", "holds")]
    lines += [
        (r.name, "yes" if r.flagged else "no", r.side, _said(r), "✓" if r.holds else "✗")
        for r in rows
    ]
    widths = [max(len(line[k]) for line in lines) for k in range(5)]
    text = [
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) for line in lines
    ]
    return "\n".join(line.rstrip() for line in [text[0], "─" * len(text[0]), *text[1:]])


def _said(row: Row) -> str:
    """Kind and text of the diagnosis, as far as a line has room."""
    if not row.flagged:
        return ""
    said = f"{row.diagnosis}: {row.text}" if row.text else row.diagnosis
    return said if len(said) <= 70 else said[:69] + "…"


def result(
    rows: list[Row], missing: list[dict[str, str]], right: RandomResult, wrong: RandomResult
) -> dict[str, Any]:
    """What `--json` prints."""
    return {
        "controls": [asdict(row) for row in rows],
        "not_run": missing,
        "false_alarms": len(right.wrong),
        "right_cases": right.cases,
        "misses": len(wrong.wrong),
        "broken_cases": wrong.cases,
        "detection_limit": wrong.limits.get("float64"),
        "detection_limits": wrong.limits,
        "detection_limit_text": f"{LIMIT:g} times the derived tolerance, relative in the max-norm;"
        " the largest of these cases by dtype",
        "smallest_detected": wrong.smallest,
        "wrongly_judged": right.wrong + wrong.wrong,
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--cases", type=int, default=1000, help="random cases of either kind")
    parser.add_argument("--seed", type=int, default=0, help="of the random cases")
    parser.add_argument("--only", choices=("numpy", "real"), help="controls of one kind alone")
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    missing: list[dict[str, str]] = []
    if options.only != "real":
        rows += [judged(control) for control in broken()]
        rows += unusual_rows()
    if options.only != "numpy":
        found, missing = real_rows(sys.stderr)
        rows += found
    cases = 0 if options.only == "real" else options.cases
    right, wrong = random_right(cases, options.seed), random_broken(cases, options.seed)
    found = result(rows, missing, right, wrong)
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        print(table(rows))
        for row in missing:
            print(f"not run: {row['name']}: {row['reason']}")
        print(f"false alarms: {len(right.wrong)} of {right.cases} random right cases")
        print(f"misses: {len(wrong.wrong)} of {wrong.cases} random broken cases above the limit")
        limits = ", ".join(f"{v:.1e} ({k})" for k, v in sorted(wrong.limits.items()))
        print(f"detection limit: {found['detection_limit_text']}: {limits or 'not drawn'}")
        print("\n".join(found["wrongly_judged"]))
    failed = [row for row in rows if not row.holds]
    return 1 if failed or right.wrong or wrong.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
