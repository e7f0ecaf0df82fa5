import math
import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from pyweanj.examples.gauss_seidel.example import example
from pyweanj.records import Outcome
from pyweanj.report import published
from pyweanj.report.maps import gradient_maps, pooled, reference_of
from pyweanj.report.model import Names
from pyweanj.report.plots import plots, save_plots
from pyweanj.report.style import COLOURS, to_svg
from tests.report import factory


def drawn(joint, **given):
    return {plot.name: plot for plot in plots(joint, **given)}


def lines(plot, panel=0):
    """The data of every line of one panel, by label."""
    return {
        line.get_label(): line.get_xydata()
        for container in plot.figure.axes[panel].containers
        for line in [container.lines[0]]
        if line.set_label(container.get_label()) is None
    }


@pytest.fixture(scope="module")
def good():
    return drawn(factory.full(sweep=(32, 64, 128)), published=published(example))


def test_there_is_a_plot_of_each_kind(good):
    kinds = {name.partition("-")[0] for name in good}
    assert kinds == {"error", "time", "ratio", "memory"}
    along = {plot.figure.axes[0].get_xlabel() for name, plot in good.items() if "memory" in name}
    assert along == {"n", "K"}


def test_times_are_those_of_the_records_with_their_intervals(good):
    joint = factory.full(sweep=(32, 64, 128))
    plot = good["time-lexicographic-float64-K100"]
    want = {
        r.n: r
        for r in joint.records
        if r.system == "enzyme-cpp" and r.grad_s and "lexi" in r.variant
    }
    container = next(c for c in plot.figure.axes[1].containers if c.get_label() == "enzyme-cpp")
    line, _, (bars,) = container.lines
    assert dict(line.get_xydata()) == {n: r.grad_s for n, r in want.items()}
    for segment, r in zip(bars.get_segments(), want.values(), strict=True):
        np.testing.assert_allclose(segment[:, 1], r.grad_ci)
    for panel in plot.figure.axes:
        assert panel.get_xscale() == panel.get_yscale() == "log"


def test_published_figures_are_hollow_and_named_once(good):
    plot = good["time-lexicographic-float64-K100"]
    hollow = [
        line
        for line in plot.figure.axes[1].lines
        if line.get_fillstyle() == "none" and len(line.get_xydata())
    ]
    values = {round(float(y), 6) for line in hollow for y in line.get_ydata()}
    assert {0.078594, 3.718064} & values == set()  # n = 256 was not measured here
    assert {0.00414, 0.046664} <= values
    legend = [t.get_text() for t in plot.figure.legends[0].get_texts()]
    assert legend[-1] == "published, not measured"
    assert len(set(legend)) == len(legend)
    assert not any(
        "published" in t.get_text()
        for t in drawn(factory.full(sweep=(32, 64)))["time-lexicographic-float64-K100"]
        .figure.legends[0]
        .get_texts()
    )


def test_an_implementation_looks_the_same_everywhere(good):
    found = {}
    for plot in good.values():
        for panel in plot.figure.axes:
            for container in panel.containers:
                line = container.lines[0]
                look = (line.get_color(), line.get_marker())
                assert found.setdefault(container.get_label(), look) == look
    assert len(set(found.values())) == len(found)


def test_no_two_colours_are_alike_to_a_colour_blind_reader():
    """Machado, Oliveira & Fernandes 2009, severity 1: deuteranopia and protanopia."""
    deuteranopia = [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]
    protanopia = [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ]

    def linear(colour):
        rgb = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
        return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)

    for matrix in map(np.array, (deuteranopia, protanopia)):
        seen = [np.clip(matrix @ linear(c), 0, 1) ** (1 / 2.4) for c in COLOURS]
        for k, a in enumerate(seen):
            for b in seen[k + 1 :]:
                assert np.linalg.norm(a - b) > 0.1


def test_what_a_logarithm_cannot_show_is_written(tmp_path):
    plot = drawn(factory.wrong_on_disk(tmp_path))["error-lexicographic-float64"]
    texts = {t.get_text() for t in plot.figure.axes[0].texts}
    assert "enzyme: NaN" in texts
    assert "0" in texts
    assert "enzyme" in plot.about
    assert "and a mismatch" in plot.about


def test_a_wrong_implementation_is_marked_in_the_times():
    records = [
        factory.timed("jax", "lexicographic", n, outcome=Outcome.MISMATCH, verdict="wrong")
        for n in (32, 64)
    ]
    plot = drawn(factory.joint(records, []))["time-lexicographic-float64-K100"]
    assert [t.get_text() for t in plot.figure.legends[0].get_texts()] == ["jax (✗ wrong)"]


