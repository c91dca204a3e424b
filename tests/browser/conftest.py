"""A real browser, and pages opened in it that must ask for nothing and complain of nothing."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def _chromium() -> str | None:
    named = os.environ.get("CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser():
    """Return a headless Chromium; skip where there is none."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="the Python package playwright is not installed"
    )
    program = _chromium()
    if program is None or not Path(program).exists():
        pytest.skip("there is no Chromium: install it, or name it in the variable CHROMIUM")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=program, args=OPTIONS)
        yield running
        running.close()


@pytest.fixture
def shots(request):
    """Return a function that keeps a screenshot under the name of the test, where one is wanted."""
    folder = os.environ.get("PALMETTE_SCREENSHOTS")
    test = re.sub(r"\W+", "-", request.node.name).strip("-")

    def keep(page, name: str = "") -> None:
        if folder:
            page.screenshot(path=Path(folder) / f"{'-'.join(filter(None, [test, name]))}.png")

    return keep


@pytest.fixture(scope="session")
def opened(browser):
    """Return a context that opens a file and, at its end, asks for no complaint and no request.

    All files are opened in the same tab: to make one takes longer than most tests.
    """
    page = browser.new_page()
    page.set_default_timeout(15_000)
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: requests.append(request.url))

    @contextmanager
    def open_page(path: Path, width: int = 1280, height: int = 900, scheme: str = "light"):
        page.goto("about:blank")  # nothing of the file before stays
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(media="screen", color_scheme=scheme)
        complaints.clear()
        requests.clear()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=true]")
        yield page
        assert complaints == []
        assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]

    return open_page
