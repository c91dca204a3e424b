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


def made(name, leads=(0.1, 0.2), loss=(0.1, 0.2), hmc=(0.075, 0.079), others=(0.5, 0.5)):
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
        level_accuracy={
            key: np.array(others) + (np.array(leads) if key == keys[0] else 0) for key in keys
        },
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
    others = made("imclef07a", loss=(0.15, 0.2)), made("diatoms", hmc=(0.01, 0.02))
    found = held(*others)
    assert found["Section V.E, Diatoms"]
    assert found["Section V.E, HMC-loss"]
    found = held(made("imclef07a", hmc=(0.1, 0.4)), made("diatoms", (0.1, 0.2), (0.3, 0.2)))
    assert not found["Section V.E, Diatoms"]
    assert not found["Section V.E, HMC-loss"]  # three quarters, of Diatoms a twentieth
    assert not held(made("imclef07a", hmc=(0.2, 0.1)), others[1])["Section V.E, HMC-loss"]
    assert "Section V.E, Diatoms" not in held(made("diatoms"))
    assert "Section V.E, HMC-loss" not in held(made("imclef07a"))


def test_what_depth_does_to_all_methods():
    claims = {c.where: c for c in judge_words([made("toy", (0.0, 0.1), others=(0.5, 0.3))])}
    falling = claims["Section V.E, falling, toy"]
    assert (falling.holds, falling.so) == (True, (3, 3))
    assert "H-Ada.MH 0.500, 0.400; Local 0.500, 0.300; Global 0.500, 0.300;" in falling.words
    affected = claims["Section V.E, classes in a level, toy"]
    assert affected.holds
    lost = "level 1 (85 classes) to level 2 (258) accuracy loses: H-Ada.MH 20.0%, Local 40.0%"
    assert lost in affected.words
    claims = {c.where: c for c in judge_words([made("toy", (0.1, -0.1), others=(0.5, 0.6))])}
    assert claims["Section V.E, falling, toy"].so == (1, 3)
    assert not claims["Section V.E, falling, toy"].holds
    assert not claims["Section V.E, classes in a level, toy"].holds
