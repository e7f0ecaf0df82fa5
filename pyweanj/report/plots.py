"""Plots of one run: time, gradient ÷ forward, memory, and error against the oracle."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pyweanj.measure.memory import KINDS
from pyweanj.records import Case, Joint, Outcome, Record
from pyweanj.report import units
from pyweanj.report.maps import gradient_maps
from pyweanj.report.memory import Axis, axes, memory_kinds, memory_of
from pyweanj.report.model import Names
from pyweanj.report.paired import paired
from pyweanj.report.quoted import Published, PublishedFigures
from pyweanj.report.style import FAINT, Look, drawing, looks, to_png, to_svg
from pyweanj.report.timing import timed

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Plot", "plots", "save_plots"]

PUBLISHED = "published, not measured"

Point = tuple[float, float, tuple[float, float] | None]
"""Place, height, and the interval of the height."""


class Plot(NamedTuple):
    """One plot."""

    name: str
    """Letters, digits and hyphens: also the name of its file."""
    title: str
    about: str
    """What is to be seen, in words and figures, for those who cannot see it."""
    figure: Figure
    case: Case | None = None
    """The wrong case that the plot explains."""


class _Context(NamedTuple):
    """What every plot needs."""

    names: Names
    look: dict[str, Look]
    published: Published | None

    def by_name(self, records: Iterable[Record]) -> dict[str, list[Record]]:
        """`records` by the short name of their implementation."""
        found: dict[str, list[Record]] = {}
        for record in records:
            found.setdefault(self.names.record(record), []).append(record)
        return found

    def label(self, name: str, records: Iterable[Record]) -> str:
        """What stands in the legend: times of a wrong gradient must not pass for others."""
        wrong = any(r.verdict == "wrong" or r.outcome is Outcome.MISMATCH for r in records)
        return f"{name} (✗ wrong)" if wrong else name

    def quoted(self, records: Iterable[Record]) -> list[tuple[Record, PublishedFigures]]:
        """The records that have published figures, with them."""
        known = {} if self.published is None else self.published.costs
        return [(r, known[r.case]) for r in records if r.case in known]


def plots(
    joint: Joint, published: Published | None = None, folder: Path | None = None
) -> Iterator[Plot]:
    """Every plot that the run has figures for.

    Parameters
    ----------
    published
        Figures to show as hollow markers.
    folder
        Of the run: where gradients are, for the maps of wrong ones.
    """
    names = Names.of(joint.records)
    context = _Context(names, looks(joint.records, names), published)
    with drawing():
        yield from _errors(joint, context)
        for sweep, records in timed(joint).items():
            slug = f"{sweep.computes}-{sweep.dtype}-K{sweep.K}"
            yield _times(f"time-{slug}", str(sweep), records, context)
            yield _ratios(f"ratio-{slug}", str(sweep), records, context)
        yield from _memory(joint, context)
        if folder is not None:
            for record, title, about, figure in gradient_maps(joint, folder, names):
                yield Plot(f"map-{record.case.slug}", title, about, figure, record.case)


def save_plots(
    joint: Joint, target: Path, published: Published | None = None, folder: Path | None = None
) -> list[Path]:
    """Write every plot as SVG and PNG into `target`; returns the files."""
    target.mkdir(parents=True, exist_ok=True)
    files = []
    for plot in plots(joint, published, folder):
        svg, png = target / f"{plot.name}.svg", target / f"{plot.name}.png"
        svg.write_text(to_svg(plot.figure, plot.name, plot.title), encoding="utf-8")
        png.write_bytes(to_png(plot.figure))
        files += [svg, png]
    return files


def _canvas(panels: int, *, wide: bool = False) -> tuple[Figure, list[Axes]]:
    """A figure with `panels` panels, two in a row."""
    # Without pyplot: no window system is asked for, and no figure outlives its use.
    from matplotlib.figure import Figure

    rows, columns = -(-panels // 2), min(panels, 2)
    width = 7.2 if wide or columns == 2 else 4.6
    figure = Figure(figsize=(width, 2.7 * rows + 0.8), layout="constrained")
    grid = list(figure.subplots(rows, columns, squeeze=False).flat)
    for spare in grid[panels:]:
        spare.set_axis_off()
    return figure, grid[:panels]


def _finish(figure: Figure, panels: Iterable[Axes], values: Iterable[int], label: str) -> None:
    """Axes with the sizes that were measured, and one legend below."""
    ticks = sorted(set(values))
    for panel in panels:
        panel.set_xlabel(label)
        if len(ticks) > 1:
            panel.set_xscale("log", base=2 if label == "n" else 10)
        panel.set_xticks(ticks, [str(t) for t in ticks])
        panel.minorticks_off()
    _legend(figure, panels)


def _legend(figure: Figure, panels: Iterable[Axes]) -> None:
    """One legend below all panels; what is published comes last and once."""
    handles: dict[str, Artist] = {}
    for panel in panels:
        for handle, name in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    if PUBLISHED in handles:
        handles[PUBLISHED] = handles.pop(PUBLISHED)
    if handles:
        columns = max(2, int(figure.get_size_inches()[0] / 1.7))
        figure.legend(
            list(handles.values()), list(handles), loc="outside lower center",
            ncols=min(columns, len(handles)),
        )  # fmt: skip


def _series(panel: Axes, name: str, look: Look, points: Sequence[Point]) -> None:
    """Markers with intervals, joined by a line."""
    points = sorted(p for p in points if math.isfinite(p[1]) and p[1] > 0)
    if not points:
        return
    x, y = [p[0] for p in points], [p[1] for p in points]
    low = [max(0.0, v - i[0]) if i else 0.0 for _, v, i in points]
    high = [max(0.0, i[1] - v) if i else 0.0 for _, v, i in points]
    panel.errorbar(
        x, y, yerr=[low, high], label=name, color=look.colour, marker=look.marker,
        linestyle=look.dash, capsize=2.5, elinewidth=1,
    )  # fmt: skip


def _hollow(panel: Axes, look: Look, points: Sequence[tuple[float, float]]) -> None:
    """Published figures: hollow markers without a line, in the colour of the measured ones."""
    if not points:
        return
    hollow = {"linestyle": "none", "fillstyle": "none", "markersize": 7, "markeredgewidth": 1}
    x, y = [p[0] for p in points], [p[1] for p in points]
    panel.plot(x, y, color=look.colour, marker=look.marker, **hollow)
    if PUBLISHED not in panel.get_legend_handles_labels()[1]:
        panel.plot([], [], color=FAINT, marker="o", label=PUBLISHED, **hollow)


def _scaled(axis: Axes, text: Callable[[float], str]) -> None:
    """A logarithmic height with ticks in words for people."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(base=10, numticks=8))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))


