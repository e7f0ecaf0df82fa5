import json

import pytest

MACHINE = {
    "time": "2030-01-02T03:04:05+00:00",
    "cpu": "Some Processor",
    "cores": 8,
    "kernel": "Linux 7.0",
    "threads": 1,
    "bound_to": [7],
    "versions": {"Python": "3.11.1", "Julia": None},
    "warnings": [],
}
PAGE = "# Title\n\nBefore.\n\n{}\nold | table\n{}\n\nAfter.\n"


@pytest.fixture
def table(rows):
    return [
        rows.Row("gradient ÷ forward", 1.9, 1.8, 2.0, "≤ 2", True, "a | b"),
        rows.Row("start", 0.4, None, None, "≤ 0.3 s", False),
        rows.Row("with Julia", None, None, None, "≤ 2", None, "no Julia"),
        rows.Row("bounded", 600.0, 600.0, None, "≥ 900", None, "at least"),
    ]


@pytest.mark.parametrize(
    ("most", "least", "value", "holds", "text"),
    [
        (2.0, None, 1.9, True, "≤ 2"),
        (2.0, None, 2.0, True, "≤ 2"),
        (2.0, None, 2.01, False, "≤ 2"),
        (2.0, None, float("nan"), False, "≤ 2"),
        (1.02, 0.98, 1.0, True, "0.98–1.02"),
        (1.02, 0.98, 0.97, False, "0.98–1.02"),
        (1.02, 0.98, 1.03, False, "0.98–1.02"),
        (None, 500.0, 500.0, True, "≥ 500"),
        (None, 500.0, 499.0, False, "≥ 500"),
        (None, 500.0, float("nan"), False, "≥ 500"),
    ],
)
def test_goal(rows, most, least, value, holds, text):
    row = rows.Goal(most, least).row("x", value, None)
    assert (row.holds, row.goal) == (holds, text)


def test_what_is_missing_neither_holds_nor_fails(rows):
    row = rows.Goal(2.0).missing("x", "no Julia")
    assert (row.value, row.holds) == (None, None)
    assert rows.cells(row) == ["x", "–", "", "≤ 2", "not measured", "no Julia"]


def test_json(rows, table):
    found = json.loads(rows.as_json(table, MACHINE))
    assert found["machine"] == MACHINE
    assert [row["holds"] for row in found["rows"]] == [True, False, None, None]
    assert found["rows"][0]["low"] == 1.8
    assert found["rows"][2]["value"] is None


def test_table_on_a_page_of_any_width(rows, table, capsys):
    rows.print_table(table)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(table)
    for line, row in zip(lines[1:], table, strict=True):
        for cell in rows.cells(row):
            assert cell in line


def test_table_is_put_between_the_markers_alone(rows, table, tmp_path):
    file = tmp_path / "page.md"
    file.write_text(PAGE.format(rows.BEGIN, rows.END), encoding="utf-8")
    rows.replace_table(file, rows.as_markdown(table, MACHINE))
    once = file.read_text(encoding="utf-8")
    assert once.startswith("# Title\n\nBefore.\n\n" + rows.BEGIN)
    assert once.endswith(rows.END + "\n\nAfter.\n")
    assert "old | table" not in once
    assert "Measured 2030-01-02T03:04:05+00:00 on Some Processor, 8 cores, Linux 7.0." in once
    assert "Every worker had 1 thread and was bound to core 7." in once
    assert "Python 3.11.1, Julia none." in once
    assert "| gradient ÷ forward | 1.9 | 1.8–2 | ≤ 2 | yes | a \\| b |" in once
    assert "| start | 0.4 |  | ≤ 0.3 s | no |  |" in once
    assert "| with Julia | – |  | ≤ 2 | not measured | no Julia |" in once
    assert "| bounded | 600 |  | ≥ 900 | not settled | at least |" in once
    rows.replace_table(file, rows.as_markdown(table, MACHINE))
    assert file.read_text(encoding="utf-8") == once
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]


def test_warnings_stand_above_the_table(rows, table):
    text = rows.as_markdown(table, {**MACHINE, "warnings": ["core 7 is busy"]})
    assert "- core 7 is busy" in text
    assert "Nothing was seen" not in text
    assert "Nothing was seen" in rows.as_markdown(table, MACHINE)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no marker", "0 times"),
        ("{begin}", "0 times"),
        ("{begin} {end} {begin}", "2 times"),
        ("{end} {begin}", "before"),
    ],
)
def test_page_without_its_markers_stays_as_it_is(rows, tmp_path, text, said):
    file = tmp_path / "page.md"
    file.write_text(text.format(begin=rows.BEGIN, end=rows.END))
    before = file.read_text()
    with pytest.raises(ValueError, match=said):
        rows.replace_table(file, "table")
    assert file.read_text() == before


def test_about_names_what_a_time_depends_on(rows):
    found = rows.about([3])
    assert found["bound_to"] == [3]
    assert set(found["versions"]) == {
        "Python",
        "JAX",
        "jaxlib",
        "enzyme-ad",
        "Julia",
        "Enzyme.jl",
    }
    assert found["versions"]["JAX"]
    assert rows.about(None)["bound_to"] is None
