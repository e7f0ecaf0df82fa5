import re
from html.parser import HTMLParser

import pytest

from pyweanj.examples.gauss_seidel.example import example
from pyweanj.report import published, render
from tests.report import browser, factory

needs_browser = pytest.mark.skipif(not browser.available(), reason=browser.MISSING)
VOID = {"meta", "input", "br", "link", "hr", "img"}


class Outline(HTMLParser):
    """Checks nesting; gathers ids, targets, addresses and headings."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.targets, self.addresses, self.levels = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name in ("aria-labelledby", "for"):
                self.targets.append(value)
            elif name in ("href", "src", "xlink:href"):
                self.addresses.append(value)
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def wrong_page(folder):
    wrong = factory.wrong_on_disk(folder)
    troubled = factory.troubled()
    records = [*wrong.records, *troubled.records[4:], *factory.full(sweep=(32, 128)).records[2:]]
    joint = factory.joint(records, wrong.pairs, complete=False)
    return render(joint, "html", published=published(example), folder=folder)


def test_the_page_is_well_formed_and_whole(wrong_page):
    page = Outline(wrong_page)
    assert len(page.ids) == len(set(page.ids))
    for target in page.targets:
        assert target in page.ids
    # Nothing is fetched: every address lies inside the page.
    for address in page.addresses:
        assert address.startswith(("#", "data:image/png;base64,"))
        if address.startswith("#"):
            assert address[1:] in page.ids
    assert page.levels[0] == 1
    assert all(b - a <= 1 for a, b in zip(page.levels, page.levels[1:], strict=False))
    assert "default-src 'none'" in wrong_page


def test_verdicts_come_first_and_every_wrong_one_has_its_diagnosis(wrong_page):
    names = ("verdicts", "wrong", "problems", "pairs", "time", "memory", "records", "environment")
    order = [wrong_page.index(f'<section id="{name}"') for name in names]
    assert order == sorted(order)
    part = wrong_page[order[1] : order[2]]
    assert "flipped axis 0 (residual 0 after undoing it)" in part
    assert "NaN at theta[3, 7]" in part
    assert "look at the order of the axes" in part
    assert part.count("<svg") == 2
    assert "The run was interrupted" in wrong_page


def test_messages_are_text_and_never_markup():
    evil = '<script>alert(1)</script><img src=x onerror="alert(2)">'
    record = factory.failed("jax", factory.Outcome.CRASHED, evil, remedy=evil, log=evil)
    joint = factory.joint([record], environment={"machine": {"cpu": evil}, "warnings": [evil]})
    page = render(joint, "html")
    assert "<script>alert" not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;alert(1)") >= 4


def test_a_run_with_nothing_in_it_is_a_page():
    page = render(factory.joint([], [], environment={}), "html")
    Outline(page)
    assert "No case was run" in page


@pytest.fixture(scope="module")
def page(wrong_page, folder, tmp_path_factory):
    path = folder / "report.html"
    path.write_text(wrong_page, encoding="utf-8")
    with browser.chromium(tmp_path_factory.mktemp("profile")) as driver:
        driver.get(path.as_uri())
        yield driver
        log = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
        assert log == []


def table(driver, name):
    return driver.find_element("css selector", f"#table-{name} table")


def column(driver, name, index):
    rows = table(driver, name).find_elements("css selector", "tbody tr")
    return [
        row.find_elements("css selector", "th, td")[index].text
        for row in rows
        if row.is_displayed()
    ]


TIMES = "time-lexicographic-float64-K100"


@needs_browser
def test_a_click_on_a_heading_sorts_by_value(page):
    before = column(page, TIMES, 4)
    heading = table(page, TIMES).find_elements("css selector", "thead th")[4]
    button = heading.find_element("css selector", "button")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)

    def seconds():
        units = {"µs": 1e-6, "ms": 1e-3, "s": 1.0}
        found = [text.split() for text in column(page, TIMES, 4)]
        return [float(t[0]) * units[t[1]] if len(t) == 2 else None for t in found]

    button.click()
    assert heading.get_attribute("aria-sort") == "ascending"
    values = seconds()
    known = [v for v in values if v is not None]
    assert known == sorted(known)
    assert values[: len(known)] == known  # what is missing comes last
    button.click()
    assert heading.get_attribute("aria-sort") == "descending"
    values = seconds()
    known = [v for v in values if v is not None]
    assert known == sorted(known, reverse=True)
    assert values[: len(known)] == known
    button.click()
    assert heading.get_attribute("aria-sort") is None
    assert column(page, TIMES, 4) == before


@needs_browser
def test_the_keyboard_sorts_too(page):
    from selenium.webdriver.common.keys import Keys

    heading = table(page, TIMES).find_elements("css selector", "thead th")[1]
    button = heading.find_element("css selector", "button")
    button.send_keys(Keys.ENTER)
    names = column(page, TIMES, 1)
    assert names == sorted(names)
    button.send_keys(Keys.SPACE)
    assert heading.get_attribute("aria-sort") == "descending"
    button.send_keys(Keys.SPACE)


@needs_browser
def test_typing_filters_and_says_how_many(page):
    block = page.find_element("css selector", f"#table-{TIMES}")
    field = block.find_element("css selector", "input[type=search]")
    total = len(column(page, TIMES, 1))
    field.send_keys("enzyme-cpp 128")
    assert column(page, TIMES, 1) == ["enzyme-cpp"]
    assert block.find_element("css selector", "output").text == f"1 of {total} rows"
    field.clear()
    field.send_keys("no such thing")
    assert column(page, TIMES, 1) == []
    field.clear()
    field.send_keys(" ")
    assert len(column(page, TIMES, 1)) == total
    assert field.accessible_name.startswith("Filter: Time · lexicographic")


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 1280])
def test_no_page_wider_than_the_window_and_text_that_can_be_read(page, width, dark):
    browser.look(page, width=width, dark=dark)
    wide = page.execute_script(
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert wide <= 0
    # WCAG 2.2, 1.4.3: contrast of text at least 4.5 to 1, plots' text included.
    worst = page.execute_script(CONTRAST)
    assert worst["ratio"] >= 4.5, worst
    assert worst["seen"] > 200
    background = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(20, 22, 26)") is dark
    # The measure itself can fail: grey on either ground cannot be read.
    page.execute_script("document.querySelector('h1').style.color = '#777'")
    assert page.execute_script(CONTRAST)["ratio"] < 4.5
    page.execute_script("document.querySelector('h1').style.color = ''")


CONTRAST = """
function light([r, g, b]) {
  const part = (v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
}
const numbers = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
function ground(element) {
  for (let e = element; e; e = e.parentElement) {
    const c = numbers(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c;
  }
  return [255, 255, 255];
}
let worst = { ratio: 99, text: "" }, seen = 0;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.getClientRects().length) continue;
  if (["SCRIPT", "STYLE", "style", "title"].includes(element.tagName)) continue;
  const style = getComputedStyle(element);
  const svg = element.closest("svg");
  // Short coloured words beside a marker of the same colour are not body text.
  if (svg && style.fill !== getComputedStyle(svg).color) continue;
  const [a, b] = [light(numbers(svg ? style.fill : style.color)), light(ground(element))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  seen += 1;
  if (ratio < worst.ratio) worst = { ratio, text: walker.currentNode.data.slice(0, 60) };
}
return { ...worst, seen };
"""


@needs_browser
def test_the_reader_can_choose_the_colours(page):
    browser.look(page, width=1280, dark=False)
    button = page.find_element("css selector", "button.theme")
    assert button.accessible_name == "Show in dark colours"
    page.execute_script("scrollTo(0, 0)")
    button.click()
    background = "return getComputedStyle(document.body).backgroundColor"
    assert page.execute_script(background) == "rgb(20, 22, 26)"
    button.click()
    assert page.execute_script(background) == "rgb(255, 255, 255)"


@needs_browser
def test_a_screen_reader_finds_its_way(page):
    names = [
        e.accessible_name
        for e in page.find_elements("css selector", "main section[aria-labelledby]")
    ]
    assert names[0] == "Verdicts"
    assert len(set(names)) == len(names)
    for each in page.find_elements("css selector", "main .table table")[:5]:
        assert each.accessible_name
        assert each.find_element("css selector", "tbody th").get_attribute("scope") == "row"
    for plot in page.find_elements("css selector", "figure svg"):
        assert plot.aria_role in ("img", "image")
        assert plot.accessible_name


@needs_browser
def test_nothing_is_asked_of_a_network(page):
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0


@needs_browser
def test_without_javascript_all_is_there(page, tmp_path):
    with browser.chromium(tmp_path, javascript=False) as driver:
        driver.get(page.current_url)
        assert driver.find_elements("css selector", "button, input") == []
        heading = table(driver, TIMES).find_elements("css selector", "thead th")[4]
        assert heading.text == "gradient"
        assert "flipped axis 0" in driver.find_element("css selector", "#wrong").text
        assert driver.find_element("css selector", "figure svg").is_displayed()
        details = driver.find_element("css selector", "details")
        details.find_element("css selector", "summary").click()
        assert details.find_element("css selector", "table").is_displayed()
