"""Stable names of classes, used in model files and checkpoints.

A file names a class as ``boosting.SharedTree``, never by the module that defines it: a class can be
moved, and older files still load. `STORED` lists every class that a file may contain. A name in it
never changes, also if its class is moved or renamed: then only its location changes. Modules are
imported when a file or an object needs them.
"""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

__all__ = [
    "STORED",
    "find_class",
    "full_name",
    "import_class",
    "is_of_palmette",
    "register",
    "stable_name",
]

# by name, the location of a class: the package that makes it public, or else its module
STORED: dict[str, str] = {
    "base.ClassStatistics": "palmette:ClassStatistics",
    "base.ColumnUnits": "palmette.base._column_units:ColumnUnits",
    "base.GrownTree": "palmette.base._grow:GrownTree",
    "base.LabelScorer": "palmette.base._wrapping:LabelScorer",
    "base.NodeSets": "palmette.base._answers:NodeSets",
    "base.OnePath": "palmette.base._answers:OnePath",
    "base.OverLabels": "palmette.base._adapters:OverLabels",
    "base.TunedAs": "palmette.base._multilabel:_TunedAs",
    "boosting.AdaBoostECCClassifier": "palmette.boosting:AdaBoostECCClassifier",
    "boosting.AdaBoostMHClassifier": "palmette.boosting:AdaBoostMHClassifier",
    "boosting.AdaBoostMIClassifier": "palmette.boosting:AdaBoostMIClassifier",
    "boosting.AnswerPerClass": "palmette.boosting._weak_answers:AnswerPerClass",
    "boosting.Bundle": "palmette.boosting._hypotheses:Bundle",
    "boosting.CartPerClass": "palmette.weak:CartPerClass",
    "boosting.CartVotes": "palmette.boosting._hypotheses:CartVotes",
    "boosting.ClassModels": "palmette.boosting._hypotheses:ClassModels",
    "boosting.ClassTrees": "palmette.boosting._hypotheses:ClassTrees",
    "boosting.Coloured": "palmette.boosting._hypotheses:Coloured",
    "boosting.ColumnParents": "palmette.boosting._hypotheses:ColumnParents",
    "boosting.EstimatorPerClass": "palmette.weak:EstimatorPerClass",
    "boosting.HierarchicalAdaBoostClassifier": "palmette.boosting:HierarchicalAdaBoostClassifier",
    "boosting.HierarchicalBoostingClassifier": "palmette.boosting:HierarchicalBoostingClassifier",
    "boosting.SharedTree": "palmette.boosting._hypotheses:SharedTree",
    "boosting.SharedTreeLearner": "palmette.boosting._weak:SharedTree",
    "boosting.StumpPerClass": "palmette.weak:StumpPerClass",
    "boosting.TreePerClass": "palmette.weak:TreePerClass",
    "calibration.CalibratedHierarchicalClassifier": (
        "palmette.calibration:CalibratedHierarchicalClassifier"
    ),
    "calibration.CalibratedRoute": "palmette.calibration._nodes:CalibratedRoute",
    "calibration.CalibrationScores": "palmette.calibration._conformal_answers:CalibrationScores",
    "calibration.ChainCalibration": "palmette.calibration._chains:ChainCalibration",
    "calibration.ConformalHierarchicalClassifier": (
        "palmette.calibration:ConformalHierarchicalClassifier"
    ),
    "calibration.CurveTable": "palmette.calibration._curves:CurveTable",
    "calibration.FamilyCalibration": "palmette.calibration._nodes:FamilyCalibration",
    "calibration.MissedShares": "palmette.calibration._conformal_answers:MissedShares",
    "calibration.NodeCalibration": "palmette.calibration._nodes:NodeCalibration",
    "calibration.WrappedClassifier": "palmette.base._wrapping:WrappedClassifier",
    "class_tree.AdaBoostBHCClassifier": "palmette.class_tree:AdaBoostBHCClassifier",
    "class_tree.AgglomerativePartition": "palmette.partition:AgglomerativePartition",
    "class_tree.AgglomerativeTree": "palmette.class_tree:AgglomerativeTree",
    "class_tree.AverageRouter": "palmette.routing:AverageRouter",
    "class_tree.BHCTree": "palmette.class_tree:BHCTree",
    "class_tree.BalancedPartition": "palmette.partition:BalancedPartition",
    "class_tree.BalancedTree": "palmette.class_tree:BalancedTree",
    "class_tree.BoostedRouter": "palmette.class_tree._boosted_router:BoostedRouter",
    "class_tree.BoostedRoutes": "palmette.class_tree._boosted_router:BoostedRoutes",
    "class_tree.ChosenRouter": "palmette.routing:ChosenRouter",
    "class_tree.ClassSimilarity": "palmette.class_tree._similarity:ClassSimilarity",
    "class_tree.ClassTreeClassifier": "palmette.class_tree:ClassTreeClassifier",
    "class_tree.ClassTreeEnsemble": "palmette.class_tree:ClassTreeEnsemble",
    "class_tree.ConfusionPartition": "palmette.partition:ConfusionPartition",
    "class_tree.DAGSVMClassifier": "palmette.class_tree:DAGSVMClassifier",
    "class_tree.DagSpace": "palmette.class_tree._search:DagSpace",
    "class_tree.DependencePartition": "palmette.partition:DependencePartition",
    "class_tree.DependenceTree": "palmette.class_tree:DependenceTree",
    "class_tree.EstimatorRouter": "palmette.routing:EstimatorRouter",
    "class_tree.EstimatorRoutes": "palmette.class_tree._routers:EstimatorRoutes",
    "class_tree.FisherNode": "palmette.class_tree._fisher:FisherNode",
    "class_tree.FisherPartition": "palmette.partition:FisherPartition",
    "class_tree.FlatRouter": "palmette.routing:FlatRouter",
    "class_tree.ForestModel": "palmette.class_tree._forest_router:ForestModel",
    "class_tree.ForestRouter": "palmette.routing:ForestRouter",
    "class_tree.KMeansTree": "palmette.class_tree:KMeansTree",
    "class_tree.KernelModel": "palmette.class_tree._kernel_router:KernelModel",
    "class_tree.KernelRouter": "palmette.routing:KernelRouter",
    "class_tree.KernelRoutes": "palmette.class_tree._spectral_router:KernelRoutes",
    "class_tree.LabelEmbeddingTree": "palmette.class_tree:LabelEmbeddingTree",
    "class_tree.LabelTree": "palmette.class_tree._label_tree:LabelTree",
    "class_tree.LinearModel": "palmette.class_tree._shared_router:LinearModel",
    "class_tree.LinearRouter": "palmette.routing:LinearRouter",
    "class_tree.LinearRoutes": "palmette.class_tree._linear_routes:LinearRoutes",
    "class_tree.MFTree": "palmette.class_tree:MFTree",
    "class_tree.MFTreeClassifier": "palmette.class_tree:MFTreeClassifier",
    "class_tree.MarginPartition": "palmette.partition:MarginPartition",
    "class_tree.MarginTree": "palmette.class_tree:MarginTree",
    "class_tree.NMFPartition": "palmette.partition:NMFPartition",
    "class_tree.NMFTree": "palmette.class_tree:NMFTree",
    "class_tree.NodeVotes": "palmette.class_tree._node_boost:NodeVotes",
    "class_tree.OptionTable": "palmette.routing:OptionTable",
    "class_tree.RandomPartition": "palmette.partition:RandomPartition",
    "class_tree.RandomTree": "palmette.class_tree:RandomTree",
    "class_tree.RelaxedPartition": "palmette.partition:RelaxedPartition",
    "class_tree.RelaxedTree": "palmette.class_tree:RelaxedTree",
    "class_tree.RowKernel": "palmette.class_tree._class_kernel:RowKernel",
    "class_tree.SharedRoutes": "palmette.class_tree._shared_router:SharedRoutes",
    "class_tree.ShuffledTree": "palmette.class_tree._simple:ShuffledTree",
    "class_tree.SpectralPartition": "palmette.partition:SpectralPartition",
    "class_tree.SpectralRouter": "palmette.routing:SpectralRouter",
    "class_tree.TermScale": "palmette.class_tree._set_routing:TermScale",
    "decisions.Beam": "palmette.decoding:Beam",
    "decisions.BestF": "palmette.decoding:BestF",
    "decisions.BestPath": "palmette.decoding:BestPath",
    "decisions.Confident": "palmette.decoding:Confident",
    "decisions.ExpectedF": "palmette.decoding:ExpectedF",
    "decisions.Marginal": "palmette.decoding:Marginal",
    "decisions.MinExpectedLoss": "palmette.decoding:MinExpectedLoss",
    "decisions.NodeColumns": "palmette.decisions._coherence:NodeColumns",
    "decisions.ShrunkF": "palmette.decoding:ShrunkF",
    "decisions.Threshold": "palmette.decoding:Threshold",
    "decisions.TopDown": "palmette.decoding:TopDown",
    "decisions.TopK": "palmette.decoding:TopK",
    "decisions.TunedRule": "palmette.decisions._tuned:TunedRule",
    "decisions.Youden": "palmette.decoding:Youden",
    "feature_selection.ChosenNumber": "palmette.feature_selection:ChosenNumber",
    "feature_selection.FisherScore": "palmette.scoring:FisherScore",
    "feature_selection.FsnmScore": "palmette.scoring:FsnmScore",
    "feature_selection.HierarchicalFeatureSelector": (
        "palmette.feature_selection:HierarchicalFeatureSelector"
    ),
    "feature_selection.HirrScore": "palmette.scoring:HirrScore",
    "feature_selection.LambdaPath": "palmette.feature_selection._hirr:LambdaPath",
    "feature_selection.MrmrScore": "palmette.scoring:MrmrScore",
    "feature_selection.NodeColumns": "palmette.feature_selection._ranking:NodeColumns",
    "feature_selection.NodeFit": "palmette.feature_selection._fsnm:NodeFit",
    "feature_selection.NodeScores": "palmette.scoring:NodeScores",
    "feature_selection.NodeStability": "palmette.feature_selection:NodeStability",
    "feature_selection.NodeTransform": "palmette.feature_selection._ranking:NodeTransform",
    "feature_selection.Stability": "palmette.feature_selection:Stability",
    "feature_selection.UnivariateScore": "palmette.scoring:UnivariateScore",
    "forest.AxisSplit": "palmette.routing:AxisSplit",
    "forest.ColumnScale": "palmette.base._column_scale:ColumnScale",
    "forest.Hellinger": "palmette.routing:Hellinger",
    "forest.LabelTwoMeans": "palmette.forest._parameters:LabelTwoMeans",
    "forest.LogisticSplit": "palmette.routing:LogisticSplit",
    "forest.ObliqueTrees": "palmette.forest._oblique_trees:ObliqueTrees",
    "forest.OneValueEach": "palmette.forest._outputs:OneValueEach",
    "forest.OutputAnswers": "palmette.forest._outputs:OutputAnswers",
    "forest.OutputTable": "palmette.forest._outputs:OutputTable",
    "forest.StructuredForestClassifier": "palmette.forest:StructuredForestClassifier",
    "hierarchy.Finding": "palmette.hierarchy.checking._findings:Finding",
    "hierarchy.Findings": "palmette.hierarchy.checking._findings:Findings",
    "hierarchy.Hierarchy": "palmette:Hierarchy",
    "hierarchy.HierarchyCheck": "palmette.hierarchy.checking._findings:HierarchyCheck",
    "hierarchy.NodeLookup": "palmette.hierarchy._names:NodeLookup",
    "hierarchy.Tops": "palmette.hierarchy.files._source:Tops",
    "labels.Container": "palmette.labels._containers:Container",
    "labels.LabelForm": "palmette.labels._forms:LabelForm",
    "labels.LabelSpace": "palmette.labels._space:LabelSpace",
    "labels.NodeLabels": "palmette:NodeLabels",
    "local.FlatClassifier": "palmette.local:FlatClassifier",
    "local.GlobalNaiveBayesClassifier": "palmette.local:GlobalNaiveBayesClassifier",
    "local.LocalPerLevelClassifier": "palmette.local:LocalPerLevelClassifier",
    "local.LocalPerNodeClassifier": "palmette.local:LocalPerNodeClassifier",
    "local.LocalPerParentClassifier": "palmette.local:LocalPerParentClassifier",
    "local.MixedNaiveBayes": "palmette.local:MixedNaiveBayes",
    "local.Scores": "palmette.local._tasks:Scores",
    "local.TaskKey": "palmette.local._tasks:TaskKey",
    "metrics.CoverageCurve": "palmette.metrics:CoverageCurve",
    "metrics.DatasetComparison": "palmette.metrics:DatasetComparison",
    "metrics.HierarchicalScorer": "palmette.metrics:HierarchicalScorer",
    "metrics.LabelDescription": "palmette.metrics:LabelDescription",
    "metrics.MultiScorer": "palmette.metrics:MultiScorer",
    "metrics.NodeCounts": "palmette.metrics:NodeCounts",
    "metrics.ReliabilityCurve": "palmette.metrics:ReliabilityCurve",
    "migration.MigratedClassifier": "palmette.migration:MigratedClassifier",
    "migration.Pending": "palmette.migration._steps:Pending",
    "migration.Step": "palmette.migration._steps:Step",
    "multilabel.BalancedKMeans": "palmette.multilabel._balanced_k_means:BalancedKMeans",
    "multilabel.BinaryRelevance": "palmette.multilabel:BinaryRelevance",
    "multilabel.C45Tree": "palmette.multilabel:C45Tree",
    "multilabel.COCOA": "palmette.multilabel:COCOA",
    "multilabel.CalibratedLabelRanking": "palmette.multilabel:CalibratedLabelRanking",
    "multilabel.ChainEnsemble": "palmette.multilabel:ChainEnsemble",
    "multilabel.Choice": "palmette.multilabel._homer:_Choice",
    "multilabel.HOMER": "palmette.multilabel:HOMER",
    "multilabel.HOMERTree": "palmette.multilabel:HOMERTree",
    "multilabel.IBLR": "palmette.multilabel:IBLR",
    "multilabel.IterativeStratifiedKFold": "palmette.multilabel:IterativeStratifiedKFold",
    "multilabel.IterativeStratifiedShuffleSplit": (
        "palmette.multilabel:IterativeStratifiedShuffleSplit"
    ),
    "multilabel.LeafShares": "palmette.multilabel._leaf_shares:LeafShares",
    "multilabel.LinearMultilabel": "palmette.multilabel:LinearMultilabel",
    "multilabel.MLROS": "palmette.multilabel:MLROS",
    "multilabel.MLRUS": "palmette.multilabel:MLRUS",
    "multilabel.MLSMOTE": "palmette.multilabel:MLSMOTE",
    "multilabel.MLkNN": "palmette.multilabel:MLkNN",
    "multilabel.NeighbourLabels": "palmette.multilabel._neighbours:NeighbourLabels",
    "multilabel.RAkEL": "palmette.multilabel:RAkEL",
    "multilabel.ThresholdedMultilabel": "palmette.multilabel:ThresholdedMultilabel",
    "multilabel.TreesMultilabel": "palmette.multilabel:TreesMultilabel",
    "multipath.Categories": "palmette.multipath._base:_Categories",
    "multipath.CategoryCodes": "palmette.multipath._categories:CategoryCodes",
    "multipath.CoherentBlendClassifier": "palmette.multipath:CoherentBlendClassifier",
    "multipath.CoherentForestClassifier": "palmette.multipath:CoherentForestClassifier",
    "multipath.CoherentKernelClassifier": "palmette.multipath:CoherentKernelClassifier",
    "multipath.CoherentNetworkClassifier": "palmette.multipath:CoherentNetworkClassifier",
    "multipath.Decomposed": "palmette.multipath._kernel:Decomposed",
    "multipath.FeatureScaling": "palmette.multipath._base:FeatureScaling",
    "multipath.NodeExplanation": "palmette.multipath:NodeExplanation",
    "multipath.NumpyNetwork": "palmette.multipath._layers:NumpyNetwork",
    "multipath.Ranks": "palmette.multipath._base:_Ranks",
    "table.AnswerForm": "palmette.table._given_labels:AnswerForm",
    "table.ColumnProfile": "palmette.table._profile:ColumnProfile",
    "table.Entry": "palmette.table._tournament:Entry",
    "table.Finished": "palmette.table._final:Finished",
    "table.Fold": "palmette.table._tournament:Fold",
    "table.NumberScaler": "palmette.table._features:NumberScaler",
    "table.Schema": "palmette.table._schema:Schema",
    "table.Score": "palmette.table._tournament:Score",
    "table.TableFeatures": "palmette.table._features:TableFeatures",
    "table.TableModel": "palmette.table:TableModel",
    "table.TableProblem": "palmette.table._problem:TableProblem",
    "table.TargetForm": "palmette.table._target:TargetForm",
    "table.TextVectorizer": "palmette.table:TextVectorizer",
    "trees.BinMapper": "palmette.trees._binning:BinMapper",
    "trees.Carts": "palmette.trees._carts:Carts",
}