def test_the_map_of_a_wrong_gradient(tmp_path):
    joint = factory.wrong_on_disk(tmp_path)
    found = {m.record.system: m for m in gradient_maps(joint, tmp_path, Names.of(joint.records))}
    assert set(found) == {"jax", "enzyme"}
    left, right, error = (a for a in found["jax"].figure.axes[:3])
    np.testing.assert_array_equal(left.images[0].get_array(), right.images[0].get_array()[::-1])
    assert error.images[0].get_array().shape == (24, 17)
    assert "1 entry not finite" in found["enzyme"].about
    assert "the others equal" in found["enzyme"].about
    assert np.ma.getmaskarray(found["enzyme"].figure.axes[1].images[0].get_array())[3, 7]


def test_a_gradient_of_another_shape_is_said_to_be(tmp_path):
    joint = factory.wrong_on_disk(tmp_path)
    other = factory.wrong_on_disk(tmp_path / "b", shape=(17, 24)).records[1]
    joint.records[1].gradient = f"b/{other.gradient}"
    plot = next(iter(gradient_maps(joint, tmp_path, Names.of(joint.records))))
    assert "(17, 24) against (24, 17)" in plot.about


@pytest.mark.parametrize("damage", ["missing", "truncated"])
def test_a_gradient_that_cannot_be_read_costs_its_picture_only(tmp_path, damage):
    joint = factory.wrong_on_disk(tmp_path)
    path = tmp_path / str(joint.records[1].gradient)
    path.unlink() if damage == "missing" else path.write_bytes(path.read_bytes()[:500])
    found = list(gradient_maps(joint, tmp_path, Names.of(joint.records)))
    assert [m.record.system for m in found] == ["enzyme"]


def test_the_reference_is_the_oracle_then_who_is_right():
    wrong = factory.record("jax", verdict="wrong", gradient="a.h5")
    right = factory.record("enzyme", gradient="b.h5")
    oracle = factory.record("oracle", gradient="c.h5")
    elsewhere = factory.record("oracle", n=99, gradient="d.h5")
    assert reference_of(wrong, factory.joint([elsewhere, wrong, right, oracle], [])) is not None
    pick = reference_of(wrong, factory.joint([elsewhere, wrong, right], []))
    assert pick is not None
    assert pick.system == "enzyme"
    assert reference_of(wrong, factory.joint([elsewhere, wrong], [])) is None


def test_pooling_keeps_the_one_entry_that_is_wrong():
    values = np.zeros((1000, 777))
    values[612, 300] = -1.0
    values[5, 6] = math.nan
    small = pooled(values, signed=True)
    assert max(small.shape) <= 256
    assert np.nanmin(small) == -1.0
    assert np.isnan(small).sum() == 1


def test_files_are_valid_and_the_same_each_time(tmp_path):
    joint = factory.joint([factory.timed("jax", "lexicographic", n) for n in (32, 64)])
    first = save_plots(joint, tmp_path / "a")
    again = save_plots(joint, tmp_path / "b")
    assert {p.suffix for p in first} == {".svg", ".png"}
    for one, two in zip(first, again, strict=True):
        assert one.read_bytes() == two.read_bytes()
        if one.suffix == ".svg":
            ElementTree.fromstring(one.read_text(encoding="utf-8"))
        else:
            assert one.read_bytes().startswith(b"\x89PNG")


def test_inline_plots_take_the_colours_of_their_page_and_share_no_id(good):
    texts = [to_svg(p.figure, p.name, p.title, inline=True) for p in list(good.values())[:3]]
    ids = [i for text in texts for i in re.findall(r'\bid="([^"]+)"', text)]
    assert len(ids) == len(set(ids))
    for text in texts:
        ElementTree.fromstring(text)
        assert "currentColor" in text
        assert 'role="img"' in text
        for target in re.findall(r'(?:href="#|url\(#)([^")]+)', text):
            assert f'id="{target}"' in text


def test_labels_with_special_characters_are_text():
    records = [factory.record("a$b_<c>&", oracle_grad_error=1e-14)]
    plot = next(iter(drawn(factory.joint(records)).values()))
    ElementTree.fromstring(to_svg(plot.figure, plot.name, 'a "<&> title', inline=True))


def test_an_empty_run_has_no_plot():
    assert drawn(factory.joint([], [])) == {}


def test_importing_the_report_loads_no_plotting_library():
    code = (
        "import sys, pyweanj.report; "
        "print([m for m in ('matplotlib', 'jinja2', 'jax', 'juliacall', 'h5py', 'scipy') "
        "if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
