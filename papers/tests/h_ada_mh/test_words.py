"""Toy examples in numbers, and claims in words on a small problem."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from papers.h_ada_mh.words import judge_toys, judge_words


def test_toys_are_as_drawn():
    one, two = judge_toys()
    assert one.holds
    assert "1 node counts by the Hamming loss and 3 by Equation 3" in one.words
    assert two.holds
    assert "0.3333, 0.1667, 0.0833" in two.words


def made(name, leads=(0.1, 0.2), loss=(0.1, 0.2), hmc=(0.075, 0.079)):
    """Return an outcome of two levels, made by hand."""
    symbols = [(1, str(k)) for k in range(85)] + [(2, str(k)) for k in range(258)]
    keys = ("h-ada-first", "local-shallow", "global-bayes")
    return SimpleNamespace(
        name=name,
        setting=SimpleNamespace(
            space=SimpleNamespace(classes=symbols, n_leaves=258),
            problem=SimpleNamespace(hierarchy=SimpleNamespace(n_nodes=399, n_leaves=311)),
        ),
        answers=dict.fromkeys(keys),
        level_accuracy={key: np.array(leads if key == keys[0] else (0, 0)) + 0.5 for key in keys},
        scores={key: {"hmc_loss_unscaled": hmc[key != keys[0]]} for key in keys},
        stages={
            "H-Ada.MH, collapsed": {"hamming": [loss[0]]},
            "AdaBoost.MH, collapsed": {"hamming": [loss[1]]},
        },
    )


def held(*outcomes):
    return {claim.where: claim.holds for claim in judge_words(outcomes)}


def test_counts_and_depth():
    words = [claim.words for claim in judge_words([made("diatoms")])]
    assert "343 and 258 symbols of levels, and 398 nodes and 311 leaves" in words[0]
    assert words[0].endswith("symbols of levels holds.")
    assert words[1].endswith("nodes of the tree does not hold.")
    assert words[2].endswith("as many holds.")
    assert words[3].endswith("lead grows with depth holds.")
    assert not held(made("diatoms", leads=(0.2, 0.1)))["Figure 6, depth, diatoms"]


def test_gains_are_compared_between_sets():
    others = made("imclef07a", loss=(0.15, 0.2)), made("diatoms")
    found = held(*others)
    assert found["Section V.E, Diatoms"]
    assert found["Section V.E, HMC-loss"]
    found = held(made("imclef07a", hmc=(0.1, 0.2)), made("diatoms", loss=(0.3, 0.2)))
    assert not found["Section V.E, Diatoms"]
    assert not found["Section V.E, HMC-loss"]
    assert "Section V.E, Diatoms" not in held(made("diatoms"))
