"""The report of a run as files in its folder, beside ``joint.json``."""

from __future__ import annotations

from pathlib import Path

from pyweanj.records import Joint
from pyweanj.report.formats import render
from pyweanj.report.quoted import Published
from pyweanj.store import Run

__all__ = ["FILES", "write_files"]

#: Each file of a run's folder that is a rendering of ``joint.json``.
FILES = {"joint.csv": "csv", "joint.md": "markdown", "report.html": "html"}


def write_files(joint: Joint, folder: Path, published: Published | None = None) -> None:
    """Write every file of `FILES` into `folder`, each complete or not at all."""
    run = Run(folder)
    for name, form in FILES.items():
        run.write(name, render(joint, form, published=published, folder=folder))
