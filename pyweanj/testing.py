"""The pytest plugin: cross-language equivalence as tests.

pytest finds it by itself where pyweanj is installed.  It is imported in every pytest run, so
it imports nothing but pytest; what a test asks for runs in processes of its own, and neither
Julia nor JAX ever enters that of pytest.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyweanj.api import Report
    from pyweanj.example import Example
    from pyweanj.records import Record

__all__ = ["assert_equivalent", "assert_report"]

MARKERS = {
    "julia": "needs Enzyme.jl in a Julia that is set up",
    "gpu": "needs a GPU that one of the systems can use",
}
WHO = {
    "left": "{pair.left} is wrong",
    "right": "{pair.right} is wrong",
    "both": "both are wrong",
    "neither": "both are right by their own proofs",
    "unknown": "which of the two is wrong is not proved",
}
FIXTURES = frozenset({"pyweanj_compare", "pyweanj_assert_equivalent"})


@dataclass
class _Runs:
    """The runs of one pytest session: each is made once, however many tests ask for it."""

    required: tuple[str, ...] = ()
    folder: Callable[[str], Path] | None = None
    made: dict[Any, Report] = field(default_factory=dict)

    def compare(self, example: Example | str | Path, options: dict[str, Any]) -> Report:
        """The report of `example` with `options`, from an earlier run where there was one."""
        from pyweanj.api import compare

        options = {"timing": False, **options}
        named = example if isinstance(example, str | Path) else id(example)
        key = str(named), repr(sorted(options.items()))
        if key not in self.made:
            if self.folder is not None and "output" not in options:
                options["output"] = self.folder("pyweanj") / "run"
            self.made[key] = compare(example, **options)
        return self.made[key]


_runs = _Runs()


def assert_equivalent(
    example: Example | str | Path, *, require: str | Iterable[str] = (), **options: Any
) -> Report:
    """Run `example` on every system and demand that loss and gradient are the same and right.

    Parameters
    ----------
    example
        As for `pyweanj.compare`: a name, a folder with an ``example.py``, or an `Example`.
    require
        Systems that must run; those of ``--pyweanj-require`` are added.
    options
        Of `pyweanj.compare` (``systems=``, ``variants=``, ``dtypes=``, …).  Nothing is timed
        unless ``timing=True``.

    Returns
    -------
    Report
        Of the run; within one pytest session the same question is asked once.

    Raises
    ------
    AssertionError
        An implementation is wrong or failed, two disagree, or a required system did not run.
        The text holds the diagnosis.
    UsageError
        The example or an option cannot be used.

    Notes
    -----
    Where fewer than two implementations could run, nothing was compared: the test is skipped
    with the reason.
    """
    __tracebackhide__ = True
    report = _runs.compare(example, options)
    assert_report(report, require=require)
    return report


def assert_report(report: Report, *, require: str | Iterable[str] = ()) -> None:
    """Demand of a run that is there already what `assert_equivalent` demands."""
    __tracebackhide__ = True
    from pyweanj.records import Outcome

    asked = (require,) if isinstance(require, str) else tuple(require)
    planned = {r.system for r in report.records}
    lacking = []
    for system in dict.fromkeys((*asked, *(s for s in _runs.required if s in planned))):
        mine = [r for r in report.records if r.system == system]
        if not any(r.outcome is Outcome.OK for r in mine) and not _failed(mine):
            lacking += [f"{system} is required but did not run: {_why(mine)}"]
    failures = lacking + _told(report)
    if failures:
        text = "\n  ".join(failures)
        raise AssertionError(
            f"{report.joint.example}: not equivalent\n  {text}\n  results: {report.folder}"
        )
    if report.exit_status == 3:
        left_out = [r for r in report.records if r.outcome is not Outcome.OK]
        seen = dict.fromkeys(f"{r.system} {_why([r])}" for r in left_out)
        why = "; ".join(seen) or "one implementation alone was asked for"
        pytest.skip(f"{report.joint.example}: nothing to compare with: {why}")
    assert report.exit_status in {0, 1}, f"the run was interrupted: {report.folder}"


def _told(report: Report) -> list[str]:
    """A line for each case that did not end well and each pair that disagrees."""
    lines = [f"{case}: {why}" for case, why in report.diagnosis.items()]
    for pair in report.pairs:
        if pair.verdict == "mismatch":
            who = WHO[pair.wrong or "unknown"].format(pair=pair)
            lines.append(
                f"{pair.left} ↔ {pair.right} {pair.dtype} n={pair.n} K={pair.K}: "
                f"{pair.reason}: {pair.detail}; {who}"
            )
    return lines


def _failed(records: list[Record]) -> bool:
    from pyweanj.records import FAILURES

    return any(r.outcome in FAILURES for r in records)


def _why(records: list[Record]) -> str:
    """Why these cases did not run."""
    if not records:
        return "the example or the options leave it out"
    first = records[0]
    remedy = f" → {first.remedy}" if first.remedy else ""
    return f"{first.outcome.value}: {first.message}{remedy}"


# What pytest calls.


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option of the plugin."""
    group = parser.getgroup("pyweanj", "cross-language equivalence")
    group.addoption(
        "--pyweanj-require",
        action="append",
        default=[],
        metavar="SYSTEM",
        help="fail, instead of skipping, where this system (enzyme, enzyme-cpp, jax) cannot "
        "run; may be given several times",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Announce the markers, and look at the option."""
    for name, text in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {text}")
    given: list[str] = config.getoption("--pyweanj-require") or []
    required = tuple(part for text in given for part in text.split(",") if part)
    if required:
        from pyweanj.errors import unknown
        from pyweanj.systems import SYSTEMS

        for system in required:
            if system not in SYSTEMS:
                raise pytest.UsageError(str(unknown("system", system, SYSTEMS)))
    _runs.required = required
    _runs.made = {}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what is marked and cannot run here; fail where it is required."""
    names = [name for name in MARKERS if item.get_closest_marker(name)]
    if not names or not _uses_pyweanj(item):
        return
    for name in names:
        reason = _missing(name)
        if not reason:
            continue
        if name == "julia" and "enzyme" in _runs.required:
            pytest.fail(f"enzyme is required but cannot run: {reason}", pytrace=False)
        pytest.skip(reason)


@pytest.fixture(scope="session")
def pyweanj_compare(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Report]:
    """`pyweanj.compare`, without timing unless asked for, and each question asked once."""
    _runs.folder = tmp_path_factory.mktemp

    def run(example: Example | str | Path, **options: Any) -> Report:
        return _runs.compare(example, options)

    return run


@pytest.fixture(scope="session")
def pyweanj_assert_equivalent() -> Callable[..., Report]:
    """`assert_equivalent`."""
    return assert_equivalent


@pytest.fixture(scope="session")
def _pyweanj_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    _runs.folder = tmp_path_factory.mktemp


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let runs of `assert_equivalent`, a plain function, be kept in pytest's folder."""
    if isinstance(item, pytest.Function) and _uses_pyweanj(item):
        item.fixturenames.append("_pyweanj_folder")


def _uses_pyweanj(item: pytest.Item) -> bool:
    """Whether a test has to do with pyweanj: other suites have a ``gpu`` of their own."""
    if FIXTURES & set(getattr(item, "fixturenames", ())):
        return True
    module = getattr(item, "module", None)
    return module is not None and _imports_pyweanj(module)


@functools.cache
def _imports_pyweanj(module: ModuleType) -> bool:
    """Whether a name in `module` is pyweanj or of it."""
    for value in vars(module).values():
        home = getattr(value, "__module__", None) or getattr(value, "__name__", None)
        if isinstance(home, str) and home.split(".")[0] == "pyweanj":
            return True
    return False


def _missing(marker: str) -> str:
    """Why what `marker` stands for is not here; empty where it is."""
    from pyweanj.systems import SYSTEMS, load

    if marker == "julia":
        found = load("enzyme").probe("cpu")
        return "" if found.available else _probe_text("enzyme", found)
    probes = [(s, load(s).probe("gpu")) for s in SYSTEMS if "gpu" in load(s).devices]
    if any(found.available for _, found in probes):
        return ""
    return "; ".join(_probe_text(system, found) for system, found in probes)


def _probe_text(system: str, found: Any) -> str:
    return f"{system}: {found.reason}" + (f" → {found.remedy}" if found.remedy else "")
