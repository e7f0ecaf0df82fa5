"""One door to every format."""

from __future__ import annotations

from pathlib import Path

from pyweanj.records import Joint
from pyweanj.report.flat import to_csv, to_json
from pyweanj.report.html import to_html
from pyweanj.report.latex import to_latex
from pyweanj.report.markdown import to_markdown
from pyweanj.report.quoted import Published
from pyweanj.report.terminal import plain_text

__all__ = ["FORMATS", "render"]

FORMATS = ("table", "json", "csv", "markdown", "latex", "html")


def render(
    joint: Joint,
    form: str,
    *,
    published: Published | None = None,
    width: int | None = None,
    folder: Path | None = None,
) -> str:
    """The report of `joint` as text, ending in a newline.

    Parameters
    ----------
    form
        One of `FORMATS`.  ``json`` and ``csv`` are for programs: they hold what was measured,
        all of it, and never what was published.
    published
        Figures to show beside the measured ones, marked as published.
    width
        Columns of ``table``; default 100.
    folder
        Of the run, for ``html``: where gradients are, for the maps of wrong ones.

    Raises
    ------
    ValueError
        There is no such format.
    """
    match form:
        case "table":
            return plain_text(joint, published, width=width or 100)
        case "json":
            return to_json(joint)
        case "csv":
            return to_csv(joint)
        case "markdown":
            return to_markdown(joint, published)
        case "latex":
            return to_latex(joint, published)
        case "html":
            return to_html(joint, published, folder)
    raise ValueError(f"no format {form!r} (there are: {', '.join(FORMATS)})")
