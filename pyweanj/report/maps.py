"""Where a wrong gradient is wrong: both gradients side by side, and the map of the error."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyweanj.inputs import InputsError, read_arrays
from pyweanj.records import Joint, Outcome, Record
from pyweanj.report import units
from pyweanj.report.model import Group, Names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["GradientMap", "gradient_maps", "pooled", "reference_of"]

PIXELS = 256
"""Longest side of a map in pixels; larger arrays are pooled."""


class GradientMap(NamedTuple):
    """The plot of one wrong gradient."""

    record: Record
    title: str
    about: str
    figure: Figure


def gradient_maps(joint: Joint, folder: Path, names: Names) -> Iterator[GradientMap]:
    """A plot for every wrong case whose gradient, and one to hold it against, are on disk."""
    for record in joint.records:
        wrong = record.verdict == "wrong" or record.outcome is Outcome.MISMATCH
        if not wrong or record.gradient is None:
            continue
        reference = reference_of(record, joint)
        if reference is None or reference.gradient is None:
            continue
        try:
            mine = read_arrays(folder / record.gradient)
            other = read_arrays(folder / reference.gradient)
        except InputsError:
            continue  # the verdict stands without a picture
        common = [name for name in other if name in mine]
        if common:
            yield _plot(record, reference, {n: (mine[n], other[n]) for n in common}, names)


def reference_of(record: Record, joint: Joint) -> Record | None:
    """What to hold a wrong case against: the oracle, else one that is right, else another."""
    others = [
        r
        for r in joint.records
        if Group.of(r) == Group.of(record) and r.gradient is not None and r.case != record.case
    ]
    for wanted in (
        lambda r: r.system == "oracle",
        lambda r: r.verdict == "right",
        lambda r: r.outcome is Outcome.OK,
        lambda _: True,
    ):
        for candidate in others:
            if wanted(candidate):
                return candidate
    return None


def _plot(
    record: Record,
    reference: Record,
    arrays: dict[str, tuple[np.ndarray, np.ndarray]],
    names: Names,
) -> GradientMap:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 2.4 * len(arrays) + 0.4), layout="constrained")
    panels = figure.subplots(len(arrays), 3, squeeze=False)
    spoken = []
    for row, (name, (mine, other)) in zip(panels, arrays.items(), strict=True):
        titles = (names.record(reference), names.record(record))
        spoken.append(f"{name}: {_row(row, name, mine, other, titles)}")
    title = f"Gradient of {names.full(record)} · {record.dtype} · n = {record.n} · K = {record.K}"
    figure.suptitle(title)
    about = f"Held against {names.full(reference)}. {' '.join(spoken)}"
    return GradientMap(record, title, about, figure)


def _row(
    panels: Any, name: str, mine: np.ndarray, other: np.ndarray, titles: tuple[str, str]
) -> str:
    """Both gradients and the error of one array; returns what is to be seen, in words."""
    size = float(np.max(np.abs(other), initial=0.0, where=np.isfinite(other)))
    limit = max(size, np.finfo(float).tiny)
    for panel, values, title in zip(panels[:2], (other, mine), titles, strict=True):
        panel.set_title(f"{title}: {name}")
        image = _draw(panel, np.real(values), "PuOr", (-limit, limit))
        if image is not None and panel is panels[1]:
            # Both share one scale, that of the reference.
            _bar(image, panels[:2], {-limit: f"{-limit:.1e}", 0.0: "0", limit: f"{limit:.1e}"})
    last = panels[2]
    if mine.shape != other.shape:
        last.set_axis_off()
        text = f"shapes differ:\n{mine.shape} against\n{other.shape}"
        last.text(0.5, 0.5, text, ha="center", va="center", transform=last.transAxes)
        return f"the shapes differ, {mine.shape} against {other.shape}."
    last.set_title("error ÷ max of left")
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(mine.astype(complex) - other) / limit
    image = _draw(last, error, "cividis", None)
    if image is not None:
        low, high = image.get_clim()
        powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
        step = max(1, len(powers) // 5)
        _bar(image, [last], {10.0**k: f"1e{k:+03d}" for k in powers[::step]})
    return _words(error)


def _words(error: np.ndarray) -> str:
    finite = np.isfinite(error)
    parts = []
    if not finite.all():
        bad = int((~finite).sum())
        parts.append(f"{bad} {'entry' if bad == 1 else 'entries'} not finite")
    if finite.any():
        filled = np.where(finite, error, -1.0)
        index = tuple(int(i) for i in np.unravel_index(int(np.argmax(filled)), error.shape))
        largest = float(filled[index])
        if largest == 0:
            return f"{', '.join([*parts, 'the others' if parts else 'all'])} equal."
        share = 100 * float(np.mean(filled > 0.01 * largest))
        parts.append(f"largest error {units.relative(largest)} at {list(index)}")
        parts.append(f"{share:.1f} % of entries above a hundredth of it")
    return f"{', '.join(parts)}."


def _bar(image: Any, panels: Any, ticks: dict[float, str]) -> None:
    """A scale beside `panels`."""
    bar = image.figure.colorbar(image, ax=list(panels), shrink=0.9, pad=0.02)
    bar.set_ticks(list(ticks), labels=list(ticks.values()))
    bar.minorticks_off()


def _draw(panel: Axes, values: np.ndarray, colours: str, limits: tuple[float, float] | None) -> Any:
    """A vector as a line (returns None), anything else as a map (returns the image).

    What is not finite stands out.
    """
    import matplotlib as mpl
    from matplotlib.colors import LogNorm, Normalize

    values = np.atleast_1d(np.asarray(values, dtype=float))
    if values.ndim == 1:
        panel.plot(values, marker="." if values.size < 60 else "", color="#0072B2", linewidth=1)
        for k in np.flatnonzero(~np.isfinite(values)):
            panel.axvline(float(k), color="#D55E00", linewidth=1)
        panel.set_xlabel("index")
        return None
    flat = values.reshape(values.shape[0], -1)
    rows, columns = flat.shape
    shown = pooled(flat, signed=limits is not None)
    norm: Normalize
    if limits is not None:
        norm = Normalize(*limits)
    else:
        positive = shown[np.isfinite(shown) & (shown > 0)]
        top = float(positive.max()) if positive.size else 1.0
        low = max(float(positive.min()) if positive.size else 0.0, top * 1e-17)
        norm = LogNorm(min(low, top / 10), top)
        shown = np.where(shown <= 0, min(low, top / 10), shown)
    panel.grid(visible=False)
    return panel.imshow(
        shown,
        cmap=mpl.colormaps[colours].with_extremes(bad="#D55E00"),
        norm=norm,
        interpolation="nearest",
        aspect="equal" if max(rows, columns) <= 4 * min(rows, columns) else "auto",
        extent=(-0.5, columns - 0.5, rows - 0.5, -0.5),
    )


def pooled(values: np.ndarray, *, signed: bool, pixels: int = PIXELS) -> np.ndarray:
    """`values` (2-d) with at most `pixels` a side: of each block the entry of largest size.

    The largest, not the mean: one wrong entry among a million must stay visible.  A block
    that holds NaN or Inf is NaN.
    """
    strides = [-(-size // pixels) for size in values.shape]
    if max(strides) == 1:
        return np.where(np.isfinite(values), values, np.nan)
    padding = [(0, -size % stride) for size, stride in zip(values.shape, strides, strict=True)]
    filled = np.pad(values, padding, mode="edge")
    rows, columns = (size // stride for size, stride in zip(filled.shape, strides, strict=True))
    blocks = filled.reshape(rows, strides[0], columns, strides[1]).swapaxes(1, 2)
    blocks = blocks.reshape(rows, columns, -1)
    largest = np.argmax(np.where(np.isfinite(blocks), np.abs(blocks), -1.0), axis=2)
    chosen = np.take_along_axis(blocks, largest[..., None], axis=2)[..., 0]
    if not signed:
        chosen = np.abs(chosen)
    return np.where(np.isfinite(blocks).all(axis=2), chosen, np.nan)
