"""Answers of a server: those of the model, whatever requests are answered together."""

from __future__ import annotations

import asyncio
import random
import threading
import time

import numpy as np
import pytest
from tests.serving.fitted import of_subjects, of_tables, of_texts
from tests.table.goods import make_goods

from palmette.exceptions import PalmetteError
from palmette.serving._answers import Answer, Answerer, Question
from palmette.serving._batches import Batcher, Full, Metrics


def rows_of(model, n_rows=12):
    frame = make_goods(n_rows, seed=3)[list(model.schema_.kinds)]
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


@pytest.mark.parametrize("fitted", [of_texts, of_tables], ids=["texts", "tables"])
def test_answers_are_those_of_the_model(fitted):
    model = fitted()
    frame = make_goods(12, seed=3)
    proba = model.predict_proba(frame)
    [answer] = Answerer(model).answer([Question(rows_of(model), predict=True, limit=3)])
    texts = [model.label_text(path) for path in model.classes_]
    for row, wanted, path in zip(answer.rows, proba, model.predict(frame), strict=True):
        order = np.argsort(-wanted, kind="stable")[:3]
        assert [each["uri"] for each in row["results"]] == [texts[i] for i in order]
        assert [e["score"] for e in row["results"]] == pytest.approx(wanted[order], abs=1e-6)
        assert row["prediction"] == model.label_text(path)
        assert [tuple(each["path"]) for each in row["labels"]] == [path]


def test_several_labels_come_with_the_words_of_the_thesaurus():
    model = of_subjects()
    text = "dog bark and cat purr"
    full = model.predict_node_proba({"text": [text]})[0]
    asked = Question([{"text": text}], predict=True, limit=2, language="fi", tree=True)
    [row] = Answerer(model).answer([asked])[0].rows
    index = model.hierarchy_.index
    assert {e["uri"]: e["label"] for e in row["results"]} == {"u:cat": "kissa", "u:dog": "koira"}
    assert {e["uri"]: e["notation"] for e in row["results"]} == {"u:cat": "59.1", "u:dog": None}
    assert {each["uri"] for each in row["labels"]} == model.predict({"text": [text]})[0]
    assert all(e["score"] == pytest.approx(full[index(e["uri"])], abs=1e-6) for e in row["nodes"])
    by_id = {each["id"]: each for each in row["nodes"]}
    above = {e["uri"]: {by_id[p]["uri"] for p in e["parents"]} for e in row["nodes"]}
    assert above == {"u:cat": {"u:life", "u:pets"}, "u:dog": {"u:life", "u:pets"},
                     "u:life": set(), "u:pets": set()}  # fmt: skip


def test_a_label_without_a_translation_has_another_one():
    [row] = (
        Answerer(of_subjects(), "fi").answer([Question([{"text": "oak acorn"}], limit=1)])[0].rows
    )
    assert row["results"][0]["label"] == "oak"


def test_the_default_language_must_be_there():
    with pytest.raises(PalmetteError, match=r"'sv'.*no label has it"):
        Answerer(of_subjects(), "sv")
    with pytest.raises(PalmetteError, match="no labels in languages"):
        Answerer(of_texts(), "en")


@pytest.mark.parametrize("fitted", [of_tables, of_subjects], ids=["tables", "subjects"])
def test_questions_together_have_the_answers_that_each_has_alone(fitted):
    answerer = Answerer(fitted())
    rows = (
        rows_of(fitted(), 6)
        if fitted is of_tables
        else [{"text": text} for text in ("cat", "dog bark", "oak", "", "cat dog", "x")]
    )
    questions = [
        Question(rows[:1], limit=1),
        Question(rows[1:4], predict=True, threshold=0.2),
        Question(rows[4:], predict=True, limit=2, tree=True),
    ]
    alone = [answerer.answer([question])[0] for question in questions]
    assert answerer.answer(questions) == alone
    assert "nodes" in alone[2].rows[0]
    assert "nodes" not in alone[1].rows[0]


def test_values_of_one_question_do_not_change_how_another_is_read():
    answerer = Answerer(of_tables())
    row = rows_of(of_tables(), 1)[0]
    odd = Question([{**row, "price": "cheap"}])
    number, text = Question([{**row, "price": 3}]), Question([{**row, "price": "3"}])
    found = answerer.answer([odd, number, text])
    assert found[1] == found[2]
    assert found[1].notes == []
    assert found[0].notes == [
        "1 value of the column 'price' cannot be read as a number, such as 'cheap' in row 1: "
        "treated as missing."
    ]


