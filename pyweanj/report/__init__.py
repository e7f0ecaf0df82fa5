"""What people look at: one report of a run, in every format, and the difference of two runs."""

from __future__ import annotations

from pyweanj.report.changes import difference_to_json, difference_to_markdown, print_difference
from pyweanj.report.diff import Change, Difference, diff
from pyweanj.report.files import write_files
from pyweanj.report.formats import FORMATS, render
from pyweanj.report.picture import to_picture
from pyweanj.report.plots import save_plots
from pyweanj.report.quoted import Published, published
from pyweanj.report.terminal import print_table

__all__ = [
    "FORMATS",
    "Change",
    "Difference",
    "Published",
    "diff",
    "difference_to_json",
    "difference_to_markdown",
    "print_difference",
    "print_table",
    "published",
    "render",
    "save_plots",
    "to_picture",
    "write_files",
]