def _seconds(value: float) -> str:
    """A power of ten of seconds, as a tick."""
    number, unit = units.seconds(value).split()
    return f"{float(number):g} {unit}"


def _times(name: str, title: str, records: list[Record], context: _Context) -> Plot:
    figure, panels = _canvas(2)
    spoken = []
    for panel, field in zip(panels, ("forward", "grad"), strict=True):
        panel.set_title("forward" if field == "forward" else "gradient")
        _scaled(panel, _seconds)
        for label, mine in context.by_name(records).items():
            points = [
                (r.n, value, getattr(r, f"{field}_ci"))
                for r in mine
                if (value := getattr(r, f"{field}_s")) is not None
            ]
            _series(panel, context.label(label, mine), context.look[label], points)
            quoted = [
                (r.n, value)
                for r, found in context.quoted(mine)
                if (value := getattr(found, f"{field}_s")) is not None
            ]
            _hollow(panel, context.look[label], quoted)
            if points and field == "grad":
                n, value, _ = max(points)
                spoken.append(f"{label} {units.seconds(value)} at n = {n}")
    low = min(p.get_ylim()[0] for p in panels)
    high = max(p.get_ylim()[1] for p in panels)
    for panel in panels:
        panel.set_ylim(low, high)
    _finish(figure, panels, (r.n for r in records), "n")
    figure.suptitle(title)
    return Plot(name, title, f"Time of one gradient: {'; '.join(spoken)}.", figure)


