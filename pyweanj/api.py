"""Comparing from Python: `compare` runs an example as the command does and returns a `Report`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pyweanj import catalogue, report, run, store
from pyweanj.errors import UsageError
from pyweanj.example import Example
from pyweanj.gradients import GradientCheck, check_gradient
from pyweanj.records import FAILURES, Joint, Outcome, Pair, Record
from pyweanj.report.build import build
from pyweanj.report.model import Names
from pyweanj.report.notebook import to_fragment
from pyweanj.report.problems import headline
from pyweanj.report.terminal import plain_text
from pyweanj.run import Observer, Options, Planned, Prepared
from pyweanj.run.plan import Task
from pyweanj.store import Run

if TYPE_CHECKING:
    import pandas

__all__ = ["GradientCheck", "Report", "carry_out", "check_gradient", "compare"]

Names_ = str | Iterable[str]
Watch = Callable[[Prepared, Run], AbstractContextManager[Observer]]


@dataclass(frozen=True)
class Report:
    """What a run found: shown as a table by ``print`` and in notebooks."""

    joint: Joint
    """The whole run, as stored in ``joint.json``."""
    folder: Path
    """Where the run is kept: records, gradients, logs, plots."""
    exit_status: int
    """What the command would have ended with: 0, 1, 3 or 130."""
    published: report.Published | None = None

    @property
    def records(self) -> list[Record]:
        """One for each case."""
        return self.joint.records

    @property
    def pairs(self) -> list[Pair]:
        """One for each two implementations that were held against each other."""
        return self.joint.pairs

    @property
    def verdict(self) -> Literal["right", "wrong", "unproven"]:
        """``right`` where two or more implementations ran, all of them are right and agree;
        ``wrong`` where one is wrong, failed or disagrees; ``unproven`` otherwise.
        """
        ran = [r for r in self.records if r.outcome is Outcome.OK]
        failed = any(r.outcome in FAILURES for r in self.records)
        if failed or any(pair.verdict == "mismatch" for pair in self.pairs):
            return "wrong"
        proven = bool(ran) and all(r.verdict == "right" for r in ran)
        return "right" if self.exit_status == 0 and proven else "unproven"

    @property
    def diagnosis(self) -> dict[str, str]:
        """Of every case that did not end well: what is wrong with it, by case, and the remedy."""
        return {
            str(record.case): told(record)
            for record in self.records
            if record.outcome in FAILURES or record.verdict == "wrong"
        }

    def to_pandas(self) -> pandas.DataFrame:
        """The records as a `pandas.DataFrame`: one row a case, one column a field.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError(
                "to_pandas needs pandas, which pyweanj does not: python -m pip install pandas; "
                "or read joint.csv in the run's folder"
            ) from error
        frame = pandas.DataFrame([r.model_dump() for r in self.records], columns=_fields())
        return frame.assign(outcome=[r.outcome.value for r in self.records])

    def __str__(self) -> str:
        return plain_text(self.joint, self.published)

    def __repr__(self) -> str:
        line = headline(self.joint, Names.of(self.records))
        return f"<pyweanj.Report {self.joint.example}: {self.verdict}. {line}>"

    def _repr_html_(self) -> str:
        return to_fragment(build(self.joint, self.published))


