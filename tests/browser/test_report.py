"""The report in a real browser: it opens, answers to mouse and keyboard, and asks for nothing."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reporting.known_answers import KnownAnswers, numbered, random_case

from palmette.hierarchy._hierarchy import Hierarchy
from palmette.reporting import report

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