ODD = [
    None, "", 0, -1, 1e308, 5e-324, 2**70, 2**1022, True, False, 1.5, "nan", "inf", "1e999", "-",
    "2010-01-02", "99999-99-99", "0001-01-01", 20100102, "\x00", "a" * 500, "=1+1", "1.000,5",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_odd_cells_have_the_same_answers_together_and_alone():
    rng = random.Random(0)
    answerer = Answerer(of_tables())
    asked = [
        Question([{name: rng.choice(ODD) for name in answerer.kinds} for _ in range(5)])
        for _ in range(6)
    ]
    assert answerer.answer(asked) == [answerer.answer([question])[0] for question in asked]


def test_labels_below_the_threshold_are_left_out():
    answerer = Answerer(of_texts())
    every = answerer.answer([Question([{"title": "pear"}])])[0].rows[0]["results"]
    assert len(every) == 4
    least = every[1]["score"] + 1e-5
    kept = answerer.answer([Question([{"title": "pear"}], threshold=least)])[0].rows[0]["results"]
    assert kept == every[:1]
    assert answerer.answer([Question([{"title": "pear"}], limit=0)])[0].rows[0]["results"] == []


# ---------------------------------------------------------------------- batches


def question(n_rows=1):
    return Question([{"title": str(i)} for i in range(n_rows)])


def answers(questions):
    return [Answer([dict(row) for row in each.rows], []) for each in questions]


def test_questions_that_wait_are_answered_by_one_call():
    calls, go = [], threading.Event()

    def slow(questions):
        calls.append(len(questions))
        assert go.wait(120)
        return answers(questions)

    async def run():
        batcher = Batcher(slow)
        first = asyncio.create_task(batcher.ask(question()))
        await asyncio.sleep(0.02)
        others = [asyncio.create_task(batcher.ask(question(i))) for i in range(1, 6)]
        await asyncio.sleep(0.02)
        assert batcher.n_waiting == 15
        go.set()
        found = await asyncio.gather(first, *others)
        await batcher.stop()
        return [len(each.rows) for each in found], batcher

    sizes, batcher = asyncio.run(run())
    assert sizes == [1, 1, 2, 3, 4, 5]
    assert calls == [1, 5]
    assert "palmette_rows_total 16\n" in batcher.metrics.text()
    assert "palmette_model_calls_total 2\n" in batcher.metrics.text()


def test_a_batch_ends_with_its_number_of_rows():
    sizes = []

    def note(questions):
        sizes.append(sum(len(each.rows) for each in questions))
        time.sleep(0.01)
        return answers(questions)

    async def run():
        batcher = Batcher(note, batch_rows=4)
        await asyncio.gather(*(batcher.ask(question(2)) for _ in range(7)))
        await batcher.stop()

    asyncio.run(run())
    assert sizes == [2, 4, 4, 4]


def test_at_most_n_jobs_calls_run_at_a_time():
    running, most, lock = 0, [], threading.Lock()

    def note(questions):
        nonlocal running
        with lock:
            running += 1
            most.append(running)
        time.sleep(0.01)
        with lock:
            running -= 1
        return answers(questions)

    async def run(n_jobs):
        batcher = Batcher(note, n_jobs, batch_rows=1)
        await asyncio.gather(*(batcher.ask(question()) for _ in range(8)))
        await batcher.stop()

    for n_jobs in (1, 2):
        most.clear()
        asyncio.run(run(n_jobs))
        assert max(most) == n_jobs


def test_a_question_without_an_answer_takes_none_from_others():
    def fussy(questions):
        if any(len(each.rows) == 2 for each in questions):
            raise ValueError("two rows")
        return answers(questions)

    async def run():
        batcher = Batcher(fussy)
        asked = [batcher.ask(question(n)) for n in (1, 2, 3)]
        found = await asyncio.gather(*asked, return_exceptions=True)
        await batcher.stop()
        return found

    one, two, three = asyncio.run(run())
    assert isinstance(two, ValueError)
    assert (len(one.rows), len(three.rows)) == (1, 3)


def test_a_question_that_waits_too_long_is_dropped():
    sizes, go = [], threading.Event()

    def slow(questions):
        sizes.append(len(questions))
        assert go.wait(120)
        return answers(questions)

    async def run():
        batcher = Batcher(slow, max_waiting=3)
        first = asyncio.create_task(batcher.ask(question()))
        await asyncio.sleep(0.01)
        with pytest.raises(TimeoutError):
            await batcher.ask(question(2), seconds=0.01)
        last = asyncio.create_task(batcher.ask(question()))
        await asyncio.sleep(0.01)
        with pytest.raises(Full):
            await batcher.ask(question())
        go.set()
        await asyncio.gather(first, last)
        await batcher.stop()

    asyncio.run(run())
    assert sizes == [1, 1]


def test_buckets_of_seconds_add_up():
    metrics = Metrics()
    for seconds in (0.001, 0.005, 0.3, 60.0):
        metrics.count_request("/x", 200, seconds)
    lines = dict(line.rsplit(" ", 1) for line in metrics.text().splitlines() if line[0] != "#")
    bucket = 'palmette_request_seconds_bucket{{route="/x",le="{}"}}'.format
    assert [lines[bucket(b)] for b in ("0.005", "0.25", "0.5", "10.0", "+Inf")] == list("22334")
    assert float(lines['palmette_request_seconds_sum{route="/x"}']) == pytest.approx(60.306)
    assert lines['palmette_request_seconds_count{route="/x"}'] == "4"
