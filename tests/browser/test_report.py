"""The report in a real browser: it opens, answers to mouse and keyboard, and asks for nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.reporting.known_answers import KnownAnswers, numbered, random_case

from palmette.hierarchy._hierarchy import Hierarchy
from palmette.reporting import report

pytestmark = pytest.mark.thorough

PHONE = {"width": 390, "height": 844}
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "javascript:alert(1)",
    "\u2028\"'`",
    "plain",
]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Return the page of a tree of three levels, in which every section is filled."""
    model, X, y = random_case(0, n_rows=400)
    model.train_loss_ = np.geomspace(1.0, 0.1, 30)
    model.feature_importances_ = np.array([0.5, 0.3, 0.2])
    path = tmp_path_factory.mktemp("small") / "report.html"
    report(model, X, y, n_bootstrap=50, title="Twenty leaves").write(path)
    return path


def large_case(n_leaves=9000, n_rows=3000):
    """Return a model on a tree of about 10,000 nodes, rows, and labels."""
    paths = [(f"Top {i % 20}", f"Group {i % 900}", f"Leaf {i}") for i in range(n_leaves)]
    hierarchy = Hierarchy.from_paths(paths)
    rng = np.random.default_rng(0)
    true = [paths[i] for i in rng.integers(n_leaves, size=n_rows)]
    answers = [p if rng.random() < 0.7 else paths[rng.integers(n_leaves)] for p in true]
    return KnownAnswers(hierarchy, answers), numbered(n_rows), true


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "report.html"
    report(*large_case(), n_bootstrap=0, sample_texts=["some words of a row"] * 3000).write(path)
    return path


def tree(page):
    return page.get_by_role("tree")


def expand_all(page):
    page.get_by_role("button", name="Expand all").click()


def shown_names(page):
    return page.locator(".row .row-name").all_inner_texts()


# ---------------------------------------------------------------------- opening


