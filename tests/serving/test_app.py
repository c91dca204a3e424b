"""Routes of a server: replies, refusals that say what to do, Annif's form, counts."""

from __future__ import annotations

import json
import re
import threading
import time
from datetime import datetime

import pytest
from tests.serving.fitted import TestClient, of_subjects, of_tables, of_texts, without_scores

from palmette.serving import Limits, make_app
from palmette.serving._answers import Answerer


@pytest.fixture(scope="module")
def texts():
    limits = Limits(body_bytes=5_000, rows=5, read_seconds=0.2)
    with TestClient(make_app(of_texts(), "goods", limits=limits)) as client:
        yield client


@pytest.fixture(scope="module")
def tables():
    with TestClient(make_app(of_tables(), "goods")) as client:
        yield client


@pytest.fixture(scope="module")
def subjects():
    with TestClient(make_app(of_subjects(), "thesaurus")) as client:
        yield client


ROW = {"title": "pear", "price": 3.5, "colour": None, "since": "2010-01-02"}


def refused(response, status):
    """Return the sentence of a refusal."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert set(problem) == {"type", "title", "status", "detail"}
    assert problem["detail"].endswith(".")
    return problem["detail"]


# ---------------------------------------------------------------------- replies


def test_a_text_has_results(texts):
    reply = texts.post("/suggest", json={"text": "pear", "limit": 2})
    assert reply.status_code == 200
    [first, second] = reply.json()["results"]
    assert (first["uri"], first["label"], first["path"]) == (
        "Food > Fruit", "Fruit", ["Food", "Fruit"],
    )  # fmt: skip
    assert 1 >= first["score"] > second["score"] >= 0


def test_texts_and_rows_have_answers_in_their_order(texts, tables):
    asked = ["pear", "tuna", "steel pin"]
    answers = texts.post("/suggest", json={"texts": asked}).json()["answers"]
    alone = [texts.post("/suggest", json={"text": text}).json() for text in asked]
    assert answers == alone
    rows = [ROW, {**ROW, "title": "tuna", "price": "10.5", "since": "2011-01-02", "more": [1]}]
    found = tables.post("/predict", json={"rows": rows}).json()
    assert [each["prediction"] for each in found["predictions"]] == ["Food > Fruit", "Food > Fish"]


def test_values_that_cannot_be_read_are_told(tables):
    found = tables.post("/predict", json={"rows": [{**ROW, "since": "soon"}]}).json()
    assert re.match("1 value of the column 'since' cannot be read as a date", found["notes"][0])


def test_a_model_without_probabilities_predicts_and_suggests_nothing():
    with TestClient(make_app(without_scores())) as client:
        assert client.get("/card").json()["probabilities"] is False
        [found] = client.post("/predict", json={"text": "pear", "tree": True}).json()["predictions"]
        assert found["prediction"] == "Food > Fruit"
        assert [each["score"] for each in found["labels"]] == [None]
        assert found["results"] == []
        detail = refused(client.post("/suggest", json={"text": "pear"}), 422)
    assert "has no probabilities, which suggestions need: use /predict" in detail


def test_surrogates_and_control_characters_are_texts(texts):
    for text in ("\\ud800", "\\u0000", "\\u202e\\n", ""):
        reply = texts.post(
            "/predict",
            content=f'{{"text": "{text}"}}',
            headers={"content-type": "application/json; charset=utf-8"},
        )
        assert reply.status_code == 200, text


def test_the_page_is_self_contained(texts):
    page = texts.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert not re.search("""(src|href)=["']?(https?:)?//|@import|url\\(""", page.text)


def test_the_card_says_what_the_model_is(tables):
    card = tables.get("/card").json()
    assert card["model"] == "flat-naive-bayes"
    assert card["columns"] == of_tables().schema_.kinds
    assert card["classes"] == ["Food > Fish", "Food > Fruit", "Tools > Nails", "Tools > Saws"]
    assert card["fit"]["rows"] == 80
    assert card["fit"]["when"] == of_tables().summary_["when"]
    assert "scikit-learn" in card["fit"]["versions"]


