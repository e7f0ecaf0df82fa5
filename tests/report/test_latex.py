import re
import shutil
import subprocess

import pytest

from pyweanj.examples.gauss_seidel.example import example
from pyweanj.report import published, render
from pyweanj.report.latex import SPECIAL, escape
from tests.report import factory

RUNS = {"full": factory.full(sweep=(32, 256)), "troubled": factory.troubled()}


def tabulars(text):
    return re.findall(
        r"\\begin\{tabular\}\{@\{\}([lr]+)@\{\}\}(.*?)\\end\{tabular\}", text, re.DOTALL
    )


@pytest.mark.parametrize("run", RUNS)
def test_tables_are_rectangular_booktabs(run):
    text = render(RUNS[run], "latex", published=published(example))
    found = tabulars(text)
    assert len(found) == text.count(r"\begin{table}") >= 4
    for columns, body in found:
        assert body.count(r"\toprule") == body.count(r"\midrule") == body.count(r"\bottomrule") == 1
        for line in body.splitlines():
            if line.endswith(r"\\"):
                spans = sum(int(k) - 1 for k in re.findall(r"\\multicolumn\{(\d+)\}", line))
                assert len(re.findall(r"(?<!\\)&", line)) + 1 + spans == len(columns)


def test_figures_are_those_of_the_run_and_published_ones_are_marked():
    text = render(RUNS["full"], "latex", published=published(example))
    assert "0.105860373742" in text
    assert r"$6.409859\times10^{-4}$" in text
    assert re.search(r"published.*\\textit\{78\.6 ms\}", text)
    assert "published" not in render(RUNS["full"], "latex")


@pytest.mark.parametrize(
    "text", ['a_b & 50 % $x$ {y} #1 ~ ^ \\ <t> | "q"', "‖∇f‖₂ ≤ 1 µs ± 2 → ∞", "日本"]
)
def test_nothing_is_left_that_latex_would_read_as_markup(text):
    bare = escape(text)
    for replacement in sorted(SPECIAL.values(), key=len, reverse=True):
        bare = bare.replace(replacement, "")
    assert not re.search(r"[\\{}&%$#_~^<>|\"]", bare)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize("run", RUNS)
def test_latex_takes_it(run, tmp_path):
    body = render(RUNS[run], "latex", published=published(example))
    head = r"\documentclass{article}\usepackage[margin=2cm]{geometry}\usepackage{booktabs}"
    (tmp_path / "t.tex").write_text(
        f"{head}\n\\begin{{document}}\n{body}\n\\end{{document}}\n", encoding="utf-8"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
    assert "Missing character" not in (tmp_path / "t.log").read_text(errors="replace")
