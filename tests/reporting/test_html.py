"""The page: whole in itself, and safe whatever classes and rows are called."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from tests.reporting.known_answers import KnownAnswers, animals, numbered

from palmette._text import CONTROL
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.reporting import report
from palmette.reporting._html import data_script, to_html, to_notebook
from palmette.reporting._markdown import to_markdown

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- <script>",
    "]]>\u2028\u2029",
    "\"'`${alert(1)}",
    "&lt;b&gt;",
    "\ud800 lone",
]


class Parts(HTMLParser):
    """Collects the elements of a page and what stands in its scripts and styles."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.contents, self._open = [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._open = (tag, dict(attrs))
            self.contents.append([tag, dict(attrs), ""])

    def handle_data(self, data):
        if self._open:
            self.contents[-1][2] += data

    def handle_endtag(self, tag):
        if self._open and tag == self._open[0]:
            self._open = None


@pytest.fixture(scope="module")
def facts():
    return report(*animals(), n_bootstrap=20).facts


def hostile_facts():
    star = Hierarchy.star(HOSTILE)
    model = KnownAnswers(star, HOSTILE[::-1])
    return report(
        model,
        numbered(len(HOSTILE)),
        HOSTILE,
        sample_texts=HOSTILE,
        sample_names=HOSTILE,
        n_bootstrap=0,
        title=HOSTILE[0] + HOSTILE[-1],
    ).facts


def test_the_page_holds_the_facts(facts):
    [data] = [text for tag, attrs, text in Parts(to_html(facts)).contents if attrs.get("id")]
    assert json.loads(data) == facts


def test_the_page_asks_for_nothing(facts):
    page = to_html(facts)
    links = [
        value
        for _, attrs in Parts(page).tags
        for name, value in attrs.items()
        if name in ("src", "href")
    ]
    assert all(link.startswith(("#", "data:")) for link in links)
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|WebSocket|\bimport\(", page)


def test_only_its_own_script_and_style_may_run(facts):
    page = Parts(to_html(facts))
    [policy] = [
        attrs["content"]
        for tag, attrs in page.tags
        if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag, attrs, text in page.contents:
        if attrs.get("type") != "application/json":
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy


def test_hostile_names_stay_text():
    facts = hostile_facts()
    page = to_html(facts)
    harmless = Parts(to_html({**facts, "title": "t", "nodes": {}, "examples": []}))
    found = Parts(page)
    assert [tag for tag, _ in found.tags] == [tag for tag, _ in harmless.tags]
    [data] = [text for _, attrs, text in found.contents if attrs.get("id") == "facts"]
    assert json.loads(data)["nodes"]["name"][1:] == HOSTILE
    page.encode("utf-8")  # a lone surrogate could not be written


@pytest.mark.parametrize("text", HOSTILE)
def test_data_in_a_script_is_plain_ascii_without_markup(text):
    script = data_script({text: text})
    assert script.isascii()
    assert not set("<>&") & set(script)
    assert json.loads(script) == {text: text}


def test_control_characters_are_shown_as_escapes(facts):
    named = {**facts, "title": "a\x1b[2J\u202eb\\u001b"}
    shown = json.loads(data_script(named))["title"]
    assert shown == "a\\u001b[2J\\u202eb\\u001b"
    for text in (to_html(named), to_markdown(named)):
        assert not CONTROL.search(text)
        assert "&#8238;" not in text


def test_without_scripts_the_figures_are_there(facts):
    page = to_html(facts)
    inside = page[page.index("<noscript>") : page.index("</noscript>")]
    for figure in facts["figures"]:
        assert figure["title"] in inside
        assert f"{figure['value']:.4f}" in inside


def test_a_notebook_gets_a_frame_of_its_own():
    [(tag, attrs)] = Parts(to_notebook(hostile_facts())).tags
    assert tag == "iframe"
    assert attrs["sandbox"] == "allow-scripts"
    assert attrs["srcdoc"].startswith("<!doctype html>")