def test_openapi_has_all_routes_and_columns(tables):
    found = tables.get("/openapi.json").json()
    app = make_app(of_tables())
    routes = {
        (route.path, method.lower()) for route in app.routes for method in route.methods - {"HEAD"}
    }
    assert {(p, m) for p, methods in found["paths"].items() for m in methods} == routes
    assert list(found["components"]["schemas"]["Row"]["properties"]) == list(ROW)
    names = set(re.findall('"#/components/schemas/(\\w+)"', json.dumps(found)))
    assert names <= set(found["components"]["schemas"])


def test_health_says_where_a_call_of_the_model_does_not_end(monkeypatch):
    with TestClient(make_app(of_texts(), limits=Limits(seconds=0.05))) as client:
        some, ready = Answerer._some, threading.Event()
        monkeypatch.setattr(Answerer, "_some", lambda *asked: ready.wait(60) and some(*asked))
        assert "has not answered" in refused(client.post("/predict", json={"text": "a"}), 503)
        time.sleep(0.1)
        stuck = client.get("/health")
        assert (stuck.status_code, stuck.json()["status"]) == (503, "stuck")
        ready.set()
        while client.get("/health").status_code != 200:
            time.sleep(0.01)


def test_health_and_metrics():
    with TestClient(make_app(of_texts(), "goods")) as client:
        health = client.get("/health").json()
        assert abs(time.time() - datetime.fromisoformat(health.pop("since")).timestamp()) < 60
        assert health == {
            "status": "ok", "model": "goods", "waiting_rows": 0, "replaced": 0,
            "last_replaced": None,
        }  # fmt: skip
        client.post("/predict", json={"texts": ["a", "b"]})
        client.post("/predict", json={})
        client.get("/no/such/path")
        client.get("/neither")
        text = client.get("/metrics").text
    assert 'palmette_requests_total{route="/predict",status="200"} 1\n' in text
    assert 'palmette_requests_total{route="/predict",status="422"} 1\n' in text
    assert 'palmette_requests_total{route="other",status="404"} 2\n' in text
    assert 'palmette_errors_total{route="/predict"} 1\n' in text
    assert "palmette_rows_total 2\n" in text
    line = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.]+')
    assert all(line.fullmatch(each) or each.startswith("# ") for each in text.splitlines())


# ---------------------------------------------------------------------- refusals

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"text": "a"', "not JSON: Expecting ',' delimiter in line 1, column 13"),
        (b"", "not JSON: Expecting value"),
        (b'{"text": NaN}', "the body has NaN, which is not JSON. Write null"),
        (b'{"limit": -Infinity}', "the body has -Infinity"),
        (b'{"text": "\xff"}', "byte 11 of the body is not UTF-8"),
        (b'{"limit": ' + b"1" * 4500 + b"}", "a number has thousands of digits"),
        (b"[" * 2400 + b"]" * 2400, "nested too deeply"),
        (b'{"text": ' + b"[" * 100 + b"]" * 100 + b"}", "nested too deeply"),
    ],
)
def test_what_is_not_json_is_refused(texts, body, words):
    assert words in refused(texts.post("/suggest", content=body, headers=JSON), 400)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ([], "the body is a list: expected an object"),
        ({}, "got none of them: expected one of the fields text, texts, rows"),
        ({"text": "a", "rows": []}, "got text and rows"),
        ({"text": 3}, "text is a number: expected a string"),
        ({"text": None}, "text is null"),
        ({"texts": "abc"}, "texts is a string: expected a list"),
        ({"texts": []}, "texts is an empty list"),
        ({"texts": ["a", ["b"]]}, "text 2 is a list"),
        ({"text": "a", "path": "/etc/passwd"}, "got the field 'path'"),
        ({"text": "a", "limit": -1}, "limit is -1: expected a whole number from 0 to 1000"),
        ({"text": "a", "limit": 1.5}, "limit is 1.5"),
        ({"text": "a", "limit": True}, "limit is True"),
        ({"text": "a", "limit": 10**30}, "limit is 1000"),
        ({"text": "a", "threshold": "high"}, "threshold is 'high': expected a number from 0 to 1"),
        ({"text": "a", "tree": 1}, "tree is 1: expected true or false"),
        ({"text": "a", "language": "en"}, "no labels in languages: leave it out"),
        ({"text": "a", "language": "x" * 99}, "expected a tag such as 'en'"),
        ({"rows": ["a"]}, "row 1 is a string: expected an object with the columns 'title'"),
        ({"rows": [{"name": "a"}]}, "row 1 has no column 'title' .it has: 'name'."),
        ({"rows": [{"title": {"a": 1}}]}, "row 1: 'title' is an object: expected a string"),
    ],
)
def test_wrong_fields_are_refused(texts, asked, words):
    assert re.search(words, refused(texts.post("/predict", json=asked), 422))


