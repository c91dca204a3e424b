"""Files of skops: small, always the same, and looked over before they are read."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from tests.persistence.mutations import members_of, packed

from palmette.persistence._parts import REVIEWED
from palmette.persistence._skops import check_content, names_in, sizes_of, skops_io, tidy, write

SKOPS = skops_io()

WORDS = ["a cat", "a dog", "the oak"]


def objects():
    shared = LogisticRegression().fit(np.eye(3), [0, 1, 1])
    words = TfidfVectorizer().fit(WORDS)
    return [
        shared,
        {"again": shared},
        words,
        sparse.csr_array(np.eye(2)),
        b"bytes",
        {"x", "y", "z"},
        sparse.csr_matrix(np.eye(2)),  # before skops 0.15 only these were npz files
    ]


def test_skops_reads_what_is_tidy():
    made = SKOPS.loads(tidy(SKOPS.dumps(objects())), trusted=sorted(REVIEWED))
    assert made[0] is made[1]["again"]
    assert np.array_equal(made[0].coef_, objects()[0].coef_)
    assert (made[2].transform(WORDS) != objects()[2].transform(WORDS)).nnz == 0
    assert made[3].toarray().tolist() == np.eye(2).tolist()
    assert made[4:6] == [b"bytes", {"x", "y", "z"}]
    assert made[6].toarray().tolist() == np.eye(2).tolist()


def test_the_same_objects_give_the_same_bytes():
    assert write(objects()) == tidy(SKOPS.dumps(objects()))
    content = tidy(SKOPS.dumps(objects()))
    assert tidy(SKOPS.dumps(SKOPS.loads(content, trusted=sorted(REVIEWED)))) == content


def test_what_is_shared_is_written_once():
    once = tidy(SKOPS.dumps([objects()[0]]))
    shared = objects()[0]
    often = tidy(SKOPS.dumps([shared] * 20))
    assert len(often) < len(once) + 20 * 150
    assert len(SKOPS.dumps([shared] * 20)) > 3 * len(often)


def test_names_of_classes_and_functions_are_found():
    found = names_in(tidy(SKOPS.dumps([LogisticRegression(), np.log])))
    assert ("sklearn.linear_model._logistic", "LogisticRegression") in found
    assert ("builtins", "list") in found


def test_a_good_file_passes():
    check_content(tidy(SKOPS.dumps(objects())))


def spoilt(change) -> bytes:
    members = members_of(tidy(SKOPS.dumps(objects())))
    change(members)
    return packed(members)


def test_compressed_members_are_refused_at_any_depth():
    members = members_of(tidy(SKOPS.dumps(objects())))
    with pytest.raises(ValueError, match="is compressed"):
        check_content(packed(members, zipfile.ZIP_DEFLATED))
    inner = next(name for name in members if name.endswith(".npz"))
    members[inner] = packed(members_of(members[inner]), zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="is compressed"):
        check_content(packed(members))


def test_arrays_that_are_not_as_large_as_they_say_are_refused():
    def enlarge(members):
        name = next(name for name in members if name.endswith(".npy"))
        members[name] = members[name][:-8]

    with pytest.raises(ValueError, match="another shape"):
        check_content(spoilt(enlarge))


def test_names_that_lead_elsewhere_are_refused():
    with pytest.raises(ValueError, match="is not a valid name of a member"):
        check_content(spoilt(lambda members: members.update({"../x.npy": b""})))


def test_the_schema_keeps_no_addresses():
    schema = json.loads(members_of(tidy(SKOPS.dumps(objects())))["schema.json"])
    numbers = []

    def visit(node):
        if isinstance(node, dict):
            numbers.append(node.get("__id__", 0))
            for each in node.values():
                visit(each)
        elif isinstance(node, list):
            for each in node:
                visit(each)

    visit(schema)
    assert max(numbers) < 10


def voting(depth: int) -> dict:
    """Return a schema of estimators that each hold the next one twice."""
    node: dict = {"__loader__": "JsonNode", "content": "1"}
    for number in range(depth):
        stub = {"__loader__": "CachedNode", "__id__": number}
        node = {"__loader__": "ListNode", "__id__": number, "content": [node]}
        node = {"__loader__": "TupleNode", "content": [node, stub]}
    return {"content": [node, {"__loader__": "JsonNode", "content": "2"}]}


def test_parts_that_are_used_again_are_counted_again():
    assert sizes_of(voting(2)) == [13, 1]
    with pytest.raises(ValueError, match="each counted as often as it is used"):
        sizes_of(voting(60))
    schema = voting(1)
    schema["content"][0]["content"][0]["content"] = [schema["content"][0]["content"][1]]
    with pytest.raises(ValueError, match="contains itself"):
        sizes_of(schema)
