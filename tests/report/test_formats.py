import csv
import io
import json
import math
import re

import pytest
from rich.console import Console

from pyweanj.examples.gauss_seidel.example import example
from pyweanj.records import Joint, Outcome, Record
from pyweanj.report import FORMATS, Published, print_table, published, render
from tests.report import factory

RUNS = {
    "full": factory.full(sweep=(32, 256)),
    "troubled": factory.troubled(),
    "empty": factory.joint([], []),
    "one": factory.joint([factory.record("jax")]),
}
PUBLISHED = published(example)


def columns(text: str) -> int:
    return max((len(line) for line in text.splitlines()), default=0)


# The page of a full run takes seconds to draw: tests/report/test_html.py has one.
@pytest.mark.parametrize(
    ("run", "form"), [(r, f) for r in RUNS for f in FORMATS if (r, f) != ("full", "html")]
)
def test_every_format_shows_every_run(run, form):
    text = render(RUNS[run], form, published=PUBLISHED)
    assert text.endswith("\n")
    assert "None" not in text.replace("NoneType", "")


def test_an_unknown_format_names_those_there_are():
    with pytest.raises(ValueError, match=r"no format 'yaml'.*json, csv, markdown"):
        render(RUNS["one"], "yaml")


@pytest.mark.parametrize("run", RUNS)
def test_json_reads_back_the_same(run):
    text = render(RUNS[run], "json", published=PUBLISHED)
    json.loads(text, parse_constant=pytest.fail)  # no bare NaN or Infinity
    back = Joint.model_validate_json(text)
    assert repr(back) == repr(RUNS[run])  # repr: NaN differs from itself


def test_csv_has_one_row_a_record_and_loses_nothing():
    joint = RUNS["troubled"]
    rows = list(csv.DictReader(io.StringIO(render(joint, "csv"))))
    assert len(rows) == len(joint.records)
    assert list(rows[0]) == list(Record.model_fields)
    for row, record in zip(rows, joint.records, strict=True):
        assert row["outcome"] == record.outcome.value
        assert row["message"] == record.message
        assert row["log"] == (record.log or "")
        if record.loss is None:
            assert row["loss"] == ""
        else:
            loss = float(row["loss"])
            assert loss == record.loss or (math.isnan(loss) and math.isnan(record.loss))
        assert len(json.loads(row["proofs"])) == len(record.proofs)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_formats_for_programs_never_hold_published_figures(form):
    joint = RUNS["full"]
    assert render(joint, form, published=PUBLISHED) == render(joint, form)


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_published_figures_are_marked_wherever_they_stand(form):
    plain = render(RUNS["full"], form)
    text = render(RUNS["full"], form, published=PUBLISHED)
    known = {" ".join(line.split()) for line in plain.splitlines()}
    added = [line for line in text.splitlines() if " ".join(line.split()) not in known]
    assert "published" not in plain
    # 78.6 ms is Enzyme's published lexicographic gradient at n = 256, 3.72 s JAX's.
    assert any("78.6 ms" in line and "published" in line for line in added)
    assert any("3.72 s" in line and "published" in line for line in added)
    for line in added:
        if re.search(r"\d (µs|ms|s|KiB|MiB)\b", line):
            assert "published" in line


def test_published_check_figures_stand_at_their_own_size_only():
    other = factory.joint([factory.record("jax", n=33)])
    assert "published" not in render(other, "markdown", published=PUBLISHED)
    single = factory.joint([factory.record("jax", dtype="float32")])
    assert "published" not in render(single, "markdown", published=PUBLISHED)


@pytest.mark.parametrize("bad", [{"records": [{"system": "jax"}]}, {"check": {"a": {"loss": []}}}])
def test_damaged_published_figures_are_refused(bad):
    with pytest.raises(ValueError, match="published figures"):
        Published.parse(bad)


def test_check_figures_are_printed_to_the_digits_of_the_seeds():
    text = render(RUNS["full"], "table", width=80)
    for figure in ("0.105860373742", "0.105843754705", "6.409859e-04", "6.366981e-04"):
        assert figure in text


@pytest.mark.parametrize("width", [80, 100, 120, 200])
@pytest.mark.parametrize("run", RUNS)
def test_the_table_keeps_to_its_width(run, width):
    assert columns(render(RUNS[run], "table", published=PUBLISHED, width=width)) <= width


@pytest.mark.parametrize("run", RUNS)
def test_no_figure_is_broken_at_80_columns(run):
    """A number is on one line with its unit."""
    text = render(RUNS[run], "table", published=PUBLISHED, width=80)
    assert not re.search(r"^\s*(µs|ms|MiB|KiB|e-\d\d)\b", text, flags=re.MULTILINE)


def test_all_that_went_wrong_is_said_once_with_its_remedy():
    text = " ".join(render(RUNS["troubled"], "table", width=300).split())
    assert "The run was interrupted" in text
    for words in (
        "constant factor 2",
        "look for a term that is counted twice",
        "crashed (signal 9)",
        "no answer after 60 s",
        "compile error",
        "runtime error",
        "unsupported",
        "predicted gradient time above the budget of 5 s",
        "theta[3, 7]",
        "logs/jax-cpu.log",
    ):
        assert words in text
    # Both variants that need Julia share one line.
    assert text.count("no Julia was found") == 1
    assert text.count("run: pyweanj setup") == 1