def test_columns_and_numbers_of_rows_are_checked(tables):
    assert "send rows" in refused(tables.post("/predict", json={"text": "a"}), 422)
    lacks = {name: cell for name, cell in ROW.items() if name != "price"}
    detail = refused(tables.post("/predict", json={"rows": [ROW, lacks]}), 422)
    assert detail.startswith("row 2 has no column 'price'")
    large = json.dumps({"rows": [ROW]}).replace("3.5", "1e999")
    assert "too large" in refused(tables.post("/predict", content=large, headers=JSON), 422)
    whole = json.dumps({"rows": [ROW]}).replace("3.5", "9" * 400)
    assert "too large" in refused(tables.post("/predict", content=whole, headers=JSON), 422)


def test_too_many_rows_and_bytes_are_refused(texts):
    detail = refused(texts.post("/predict", json={"texts": ["a"] * 6}), 413)
    assert detail == "got 6 rows: expected at most 5 per request. Send several requests."
    detail = refused(texts.post("/predict", json={"text": "a" * 6000}), 413)
    assert detail == (
        "the body has 6,011 bytes: expected at most 5,000. Send fewer rows per request."
    )


def test_a_large_body_is_refused_while_it_comes(texts):
    sent = 0

    def pieces():
        nonlocal sent
        for _ in range(1_600):  # 100 MB
            sent += 1
            yield b"a" * 2**16

    # the client of the tests gathers a body that is sent in pieces: it is counted below
    assert _stream(texts.app, pieces()) == 413
    assert sent == 1


def test_a_slow_client_is_refused(texts):
    assert _stream(texts.app, iter([b'{"text"']), hang=True) == 408


def _stream(app, pieces, hang=False):
    """Send a body in pieces to an application, and return the status of its reply."""
    import asyncio

    async def run():
        sent = []

        async def receive():
            piece = next(pieces, None)
            if piece is None and hang:
                await asyncio.sleep(60)
            return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http", "method": "POST", "path": "/suggest", "raw_path": b"/suggest",
            "query_string": b"", "headers": [(b"content-type", b"application/json")],
            "http_version": "1.1", "scheme": "http", "root_path": "", "server": ("test", 80),
        }  # fmt: skip
        await app(scope, receive, send)
        return sent[0]["status"]

    return asyncio.run(run())


@pytest.mark.parametrize(
    "kind",
    ["", "text/plain", "multipart/form-data; boundary=x", "application/json; charset=latin-1"],
)
def test_other_content_types_are_refused(texts, kind):
    reply = texts.post("/suggest", content=b"{}", headers={"content-type": kind})
    assert "expected" in refused(reply, 415)


def test_other_paths_and_methods_are_refused(texts):
    assert "there is no /models" in refused(texts.get("/models"), 404)
    assert "there is no /../../etc" in refused(texts.get("/%2e%2e/%2e%2e/etc"), 404)
    reply = texts.get("/predict")
    assert refused(reply, 405) == "got GET /predict: expected POST."
    assert reply.headers["allow"] == "POST"
    refused(texts.post("/card"), 405)


def test_a_model_that_takes_too_long_is_told(monkeypatch):
    go = threading.Event()
    app = make_app(of_texts(), limits=Limits(seconds=0.05))
    real = Answerer.answer
    with TestClient(app) as client:
        service = next(r.endpoint.__self__ for r in app.routes if r.path == "/predict")
        monkeypatch.setattr(
            service.batcher,
            "_answer",
            lambda asked: (go.wait(120), real(service.answerer, asked))[1],
        )
        reply = client.post("/predict", json={"text": "a"})
        assert "has not answered in 0.05 s" in refused(reply, 503)
        assert reply.headers["retry-after"] == "1"
        go.set()
        for _ in range(100):  # on a busy machine an answer may take longer than the limit
            reply = client.post("/predict", json={"text": "a"})
            if reply.status_code == 200:
                break
            time.sleep(0.05)
        assert reply.status_code == 200


