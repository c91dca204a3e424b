from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import palmette as pm
from palmette.partition import ClassProblem, Partition

LEARNERS = {
    "AgglomerativePartition": pm.AgglomerativeTree,
    "BalancedPartition": pm.BalancedTree,
    "ConfusionPartition": pm.LabelEmbeddingTree,
    "DependencePartition": pm.DependenceTree,
    "FisherPartition": pm.BHCTree,
    "MarginPartition": pm.MarginTree,
    "NMFPartition": pm.NMFTree,
    "RandomPartition": pm.RandomTree,
    "RelaxedPartition": pm.RelaxedTree,
    "SpectralPartition": pm.MFTree,
}


def rows(n_classes=9, per_class=6, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_classes, dtype=np.int32), per_class)
    return rng.normal(size=(n_classes, 4))[codes] * 3 + rng.normal(size=(len(codes), 4)), codes


def test_every_name_is_there():
    others = {"ClassProblem", "LabelTwoMeans", "Partition"}
    assert set(pm.partition.__all__) == LEARNERS.keys() | others


@pytest.mark.parametrize(("name", "learner"), LEARNERS.items())
class TestRules:
    def test_parameters_are_those_of_the_learner(self, name, learner):
        rule = getattr(pm.partition, name)
        declared = inspect.signature(learner).parameters
        for parameter in inspect.signature(rule).parameters.values():
            if parameter.name == "min_side":  # without a limit where there is no tree
                assert parameter.default == 0.0
            else:
                assert parameter == declared[parameter.name]
        assert set(rule().get_params()) == set(inspect.signature(rule).parameters)

    def test_it_is_a_partition_that_is_copied_and_pickled(self, name, learner):
        rule = getattr(pm.partition, name)
        first = next(iter(inspect.signature(rule).parameters))
        partition = rule(**{first: 3})
        assert isinstance(partition, Partition)
        assert repr(partition) == f"{name}({first}=3)"
        for copy in (clone(partition), pickle.loads(pickle.dumps(partition))):
            assert type(copy) is rule
            assert copy.get_params() == partition.get_params()
        assert learner.__name__ in rule.__doc__

    def test_other_parameters_are_refused(self, name, learner):
        with pytest.raises(TypeError, match="leaf_size"):
            getattr(pm.partition, name)(leaf_size=2)

    def test_its_groups_are_those_of_the_learner(self, name, learner):
        X, codes = rows()
        seed = np.random.RandomState(0).randint(2**31 - 1)
        partition = getattr(pm.partition, name)()
        state = partition.begin(ClassProblem(X, codes, 9, seed=seed))
        groups = partition.split(state, np.arange(9, dtype=np.int32), 0)
        given = {"leaf_size": 1, "max_depth": 1, "min_side": 0.0, "random_state": 0}
        known = learner().get_params()
        tree = learner(**{key: given[key] for key in given.keys() & known.keys()}).fit(X, codes)
        made = [tree.tree_.groups[i] for i, up in enumerate(tree.tree_.parents) if up == 0]
        assert [group.tolist() for group in made] == [group.tolist() for group in groups]
