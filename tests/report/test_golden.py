"""Whole texts as they were last looked at.  PYWEANJ_UPDATE_GOLDEN=1 writes them anew."""

import os
from pathlib import Path

import pytest

from pyweanj.examples.gauss_seidel.example import example
from pyweanj.report import diff, difference_to_markdown, published, render
from tests.report import factory

GOLDEN = Path(__file__).parent / "golden"


def slowed():
    joint = factory.full(sweep=(32, 64))
    record = next(r for r in joint.records if r.grad_s is not None)
    assert record.grad_s is not None
    assert record.grad_ci is not None
    low, high = record.grad_ci
    record.grad_s, record.grad_ci = 1.3 * record.grad_s, (1.3 * low, 1.3 * high)
    return joint


TEXTS = {
    "full-80.txt": lambda: render(
        factory.full(sweep=(32, 256)), "table", published=published(example), width=80
    ),
    "full-120.txt": lambda: render(
        factory.full(sweep=(32, 256)), "table", published=published(example), width=120
    ),
    "troubled-80.txt": lambda: render(factory.troubled(), "table", width=80),
    "troubled.md": lambda: render(factory.troubled(), "markdown"),
    "diff.md": lambda: difference_to_markdown(diff(factory.full(sweep=(32, 64)), slowed())),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text(name):
    path, text = GOLDEN / name, TEXTS[name]()
    if os.environ.get("PYWEANJ_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text