def test_a_model_that_fails_is_told_without_its_secrets(monkeypatch):
    app = make_app(of_texts())

    def fail(asked):
        raise RuntimeError("/secret/path")

    with TestClient(app) as client:
        service = next(r.endpoint.__self__ for r in app.routes if r.path == "/predict")
        monkeypatch.setattr(service.batcher, "_answer", fail)
        detail = refused(client.post("/predict", json={"text": "a"}), 500)
    assert detail == "the model failed with RuntimeError. The log of the server says why."


# ---------------------------------------------------------------------- Annif

# REST API of Annif, version v1: required fields of its schemas, and their types
_SUGGESTION = {"uri": str, "label": str, "score": float}
_PROJECT = {"project_id": str, "name": str, "language": str, "backend": dict}


def fits(found, schema):
    return all(isinstance(found.get(name), kind) for name, kind in schema.items())


def test_projects_are_those_of_annif(subjects):
    info = subjects.get("/v1/").json()
    assert fits(info, {"title": str, "version": str})
    [project] = subjects.get("/v1/projects").json()["projects"]
    assert project == subjects.get("/v1/projects/thesaurus").json()
    assert fits(project, _PROJECT)
    assert fits(project["backend"], {"backend_id": str})
    assert project["is_trained"] is True
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]+\+00:00", project["modification_time"])
    detail = refused(subjects.get("/v1/projects/other"), 404)
    assert detail == "there is no project 'other': expected 'thesaurus'."


@pytest.mark.parametrize("path", ["/suggest", "/v1/projects/thesaurus/suggest"])
def test_a_form_has_the_results_that_annif_expects(subjects, path):
    form = {"text": "cat purr and dog bark", "limit": "2", "threshold": "0.01", "project": "x"}
    reply = subjects.post(path, data=form)
    assert reply.headers["content-type"] == "application/json"
    results = reply.json()["results"]
    assert {each["uri"] for each in results} == {"u:cat", "u:dog"}
    assert all(fits(each, _SUGGESTION) for each in results)
    assert {each["uri"]: each["notation"] for each in results} == {"u:cat": "59.1", "u:dog": None}
    assert {each["label"] for each in results} == {"cat", "dog"}
    finnish = subjects.post(path, data={**form, "language": "fi"}).json()["results"]
    assert {each["label"] for each in finnish} == {"kissa", "koira"}


def test_batches_are_those_of_annif(subjects):
    path = "/v1/projects/thesaurus/suggest-batch"
    documents = [{"text": "cat purr", "document_id": "one"}, {"text": "oak acorn"}]
    found = subjects.post(path + "?limit=1&language=fi", json={"documents": documents}).json()
    assert [each["document_id"] for each in found] == ["one", None]
    assert [each["results"][0]["label"] for each in found] == ["kissa", "oak"]
    assert all(len(each["results"]) == 1 for each in found)
    assert subjects.post(path, json={"documents": []}).json() == []
    refused(subjects.post(path, json={"documents": documents * 17}), 400)
    refused(subjects.post(path, json={"documents": ["text"]}), 400)
    refused(subjects.post(path + "?limit=many", json={"documents": documents}), 400)


def test_annif_is_told_of_wrong_forms(subjects):
    path = "/v1/projects/thesaurus/suggest"
    assert "expected a number" in refused(
        subjects.post(path, data={"text": "a", "limit": "x"}), 400
    )
    assert "expected one of" in refused(subjects.post(path, data={"limit": "3"}), 400)
    assert "'sv'" in refused(subjects.post(path, data={"text": "a", "language": "sv"}), 400)
    refused(subjects.post(path, json={"text": "a"}), 415)
    broken = subjects.post(
        path, content=b"text=%ff", headers={"content-type": "application/x-www-form-urlencoded"}
    )
    assert "form in UTF-8" in refused(broken, 400)
