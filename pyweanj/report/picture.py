"""The joint table as a picture: what a terminal shows, as SVG."""

from __future__ import annotations

import io
import re
from collections import Counter

from rich.console import Console

from pyweanj.records import Joint
from pyweanj.report.quoted import Published
from pyweanj.report.terminal import print_table

__all__ = ["to_picture"]


def to_picture(joint: Joint, published: Published | None = None, width: int = 100) -> str:
    """An SVG of the table that `print_table` prints at `width` columns, of what fits a page.

    Memory is left out, and so are all timed sizes but one: the largest that most were timed at.
    It names no font that would have to be fetched: any fixed-width one will do.
    """
    console = Console(
        record=True,
        width=width,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
    )
    timed = Counter((r.n, r.K) for r in joint.records if r.grad_s is not None)
    most = max(timed.values(), default=0)
    size = max((size for size, count in timed.items() if count == most), default=None)
    shown = joint.model_copy(
        update={
            "records": [
                r.model_copy(update={"memory": {}, "peak_mem_bytes": None})
                for r in joint.records
                if ("check" in r.tasks and "time" not in r.tasks) or (r.n, r.K) == size
            ]
        }
    )
    print_table(shown, console, published)
    svg = console.export_svg(title=f"pyweanj compare {joint.example}")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace")