def test_a_wrong_gradient_is_never_the_fastest():
    fast_but_wrong = factory.timed(
        "enzyme-cpp", "lexicographic", 64, verdict="wrong", outcome=Outcome.MISMATCH
    )
    right = factory.timed("jax", "lexicographic", 64)
    text = render(factory.joint([fast_but_wrong, right], []), "markdown")
    starred = [line for line in text.splitlines() if line.startswith("|") and "★" in line]
    assert len(starred) == 1
    assert "jax" in starred[0]
    assert "✗ wrong" in text


def test_a_difference_within_the_noise_is_not_called_one():
    def run(scale: float) -> str:
        samples = [0.01 * (1 + 0.2 * ((k * 7919) % 13 - 6) / 6) for k in range(15)]
        left = factory.timed("jax", "lexicographic", 64, grad_s=0.01, grad_samples=samples)
        shifted = [scale * s for s in reversed(samples)]
        right = factory.timed(
            "enzyme", "lexicographic", 64, grad_s=0.01 * scale, grad_samples=shifted
        )
        return render(factory.joint([left, right], []), "markdown")

    assert "≈" in run(1.03)
    assert "≈" not in run(3.0)


def test_memory_kinds_are_never_in_one_table():
    text = render(RUNS["full"], "markdown")
    titles = [line for line in text.splitlines() if line.startswith("## Memory")]
    kinds = {title.split("·")[1].strip() for title in titles}
    assert kinds == {"rss\\_peak", "xla\\_temp"}
    block = text.split("## Memory · xla\\_temp")[1].split("## ")[0]
    assert "enzyme" not in block


def test_memory_against_sweeps_says_how_it_grows():
    def records(growth: int) -> list[Record]:
        kept = {"n": 256, "tasks": ["memory"]}
        return [
            factory.record("jax", K=K, memory={"xla_temp": 10_000_000 + growth * K}, **kept)
            for K in (10, 100, 1000)
        ]

    assert "| flat |" in render(factory.joint(records(0), []), "markdown")
    linear = render(factory.joint(records(524_288), []), "markdown")
    assert "linear, 512 KiB a step" in linear


def test_markdown_cannot_be_broken_by_a_message():
    text = render(RUNS["troubled"], "markdown")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    for row in rows:
        assert row.endswith("|")
    assert "with a pipe, \\`ticks\\` and \\<tags\\>" in text
    assert "message \\| with" in text


def test_markdown_tables_are_rectangular():
    for run in RUNS.values():
        for block in re.findall(r"(?:^\|.*\n)+", render(run, "markdown"), flags=re.MULTILINE):
            cells = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            assert len(cells) == 1


def test_a_thousand_rows():
    records = [
        factory.timed("jax", "lexicographic", n, K) for n in range(2, 252) for K in (1, 2, 3, 4)
    ]
    joint = factory.joint(records, [])
    assert len(records) == 1000
    assert render(joint, "csv").count("\n") == 1001
    text = render(joint, "table", width=80)
    assert columns(text) <= 80
    # Many sizes stand below each other, each figure whole.
    assert re.search(r"^ *251 +39\.6 MiB$", text, flags=re.MULTILINE)


def test_a_console_without_unicode_gets_ascii():
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    console = Console(file=out, width=80)
    for run in RUNS.values():
        print_table(run, console, PUBLISHED)  # raises UnicodeEncodeError where it fails
    out.flush()
    text = out.buffer.getvalue().decode("ascii")
    assert "+ right" in text
    assert "435 us" in text
    assert "?" not in text.replace("? unproven", "").replace("? red-black-loops", "")


@pytest.mark.parametrize("terminal", [True, False])
def test_colour_is_for_terminals_alone(terminal):
    out = io.StringIO()
    console = Console(
        file=out, width=80, force_terminal=terminal, color_system="standard" if terminal else "auto"
    )
    print_table(RUNS["troubled"], console)
    assert ("\x1b[" in out.getvalue()) is terminal


def test_all_proofs_are_printed_when_asked_for():
    out = io.StringIO()
    print_table(RUNS["troubled"], Console(file=out, width=160), explain=True)
    assert "Taylor rate" in out.getvalue()
    assert "quadratic loss: exact" in out.getvalue()
    assert "theta[3, 7] interior" in out.getvalue()
    assert "quadratic loss: exact" not in render(RUNS["troubled"], "table")


def test_the_oracle_alone_at_a_timing_size_is_no_check():
    records = [
        factory.record("jax"),
        factory.record("oracle"),
        factory.record("oracle", n=512, K=100),
        factory.timed("jax", "lexicographic", 512),
    ]
    text = render(factory.joint(records), "markdown")
    assert "Check · lexicographic · float64 · n = 32" in text
    assert "Check · lexicographic · float64 · n = 512" not in text


def test_devices_are_told_apart_only_where_there_are_several():
    alone = render(factory.joint([factory.record("jax")]), "markdown")
    assert "jax cpu" not in alone
    both = render(
        factory.joint([factory.record("jax"), factory.record("jax", device="gpu")]), "markdown"
    )
    assert "jax cpu" in both
    assert "jax gpu" in both