_NAME = re.compile(r"[a-z]\w*(\.[A-Za-z]\w*)+", re.ASCII)
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)

# by name, the location of a class, or the class itself
_where: dict[str, str | type] = dict(STORED)
# by the name of a class in its module: its possible stable names
_candidates: dict[str, list[str]] = {}
_found: dict[type, str | None] = {}  # cache of `stable_name`
for _name, _location in STORED.items():
    _candidates.setdefault(_location.partition(":")[2], []).append(_name)


def register(name: str, location: str | type) -> None:
    """Register a class under a stable name, or set the new location of a registered class.

    Parameters
    ----------
    name : str
        A folder and a name, such as ``"boosting.SharedTree"``, for files.
    location : str or type
        ``"package.module:Class"``, which is imported when needed; or the class itself.

    Examples
    --------
    >>> register("hierarchy.Hierarchy", "palmette.hierarchy._hierarchy:Hierarchy")
    >>> find_class("hierarchy.Hierarchy").__name__
    'Hierarchy'
    """
    if not _NAME.fullmatch(name) or name.startswith("palmette."):
        raise ValueError(f"{name!r}: expected a folder and a name, such as 'boosting.SharedTree'.")
    if isinstance(location, str) and not re.fullmatch(r"[\w.]+:\w+", location):
        raise ValueError(f"{location!r}: expected 'package.module:Class'.")
    own = location.partition(":")[2] if isinstance(location, str) else location.__name__
    for names in _candidates.values():
        if name in names:
            names.remove(name)
    _candidates.setdefault(own, []).append(name)
    _where[name] = location
    _found.clear()