def compare(
    example: Example | str | Path,
    *,
    systems: Names_ = (),
    variants: Names_ = (),
    devices: Names_ = (),
    dtypes: Names_ = ("float64",),
    sizes: Iterable[int] = (),
    sweeps: Iterable[int] = (),
    threads: int = 1,
    budget: float = 2.5,
    timeout: float = 600.0,
    preset: Literal["default", "quick", "seeds"] = "default",
    check: bool = True,
    timing: bool = True,
    require: Names_ = (),
    inputs: str | Path | None = None,
    seed: int | None = None,
    tolerance: float | None = None,
    output: str | Path | None = None,
) -> Report:
    """Run `example` on every system, and say whether they agree and what each costs.

    Every system runs in a process of its own: neither JAX nor Julia enters this one.  Nothing
    is printed and nothing is installed.

    Parameters
    ----------
    example
        An installed example's name, a folder with an ``example.py``, or an `Example` whose
        folder holds the model files.
    systems, variants, devices
        Names, one or several; none: all.
    dtypes
        ``"float64"``, ``"float32"``.
    sizes, sweeps
        n and K of the timing sweep; none: those of the example.
    threads
        Threads, and cores, of every worker.
    budget
        Seconds: sizes whose gradient is predicted to take longer are skipped.
    timeout
        Seconds after which a step of one case is given up.
    check, timing
        Whether to compare, and whether to measure time and memory.
    require
        Systems that must run, else `Report.exit_status` is 1.
    inputs
        HDF5 file to use as the inputs of the check size.
    seed
        Of drawn inputs; default: the example's.
    tolerance
        Relative, instead of the derived one.
    output
        Result folder; default: ``results/EXAMPLE/UTC-TIME``.

    Returns
    -------
    Report
        Also where implementations disagree or fail: that is its `verdict`.

    Raises
    ------
    UsageError
        A name that does not exist, an example that cannot be used, or inputs that must not be.
    """
    if not (check or timing):
        raise UsageError("check=False and timing=False together leave nothing to do")
    tasks: dict[tuple[bool, bool], tuple[Task, ...]] = {
        (True, True): ("check", "time", "memory"),
        (True, False): ("check",),
        (False, True): ("time", "memory"),
    }
    options = Options(
        systems=_names(systems),
        variants=_names(variants),
        devices=_names(devices),
        dtypes=_names(dtypes),
        sizes=tuple(sizes),
        sweeps=tuple(sweeps),
        threads=threads,
        budget_s=budget,
        timeout_s=timeout,
        preset=preset,
        tasks=tasks[check, timing],
        require=_names(require),
        seed=seed,
        tolerance=tolerance,
    )
    return carry_out(
        example,
        options,
        inputs=None if inputs is None else Path(inputs),
        output=None if output is None else Path(output),
    )


def carry_out(
    example: Example | str | Path,
    options: Options,
    *,
    inputs: Path | None = None,
    output: Path | None = None,
    resume: Path | None = None,
    watch: Watch | None = None,
    before: Callable[[Prepared], None] = lambda _: None,
) -> Report:
    """What `compare` and the command of that name do.

    Parameters
    ----------
    resume
        Folder of a run to take up again, with its own options and inputs.
    watch
        Makes what is told of the run's progress.
    before
        Called when everything has been looked at and nothing has begun.

    Raises
    ------
    UsageError
        As `compare`; or the folder to take up holds a run of another example.
    """
    found, reference = _find(example)
    folder = None
    if resume is not None:
        folder = Run(resume.resolve())
        options, inputs = _taken_up(folder, reference)
    prepared = run.prepare(found, reference, options, inputs=inputs)
    before(prepared)
    folder = folder or store.new_run(found.name, output)
    published = report.published(found)
    with folder.alone(), (watch or _quiet)(prepared, folder) as observer:
        joint = run.execute(prepared, folder, observer, resume=resume is not None)
        report.write_files(joint, folder.folder, published)
    status = run.exit_status(joint, options.require)
    return Report(joint, folder.folder, status, published)


def told(record: Record) -> str:
    """Why a case did not end well, and what to do about it."""
    kind = record.diagnosis.splitlines()[:1] if record.verdict == "wrong" else []
    parts = [*kind, record.message]
    text = "; ".join(part for part in parts if part) or record.outcome.value
    return f"{text} → {record.remedy}" if record.remedy else text


def _find(example: Example | str | Path) -> tuple[Example, str]:
    """The example, and what a worker finds it by."""
    if isinstance(example, Example):
        folder = example.folder.resolve()
        if example.oracle is not None and not (folder / "example.py").is_file():
            raise UsageError(
                f"{example.name}: its oracle runs in another process, which looks for the "
                f"Example in {folder / 'example.py'}; put it there, or leave the oracle out"
            )
        return example, str(folder)
    name = str(example)
    found = catalogue.load(name)
    return found, name if name in catalogue.names() else str(Path(name).resolve())


def _taken_up(folder: Run, reference: str) -> tuple[Options, Path | None]:
    """Options and inputs of a run that is to be taken up again."""
    about = folder.about()
    if about["example"] != reference:
        raise UsageError(f"{folder.folder} is a run of {about['example']}, not of {reference}")
    inputs = about.get("inputs")
    try:
        return Options.from_json(about["options"]), Path(inputs) if inputs else None
    except (AttributeError, TypeError) as error:
        file = folder.folder / "run.json"
        raise UsageError(f"{file}: its options cannot be read ({error}); run anew") from error


class _Silent:
    """An `Observer` that says nothing."""

    def doing(self, planned: Planned, step: str) -> None:
        """Say nothing."""

    def done(self, record: Record) -> None:
        """Say nothing."""


def _quiet(_prepared: Prepared, _run: Run) -> AbstractContextManager[Observer]:
    return contextlib.nullcontext(_Silent())


def _names(names: Names_) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _fields() -> list[Any]:
    return list(Record.model_fields)
