"""The page of a server in a real browser: it asks the server only, and shows the tree."""

from __future__ import annotations

import threading
import time

import pytest
from tests.serving.fitted import of_subjects, of_tables

from palmette.serving import make_app

uvicorn = pytest.importorskip("uvicorn")
pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def served():
    """Return a function that serves a model in a thread, and gives its address."""
    running = []

    def start(model, name):
        config = uvicorn.Config(make_app(model, name), port=0, log_level="warning")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        running.append((server, thread))
        return f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"

    yield start
    for server, thread in running:
        server.should_exit = True
        thread.join(120)


@pytest.fixture
def visit(browser):
    """Return a function that opens an address on a screen of some width; nothing may complain."""
    pages = []

    def go(address, width=1280):
        page = browser.new_page(viewport={"width": width, "height": 844})
        page.set_default_timeout(15_000)
        complaints, requests = [], []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        page.wait_for_selector("html[data-ready=true]")
        pages.append((page, complaints, requests, address))
        return page

    yield go
    for page, complaints, requests, address in pages:
        page.close()
        complaints = [words for words in complaints if "422" not in words]
        assert complaints == []
        assert [u for u in requests if not u.startswith(("data:", address))] == []


def test_a_text_on_a_phone(visit, served, shots):
    page = visit(served(of_subjects(), "pets"), width=390)
    page.get_by_label("text").fill("cat purr and dog bark")
    page.get_by_label("Labels").fill("2")
    page.get_by_label("Language").select_option("fi")
    page.get_by_role("button", name="Predict").press("Enter")
    tree = page.locator("ul.tree")
    tree.wait_for()
    names = tree.locator(".name").all_inner_texts()
    assert sorted(name.split()[0] for name in names) == ["elämä", "kissa", "koira", "lemmikit"]
    assert "kissa" in page.locator(".decision").inner_text()
    assert all("%" in score for score in tree.locator(".score").all_inner_texts())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shots(page)


def test_columns_of_a_table_and_a_refusal(visit, served, shots):
    page = visit(served(of_tables(), "<b>goods</b>"))
    assert page.locator("h1").inner_text() == "<b>goods</b>"
    page.get_by_label("title").fill("fresh tuna")
    page.get_by_label("price (number)").fill("10.5")
    page.get_by_label("since (date)").fill("soon")
    page.get_by_role("button", name="Predict").click()
    page.locator("ul.tree").wait_for()
    assert page.locator(".decision").inner_text() == "Food › Fish"
    nested = (
        page.locator("ul.tree > li", has_text="Food").first.locator("ul .name").all_inner_texts()
    )
    assert "Fish predicted" in nested
    assert "cannot be read as a date" in page.locator("#answer").inner_text()
    shots(page)
    page.evaluate("document.querySelector('form').noValidate = true")
    page.get_by_label("Labels").fill("2000")
    page.get_by_role("button", name="Predict").click()
    page.get_by_role("alert").wait_for()
    assert "limit is 2000: expected a whole number" in page.get_by_role("alert").inner_text()


def test_every_field_has_a_label(visit, served):
    page = visit(served(of_tables(), "goods"))
    unnamed = page.evaluate(
        "[...document.querySelectorAll('input, textarea, select')]"
        ".filter((each) => each.labels.length === 0).length"
    )
    assert unnamed == 0