def find_class(name: Any) -> type:
    """Return the class of a stable name.

    Raises
    ------
    ValueError
        If no class has this name.

    Examples
    --------
    >>> find_class("labels.LabelForm").__name__
    'LabelForm'
    >>> find_class("os.system")
    Traceback (most recent call last):
      ...
    ValueError: 'os.system' is not a class that a file may contain: no class of this Palmette has...
    """
    where = _where.get(name) if isinstance(name, str) else None
    if where is None:
        raise ValueError(
            f"{str(name)[:120]!r} is not a class that a file may contain: no class of this "
            "Palmette has this name. A later version may have it, or an extension that has to be "
            "imported first"
        )
    if isinstance(where, str):
        module, _, own = where.partition(":")
        where = getattr(importlib.import_module(module), own)
    if not inspect.isclass(where):
        raise ValueError(f"{name!r} is a {type(where).__name__}: expected a class")
    return where


def stable_name(kind: type) -> str | None:
    """Return the stable name of a class, or None if it has none."""
    if kind not in _found:
        _found[kind] = _name_of(kind)
    return _found[kind]


def _name_of(kind: type) -> str | None:
    package = kind.__module__.partition(".")[0]
    for name in _candidates.get(kind.__name__, ()):
        where = _where[name]
        # do not import modules for a class of another library
        if where is kind or (isinstance(where, str) and re.split(r"[.:]", where)[0] == package):
            try:
                if find_class(name) is kind:
                    return name
            except (ImportError, AttributeError):  # an optional library is missing
                continue
    return None


def is_of_palmette(kind: type) -> bool:
    """Return whether a class belongs to Palmette."""
    return kind.__module__.partition(".")[0] == "palmette"


# ---------------------------------------------------------------------- other libraries


def full_name(kind: type) -> str:
    """Return the name of a class with its module, as for classes of other libraries."""
    return f"{kind.__module__}.{kind.__qualname__}"


def import_class(name: str) -> type | None:
    """Return the class of a full name if its module defines it, else None."""
    module_name, _, class_name = name.rpartition(".")
    if not _MODULE.fullmatch(name):
        return None
    try:
        module = importlib.import_module(module_name)
    except ImportError:
        return None
    found = vars(module).get(class_name)
    is_own = inspect.isclass(found) and full_name(found) == name
    return found if is_own else None