def _ratios(name: str, title: str, records: list[Record], context: _Context) -> Plot:
    figure, (panel,) = _canvas(1)
    spoken = []
    for label, mine in context.by_name(records).items():
        points = [p for r in mine if (p := _ratio_point(r)) is not None]
        _series(panel, context.label(label, mine), context.look[label], points)
        quoted = [
            (r.n, found.grad_s / found.forward_s)
            for r, found in context.quoted(mine)
            if found.grad_s is not None and found.forward_s
        ]
        _hollow(panel, context.look[label], quoted)
        if points:
            n, value, _ = max(points)
            spoken.append(f"{label} {value:.2f} at n = {n}")
    panel.set_ylabel("gradient ÷ forward")
    _doublings(panel, lambda value: f"{value:g}", least=4)
    _finish(figure, [panel], (r.n for r in records), "n")
    shown = title.replace("Time", "Gradient ÷ forward", 1)
    figure.suptitle(shown)
    return Plot(name, shown, f"Gradient time over forward time: {'; '.join(spoken)}.", figure)


def _ratio_point(record: Record) -> Point | None:
    if record.grad_s is None or not record.forward_s:
        return None
    found = paired(record.grad_samples, record.forward_samples)
    if found is not None and found.low < found.high:
        return record.n, found.value, (found.low, found.high)
    return record.n, record.grad_s / record.forward_s, None


def _memory(joint: Joint, context: _Context) -> Iterator[Plot]:
    """One plot for each dtype, kind and axis, with a panel for each mathematics."""
    for dtype in dict.fromkeys(r.dtype for r in joint.records):
        records = [r for r in joint.records if r.dtype == dtype]
        for kind in memory_kinds(records):
            having = [r for r in records if kind in memory_of(r)]
            for axis in axes((r.n, r.K) for r in having):
                if len(axis.sizes) < 2:
                    continue
                title = f"Memory · {kind} · {dtype} · {axis.fixed}"
                here = [r for r in having if (r.n, r.K) in axis.sizes]
                figure, spoken = _memory_figure(kind, axis, here, context)
                figure.suptitle(title)
                name = re.sub(r"[^A-Za-z0-9]+", "-", title.lower())
                about = f"{kind}, {KINDS.get(kind, 'bytes of one gradient')}: {spoken}."
                yield Plot(name, title, about, figure)


def _memory_figure(
    kind: str, axis: Axis, records: list[Record], context: _Context
) -> tuple[Figure, str]:
    groups = list(dict.fromkeys(r.computes for r in records))
    figure, panels = _canvas(len(groups))
    spoken = []
    for panel, computes in zip(panels, groups, strict=True):
        panel.set_title(computes)
        members = [r for r in records if r.computes == computes]
        for label, mine in context.by_name(members).items():
            points = [(axis.of((r.n, r.K)), memory_of(r)[kind], None) for r in mine]
            _series(panel, context.label(label, mine), context.look[label], points)
            quoted = [
                (axis.of((r.n, r.K)), found.memory)
                for r, found in context.quoted(mine)
                if found.memory and found.memory_kind == kind
            ]
            _hollow(panel, context.look[label], quoted)
            place, value, _ = max(points)
            at = f"{axis.along} = {place}"
            spoken.append(f"{computes} {label} {units.byte_size(int(value))} at {at}")
        _doublings(panel, _bytes, least=4)
    low = min(p.get_ylim()[0] for p in panels)
    high = max(p.get_ylim()[1] for p in panels)
    for panel in panels:
        panel.set_ylim(low, high)
    _finish(figure, panels, (axis.of(s) for s in axis.sizes), axis.along)
    return figure, "; ".join(spoken)


def _bytes(value: float) -> str:
    number, unit = units.byte_size(round(value)).split()
    return f"{float(number):g} {unit}"


