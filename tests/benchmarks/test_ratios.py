import json
import subprocess
import sys
from pathlib import Path

import pytest

from pyweanj.records import Joint, Outcome, Record
from pyweanj.store import read_joint
from tests.helpers import write_example

FOLDER = Path(__file__).parents[2] / "benchmarks"
PERFORMANCE = FOLDER.parent / "docs" / "performance.md"


def _record(system, n, forward, gradient):
    median = sorted(gradient)[len(gradient) // 2]
    return Record(
        example="e",
        system=system,
        variant="v",
        computes="v",
        device="cpu",
        dtype="float64",
        n=n,
        K=1,
        N=1,
        outcome=Outcome.OK,
        grad_s=median,
        forward_samples=forward,
        grad_samples=gradient,
    )


def test_widest_ratio_of_a_run(ratios):
    steady = [1.0, 1.001, 0.999, 1.0, 1.001, 1.0]
    rough = [3.0, 2.0, 4.0, 3.0, 2.5, 3.5, 3.0]
    records = [
        _record("a", 64, steady, steady),
        _record("b", 64, [1.0] * 7, rough),
        _record("c", 32, steady, rough),  # too small to count
    ]
    widths = ratios.half_widths(Joint(example="e", environment={}, records=records, pairs=[]))
    assert len(widths) == 3
    worst = max(widths, key=widths.get)
    assert worst.startswith("b v")
    assert widths[worst] > 0.1
    assert min(widths.values()) < 0.002


def test_command_prints_the_rows_as_json():
    command = [sys.executable, str(FOLDER / "ratios.py"), "--only", "start-up", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = json.loads(done.stdout)["rows"]
    assert [row["figure"] for row in rows] == ["pyweanj --help", "import pyweanj"]
    for row in rows:
        assert {"figure", "value", "low", "high", "goal", "holds"} <= row.keys()
        assert 0 < row["low"] <= row["value"] <= row["high"]
        assert row["holds"] == (row["value"] <= 0.3)
    assert done.returncode == int(any(not row["holds"] for row in rows))


@pytest.mark.parametrize(
    ("phases", "seconds"),
    [
        ({"trace_s": 1.0, "lower_s": 2.0, "compile_s": 4.0, "first_call_s": 8.0}, 15.0),
        ({"trace_s": 1.0, "lower_s": 2.0, "compile_s": 4.0}, 7.0),
        # A first call that compiles holds its compilation: that counts once, the model not at all.
        ({"model_s": 1.0, "compile_s": 3.0, "first_call_s": 4.0}, 4.0),
        ({"first_call_s": 0.5}, 0.5),
        ({}, 0.0),
    ],
)
def test_seconds_of_compiling(ratios, phases, seconds):
    assert ratios.compiling(phases) == seconds


def test_figures_of_a_run_are_those_of_its_records(ratios, tmp_path):
    example = write_example(tmp_path / "scaled")
    folder = tmp_path / "run"
    options = {"systems": ("jax",), "devices": ("cpu",), "sizes": (64,), "sweeps": (3,)}
    width, wall = ratios.run_rows(str(example), folder, **options)
    joint = read_joint(folder)
    assert {record.case.n for record in joint.records} == {64}
    assert len(joint.records) == 2
    assert width.figure == "interval half-width of a ratio at n ≥ 64 in a default run"
    assert width.value == max(ratios.half_widths(joint).values())
    assert width.holds == (width.value <= 0.05)
    assert wall.figure == "wall time of compare --no-check ÷ (timed calls + compiles)"
    kept = ratios.sampled(joint)
    assert kept == pytest.approx(
        sum(
            sum(r.grad_samples) * r.grad_calls + sum(r.forward_samples) * r.forward_calls
            for r in joint.records
        )
    )
    total, timed, said, compiles = (
        float(word) for word in wall.note.replace(";", "").split() if word[0].isdigit()
    )
    assert said == pytest.approx(kept, abs=0.06)
    assert 0 < said <= timed < total
    assert wall.value == pytest.approx(total / (timed + compiles), rel=0.2)
    assert wall.value > 1


def test_run_in_which_nothing_was_timed_has_no_figures(ratios, tmp_path):
    example = write_example(tmp_path / "scaled", model="loss = other_loss = None\n")
    options = {"systems": ("jax",), "devices": ("cpu",), "sizes": (64,)}
    for row in ratios.run_rows(str(example), tmp_path / "run", **options):
        assert (row.value, row.holds) == (None, None)
        assert "nothing was timed" in row.note


def test_page_of_the_measured_table_has_its_markers(rows):
    before, after = rows.split_at_markers(PERFORMANCE.read_text(encoding="utf-8"))
    assert before
    assert after


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--markdown", "page.md"], "is there 0 times"),
        (["--markdown", "nowhere.md"], "No such file"),
        (["--markdown", "page.md", "--only", "start-up"], "leave out --only"),
        (["--markdown", "page.md", "--json"], "not allowed with"),
    ],
)
def test_page_that_cannot_take_the_table_is_told_before_measuring(
    ratios, tmp_path, monkeypatch, capsys, arguments, said
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ratios, "FIGURES", {"start-up": pytest.fail})
    Path("page.md").write_text("no markers\n")
    with pytest.raises(SystemExit) as ended:
        ratios.main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert Path("page.md").read_text() == "no markers\n"


def test_command_writes_the_measured_table_into_the_page(ratios, rows, tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(f"Before.\n{rows.BEGIN}\n{rows.END}\nAfter.\n", encoding="utf-8")

    def measured(_lab):
        yield rows.Row("x ÷ y", 1.5, 1.4, 1.6, "≤ 2", True)
        yield rows.Row("x ÷ z", 2.5, 2.4, 2.6, "≤ 2", False)

    monkeypatch.setattr(ratios, "FIGURES", {"made-up": measured})
    assert ratios.main(["--markdown", str(page)]) == 1
    text = page.read_text(encoding="utf-8")
    assert text.startswith("Before.\n")
    assert text.endswith("After.\n")
    assert "| x ÷ y | 1.5 | 1.4–1.6 | ≤ 2 | yes |  |" in text
    assert "| x ÷ z | 2.5 | 2.4–2.6 | ≤ 2 | no |  |" in text
    assert f"Python {sys.version.split()[0]}, JAX " in text


def test_every_variant_that_is_measured_exists(ratios):
    """A misspelt one would only be a row without a value."""
    asked = set()

    class Recorder:
        folder = Path()

        def prepare(self, system, variant, size, **_options):
            asked.add((system, variant))
            raise ratios.Missing("only asked")

    lab = Recorder()
    for figures in (ratios.lexicographic, ratios.red_black):
        assert all(row.value is None for row in figures(lab))
    example = ratios.catalogue.load(ratios.EXAMPLE)
    assert len(asked) == 7
    for system, variant in asked:
        assert system in example.variant(variant).systems
