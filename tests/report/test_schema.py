from pathlib import Path

import pytest

from pyweanj.records import Figure, Joint, Outcome, Pair, Record
from pyweanj.report.schema import OUTCOMES, schema_markdown

PAGE = Path(__file__).parents[2] / "docs" / "schema.md"


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == schema_markdown(), (
        "run: python -m pyweanj.report.schema > docs/schema.md"
    )


@pytest.mark.parametrize("model", [Joint, Record, Pair, Figure])
def test_every_field_is_documented(model):
    undocumented = [name for name, field in model.model_fields.items() if not field.description]
    assert undocumented == []


def test_every_outcome_is_explained():
    assert set(OUTCOMES) == set(Outcome)