def test_all_sections_are_there(opened, small, shots):
    with opened(small) as page:
        titles = page.locator("main h2").all_inner_texts()
        assert titles == [
            "Scores",
            "Automatic acceptance",
            "Scores by level",
            "Labels and their rows",
            "Class tree",
            "Errors",
            "Rows to review first",
            "Confidence",
            "Model and data",
        ]
        assert page.title() == "Twenty leaves"
        assert page.locator(".card").count() == 6
        shots(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_follow_the_system_and_the_button(opened, small, shots, scheme):
    with opened(small, scheme=scheme) as page:
        ground = "() => getComputedStyle(document.body).backgroundColor"
        before = page.evaluate(ground)
        is_dark = sum(map(int, before[4:-1].split(","))) < 3 * 128
        assert is_dark == (scheme == "dark")
        page.locator(".theme").click()
        assert page.evaluate(ground) != before
        shots(page, "other")
        page.locator(".theme").click()
        assert page.evaluate(ground) == before
        shots(page)


def test_words_can_be_read_on_their_ground(opened, small):
    """Body text and soft text have a contrast of 4.5 at least, light and dark."""
    contrast = """([tag]) => {
      const lum = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map((v) => {
        const s = v / 255; return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const a = lum(getComputedStyle(document.querySelector(tag)).color);
      const b = lum(getComputedStyle(document.body).backgroundColor);
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); }"""
    with opened(small) as page:
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for tag in ("body", ".subtitle", ".link", ".eyebrow"):
                assert page.evaluate(contrast, [tag]) >= 4.5, (scheme, tag)


@pytest.mark.parametrize("which", ["small", "large"])
def test_a_phone_needs_no_scrolling_sideways(opened, request, shots, which):
    with opened(request.getfixturevalue(which), **PHONE) as page:
        page.locator(".row").first.click()
        expand_all(page)
        for summary in page.locator("summary").all()[:12]:
            summary.click()
        wide = page.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= PHONE["width"]
        shots(page)


def test_print_shows_the_tree_without_its_frame_on_white_paper(opened, small):
    with opened(small, scheme="dark") as page:
        expand_all(page)
        everything = int(
            page.evaluate("() => document.querySelector('.tree-spacer').clientHeight / 32")
        )
        page.emulate_media(media="print")
        page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
        assert not page.locator(".tools").is_visible()
        assert page.locator(".row").count() == everything > 30
        ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
        page.emulate_media(media="screen")
        page.evaluate("() => dispatchEvent(new Event('afterprint'))")
        assert page.locator(".row").count() < everything
        assert len(page.pdf()) > 10_000


# ---------------------------------------------------------------------- the tree


def test_a_click_shows_a_node(opened, small, shots):
    with opened(small) as page:
        expand_all(page)
        page.locator(".row", has_text="b0").first.click()
        panel = page.locator("#panel")
        assert panel.locator("h3").inner_text() == "b0"
        assert "Precision" in panel.inner_text()
        assert page.locator(".row.chosen .row-name").inner_text() == "b0"
        panel.locator(".crumbs .link").first.click()
        assert panel.locator("h3").inner_text() == "a0"
        shots(page)


def test_collapse_and_expand(opened, small):
    with opened(small) as page:
        expand_all(page)
        everything = len(shown_names(page))
        page.get_by_role("button", name="Collapse all").click()
        assert shown_names(page) == ["a0", "a1", "a2"]
        page.locator(".row .twist").first.click()
        assert page.locator(".row").first.get_attribute("aria-expanded") == "true"
        assert shown_names(page)[1].startswith("b")
        page.locator(".row .twist").first.click()
        assert shown_names(page) == ["a0", "a1", "a2"]
        expand_all(page)
        assert len(shown_names(page)) == everything


def test_search_jumps_and_counts(opened, small, shots):
    with opened(small) as page:
        page.get_by_role("button", name="Collapse all").click()
        page.get_by_role("searchbox").fill("C1")  # c1, c10 ... c19
        told = page.locator(".found-count")
        assert told.inner_text() == "1 of 11"
        active = page.locator(".row.active .row-name")
        first = active.inner_text()
        assert first.startswith("c1")
        assert active.locator("mark").inner_text() == "c1"
        page.keyboard.press("Enter")
        assert told.inner_text() == "2 of 11"
        assert active.inner_text() != first
        page.keyboard.press("Shift+Enter")
        page.keyboard.press("Shift+Enter")
        assert told.inner_text() == "11 of 11"
        page.get_by_role("button", name="Next match").click()
        assert told.inner_text() == "1 of 11"
        shots(page)
        page.get_by_role("searchbox").fill("nowhere")
        assert told.inner_text() == "none found"
        page.get_by_role("searchbox").fill("")
        assert told.inner_text() == ""


def test_colours(opened, small, shots):
    swatches = "rows => rows.map((row) => row.className.split(' ')[1])"
    with opened(small) as page:
        expand_all(page)
        for colour, letter in {"f1": "q", "support": "w", "confidence": "q"}.items():
            page.locator("#colour").select_option(colour)
            classes = set(page.locator(".row .swatch").evaluate_all(swatches))
            assert len(classes) > 1
            assert all(name[0] == letter or name == "none" for name in classes)
            assert page.locator(".scale .step").count() >= 7
            shots(page, colour)


def test_the_tree_by_keyboard(opened, small, shots):
    with opened(small) as page:
        page.get_by_role("button", name="Collapse all").click()
        tree(page).focus()
        active = page.locator(".row.active .row-name")
        keys = ["ArrowDown", "ArrowDown", "ArrowUp", "End", "Home", "ArrowRight", "ArrowRight"]
        names = []
        for key in keys:
            page.keyboard.press(key)
            names.append(active.inner_text())
        assert names[:6] == ["a1", "a2", "a1", "a2", "a0", "a0"]  # the last one opened it
        assert names[6].startswith("b")
        page.keyboard.press("Enter")
        assert page.locator("#panel h3").inner_text() == names[6]
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        assert shown_names(page) == ["a0", "a1", "a2"]
        page.keyboard.press("*")
        assert len(shown_names(page)) > 3
        page.keyboard.press("c")  # there is no c in view: nothing moves
        assert active.inner_text() == "a0"
        shots(page)


def test_the_tree_tells_screen_readers_where_they_are(opened, small):
    with opened(small) as page:
        tree(page).focus()
        page.keyboard.press("ArrowDown")
        item = page.locator(f"#{tree(page).get_attribute('aria-activedescendant')}")
        assert item.get_attribute("role") == "treeitem"
        for row in page.locator("[role=treeitem]").all()[:8]:
            place = [int(row.get_attribute(f"aria-{key}")) for key in ("level", "posinset")]
            assert min(place) >= 1
            assert place[1] <= int(row.get_attribute("aria-setsize"))
        for chart in page.locator("figure svg").all():
            title, words = chart.get_attribute("aria-labelledby").split()
            assert page.locator(f"#{title}").text_content()
            assert page.locator(f"#{words}").text_content()
        assert page.locator("figure details table").count() == page.locator("figure svg").count()


def test_every_control_can_be_reached_by_tab(opened, small):
    with opened(small) as page:
        focused = "() => document.activeElement.id || document.activeElement.className"
        missing = {"skip", "theme", "search", "colour", "tree"}
        for _ in range(40):
            page.keyboard.press("Tab")
            missing.discard(page.evaluate(focused))
            if not missing:
                break
        assert not missing


def test_confused_pairs_show_their_rows_and_lead_to_the_tree(opened, small, shots):
    with opened(small) as page:
        page.locator(".pairs summary").first.click()
        examples = page.locator(".pairs details[open] .examples li")
        assert 1 <= examples.count() <= 3
        examples.first.locator(".link").first.click()
        assert page.locator("#panel h3").inner_text() in examples.first.inner_text()
        shots(page)


def test_families_of_siblings_can_be_chosen(opened, small):
    with opened(small) as page:
        select = page.locator("#family")
        before = page.locator(".heat").inner_text()
        last = select.locator("option").last.get_attribute("value")
        select.select_option(last)
        assert page.locator(".heat").inner_text() != before


# ---------------------------------------------------------------------- large and hostile


def test_ten_thousand_nodes_are_a_small_file_and_few_elements(opened, large, shots):
    assert large.stat().st_size < 8_000_000
    with opened(large) as page:
        expand_all(page)
        assert page.locator(".row").count() < 60
        tree(page).focus()
        page.keyboard.press("End")
        assert page.locator(".row").last.inner_text().startswith("Leaf")
        page.get_by_role("searchbox").fill("leaf 8999")
        assert page.locator(".row.active .row-name").inner_text() == "Leaf 8999"
        shots(page)


def test_hostile_names_are_shown_and_never_run(opened, tmp_path, shots):
    model = KnownAnswers(Hierarchy.star(HOSTILE), HOSTILE[::-1])
    path = tmp_path / "report.html"
    report(
        model,
        numbered(len(HOSTILE)),
        HOSTILE,
        sample_names=HOSTILE,
        sample_texts=HOSTILE,
        n_bootstrap=0,
        title=HOSTILE[0],
    ).write(path)
    with opened(path) as page:
        assert page.title() == HOSTILE[0]
        assert shown_names(page)[:4] == HOSTILE[:4]
        for row in range(len(HOSTILE)):
            page.locator(".row").nth(row).click()
        for summary in page.locator(".pairs summary").all():
            summary.click()
        assert page.locator("main img, main svg[onload], main script").count() == 0
        shots(page)


def test_a_notebook_frame_draws_the_report(opened, browser, tmp_path):
    from palmette.reporting._html import to_notebook

    facts = report(*random_case(0), n_bootstrap=0).facts
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>notebook</title>{to_notebook(facts)}", encoding="utf-8")
    page = browser.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(path.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator(".card").first.wait_for()
    frame.locator(".row").first.click()
    assert frame.locator("#panel h3").inner_text() == "a0"
    assert complaints == []
    page.close()


# ---------------------------------------------------------------------- what a manager reads


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Return the page of two models of label sets, which has seven scores."""
    first, X, y = random_case(0, n_rows=200, several=True)
    answers = first.predict(X)
    answers = [*y[:80], *answers[80:160], *[{("a0",)}] * 40]  # better, the same, worse
    second = KnownAnswers(first.hierarchy_, answers, first.predict_node_proba(X), several=True)
    first.summary_ = {
        "model": "class-tree", "rows": 30, "columns": {"a": "text"}, "settings": {},
        "hierarchy": {"nodes": 99}, "when": "2026-01-02T03:04:05+00:00", "coverage": None,
        "leaderboard": [
            {"model": "class-tree", "folds": 2, "hierarchical_f1": 0.8, "accuracy": 0.7},
            {"model": "flat-linear", "folds": 2, "hierarchical_f1": 0.75, "accuracy": 0.6},
            {"model": "mf-tree", "folds": 1, "rows": 9, "hierarchical_f1": 0.9, "accuracy": 0.9},
            {"model": "flat", "folds": 0, "hierarchical_f1": None, "note": "too slow"},
        ],
    }  # fmt: skip
    path = tmp_path_factory.mktemp("two") / "report.html"
    report(first, X, y, other=second, names=("old", "new"), n_bootstrap=20).write(path)
    return path


def test_every_score_has_its_baselines_and_the_verdict_is_first(opened, two):
    with opened(two) as page:
        assert page.locator("main .verdict").first.inner_text().startswith("new is right for ")
        assert page.locator("#figures .verdict").inner_text().startswith("All labels are right")
        cards = page.locator(".card")
        assert cards.count() == page.locator(".card .against").count() == 7
        lines = page.locator(".card .against").first.inner_text()
        assert "most frequent class" in lines
        assert "flat linear model*\n0.750" in lines
        assert "this model there*\n0.800" in lines


@pytest.mark.parametrize("width", [1280, 800, 390])
def test_cards_fill_their_rows(opened, two, small, width):
    edges = """cards => { const at = new Map();
      for (const card of cards) { const box = card.getBoundingClientRect();
        at.set(Math.round(box.top), Math.round(box.right)); }
      return [...at.values()]; }"""
    for path in (two, small):
        with opened(path, width=width) as page:
            ends = page.locator(".card").evaluate_all(edges)
            assert len(ends) > 1
            assert max(ends) - min(ends) <= 1  # the last card of each row ends at the same edge


def test_details_of_the_fit_are_words(opened, two):
    with opened(two) as page:
        for summary in page.locator("#model summary").all():
            summary.click()
        words = page.locator("#model").inner_text()
        assert not set('{}[]"') & set(words)
        assert "Not tried: flat (too slow)." in words
        assert "99" not in words  # nodes are counted in one place
        boards = page.locator("#model .table-frame[aria-label='Leaderboard']")
        assert boards.count() == 2  # figures of fewer rows are apart
        assert "mf-tree" not in boards.first.inner_text()
        assert "On 1 fold only, fitted on 9 rows: not to be compared" in words
        assert "2026-01-02 03:04:05 UTC" in words


def test_tables_that_are_cut_say_so(opened, small):
    with opened(small, **PHONE) as page:
        boxes = page.locator("#acceptance .table-box")
        cut = [box for box in boxes.all() if "cut" in box.get_attribute("class")]
        assert cut
        assert cut[0].locator(".scroll-hint").is_visible()
        assert "more-right" in cut[0].get_attribute("class")
        cut[0].locator(".table-frame").evaluate("frame => { frame.scrollLeft = 9999; }")
        page.locator("#acceptance .more-left").first.wait_for()
        assert "more-right" not in cut[0].get_attribute("class")
        page.set_viewport_size({"width": 1280, "height": 900})
        page.locator("#acceptance .cut").first.wait_for(state="detached")


@pytest.mark.parametrize("height", [844, 480])
def test_the_page_scrolls_to_the_hit_of_a_search(opened, large, height):
    with opened(large, width=390, height=height) as page:
        box = page.locator("#search")
        box.evaluate("box => box.scrollIntoView({ block: 'end' })")
        box.fill("leaf 8999")
        page.locator(".row.active .row-name", has_text="Leaf 8999").wait_for()
        for _ in range(100):  # until the page has scrolled
            hit = page.locator(".row.active").bounding_box()
            if 0 < hit["y"] < height - hit["height"]:
                break
            page.wait_for_timeout(20)
        assert 0 < hit["y"] < height - hit["height"]


def test_errors_are_saved_as_a_table_without_formulas(opened, tmp_path):
    import csv
    import io

    from palmette._text import excel_safe

    names = ["=1+1", '@x"y', "-2", "a,b\nc", "＋1", "plain"]
    path = tmp_path / "report.html"
    model = KnownAnswers(Hierarchy.star(names), names[1:] + names[:1])
    report(model, numbered(6), names, sample_texts=names, n_bootstrap=0).write(path)
    with opened(path) as page:
        with page.expect_download() as download:
            page.get_by_role("button", name="Download the 6 errors (CSV)").click()
        text = Path(download.value.path()).read_bytes().decode("utf-8")
        assert download.value.suggested_filename.endswith("_errors.csv")
    assert text.startswith("\ufeff")
    [titles, *rows] = csv.reader(io.StringIO(text[1:], newline=""))
    assert titles == ["row", "text", "true label", "predicted label", "confidence"]
    assert {row[2] for row in rows} == set(map(excel_safe, names))
    assert {row[2] for row in rows} & {"'=1+1", "-2", "'@x\"y"}


def test_ten_pairs_are_shown_and_the_others_folded(opened, small):
    with opened(small) as page:
        assert page.locator(".pairs > li:visible").count() == 10
        page.locator(".more-pairs > summary").click()
        assert page.locator(".pairs > li:visible").count() == 50


def test_two_models_and_the_rows_where_they_differ(opened, two, shots):
    with opened(two, **PHONE) as page:
        assert page.locator("main h2").first.inner_text() == "Two models"
        before = page.locator("#versus .examples").first.inner_text()
        page.locator("#differing").select_option("1")
        assert page.locator("#versus .examples").first.inner_text() != before
        page.locator("#versus td .link").first.click()
        assert page.locator("#panel h3").inner_text()
        assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
        shots(page)


def test_reports_of_earlier_versions_open(opened, tmp_path):
    from palmette.reporting import Report

    facts = report(*random_case(0), n_bootstrap=0).facts
    new = ("verdict", "baselines", "acceptance", "classes", "review", "versus")
    old = {key: value for key, value in facts.items() if key not in new}
    path = tmp_path / "old.html"
    Report(old).write(path)
    Report(old).write(tmp_path / "old.md")
    with opened(path) as page:
        assert page.locator("main h2").count() == 6
        assert page.locator(".card").count() == 6
