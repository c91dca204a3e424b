"""Small files that would take endless time or memory are refused, or answer soon."""

from __future__ import annotations

import pytest
from tests.attack.bombs import BOMBS, results


@pytest.mark.thorough
def test_no_recipe_takes_long_or_much():
    outcomes = {}
    for _, each in results():
        outcomes[each.job.mutator] = each.outcome
        assert not each.is_bad, (each.job.mutator, each.message)
        assert each.mebibytes < 200, each.job.mutator
        assert each.seconds < 5, each.job.mutator  # most take .01 s, no limit of time
    assert outcomes.keys() == BOMBS.keys()
    assert outcomes["blends 24 deep of 2"] == outcomes["a blend in itself"] == "refused"
