"""How plots look: one colour, marker and dash for each implementation, in every plot."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import AbstractContextManager
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

from pyweanj.report.model import Names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pyweanj.records import Record

__all__ = ["FAINT", "INK", "Look", "drawing", "looks", "to_png", "to_svg"]

#: Stands for the colour of text: in SVG it becomes that of the surrounding page.
INK = "#010101"
FAINT = "#808080"

# M. Okabe and K. Ito, "Color Universal Design", 2008, without the yellow, which is too
# light for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")

RC: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "figure.constrained_layout.use": True,
    "figure.dpi": 150,
    "figure.titlesize": 10,
    "font.family": "sans-serif",
    "font.size": 9,
    "grid.alpha": 0.25,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "lines.markersize": 5,
    "svg.fonttype": "none",
    "svg.hashsalt": "pyweanj",
    "text.color": INK,
    # A label is text, also where it holds a dollar sign.
    "text.parse_math": False,
    "xtick.color": INK,
    "ytick.color": INK,
}


class Look(NamedTuple):
    """One implementation in a plot."""

    colour: str
    marker: str
    dash: str


def looks(records: Iterable[Record], names: Names) -> dict[str, Look]:
    """By short name: colours by order of appearance, so that no two of the first 7 share one."""
    found: dict[str, Look] = {}
    for name in dict.fromkeys(names.record(record) for record in records):
        k = len(found)
        found[name] = Look(
            COLOURS[k % len(COLOURS)],
            MARKERS[k % len(MARKERS)],
            DASHES[k // len(COLOURS) % len(DASHES)],
        )
    return found


def drawing() -> AbstractContextManager[None]:
    """The context in which every plot is drawn and saved."""
    import matplotlib as mpl

    return mpl.rc_context(RC)


def to_png(figure: Figure) -> bytes:
    """The plot on white, 150 dots per inch."""
    out = BytesIO()
    with drawing():
        figure.savefig(out, format="png", dpi=150, facecolor="white", metadata={"Software": None})
    return out.getvalue()


def to_svg(figure: Figure, name: str, title: str, *, inline: bool = False) -> str:
    """The plot as an SVG document, or as an element of a page.

    Parameters
    ----------
    name
        Letters, digits and hyphens: put before each id, so that several plots may share a page.
    title
        What the plot shows, for those who cannot see it.
    inline
        In the colours of the page around it and without an XML head.
    """
    out = StringIO()
    with drawing():
        figure.savefig(
            out, format="svg", facecolor="none" if inline else "white", metadata={"Date": None}
        )
    text = out.getvalue()
    if not inline:
        return text
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'href="#', f'href="#{name}-', text)
    text = text.replace("url(#", f"url(#{name}-").replace(INK, "currentColor")
    label = title.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