def _doublings(panel: Axes, text: Callable[[float], str], least: float) -> None:
    """A height in powers of two that spans a factor `least`, so that noise stays noise."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    panel.set_yscale("log", base=2)
    low, high = panel.get_ylim()
    if high < least * low:
        middle = math.sqrt(low * high)
        low, high = middle / math.sqrt(least), middle * math.sqrt(least)
    panel.set_ylim(low, high)
    panel.yaxis.set_major_locator(LogLocator(base=2, numticks=8))
    panel.yaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))


def _errors(joint: Joint, context: _Context) -> Iterator[Plot]:
    """Gradient error against the oracle, over all sizes, with the tolerance."""
    for computes, dtype in dict.fromkeys((r.computes, r.dtype) for r in joint.records):
        records = [
            r
            for r in joint.records
            if (r.computes, r.dtype) == (computes, dtype) and r.oracle_grad_error is not None
        ]
        if not records:
            continue
        figure, (panel,) = _canvas(1, wide=True)
        spoken = _error_points(panel, records, context)
        panel.set_ylabel("‖gradient − oracle‖₂ / ‖oracle‖₂")
        places = {_place(r): None for r in records}
        panel.set_xticks(range(len(places)), [f"n = {n}\nK = {K}" for n, K in sorted(places)])
        panel.set_xlim(-0.6, len(places) - 0.4)
        _legend(figure, [panel])
        title = f"Error against the oracle · {computes} · {dtype}"
        figure.suptitle(title)
        yield Plot(f"error-{computes}-{dtype}", title, f"Largest error: {spoken}.", figure)


def _place(record: Record) -> tuple[int, int]:
    return record.n, record.K


def _error_points(panel: Axes, records: list[Record], context: _Context) -> str:
    """Draw the points; what no logarithm can show is written at the edge.  Returns words."""
    places = {place: k for k, place in enumerate(sorted({_place(r) for r in records}))}
    finite = [r for r in records if math.isfinite(r.oracle_grad_error or 0)]
    positive = [r.oracle_grad_error for r in finite if r.oracle_grad_error]
    floor = min(positive, default=1e-17) / 10
    _scaled(panel, lambda value: f"{value:.0e}")
    panel.minorticks_off()
    spoken = []
    by_name = context.by_name(records)
    for k, (label, mine) in enumerate(by_name.items()):
        shift = 0.5 * ((k + 0.5) / len(by_name) - 0.5)
        style = context.look[label]
        good = [r for r in mine if math.isfinite(r.oracle_grad_error or 0)]
        panel.plot(
            [places[_place(r)] + shift for r in good],
            [r.oracle_grad_error or floor for r in good],
            linestyle="none", marker=style.marker, color=style.colour,
            label=context.label(label, mine),
        )  # fmt: skip
        for r in good:
            if r.oracle_grad_error == 0:
                panel.annotate("0", (places[_place(r)] + shift, floor), xytext=(0, 5),
                               textcoords="offset points", ha="center", fontsize=7)  # fmt: skip
        for r in mine:
            if r not in good:
                panel.annotate(
                    f"{label}: {units.relative(r.oracle_grad_error)}",
                    (places[_place(r)] + shift, 1), xycoords=("data", "axes fraction"),
                    rotation=90, va="top", ha="center", fontsize=7, color=style.colour,
                )  # fmt: skip
        worst = max((r.oracle_grad_error or 0.0 for r in good), default=math.nan)
        bad = any(r not in good or r.outcome is Outcome.MISMATCH for r in mine)
        spoken.append(f"{label} {units.relative(worst)}{' and a mismatch' if bad else ''}")
    allowed = {places[_place(r)]: r.tolerance for r in records if r.tolerance is not None}
    for k, (place, tolerance) in enumerate(sorted(allowed.items())):
        panel.hlines(tolerance, place - 0.4, place + 0.4, color=FAINT, linestyle="--",
                     label="allowed" if k == 0 else "_")  # fmt: skip
    return "; ".join(spoken)
