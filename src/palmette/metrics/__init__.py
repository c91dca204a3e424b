"""Metrics: of labels on a hierarchy, of multi-label scores and imbalance, of hierarchies."""

from palmette.core.costs import hierarchical_costs
from palmette.metrics._sklearn_names import register_scorers
from palmette.metrics.calibration import (
    CoverageCurve,
    ReliabilityCurve,
    coverage_curve,
    expected_calibration_error,
    level_confidences,
    reliability_curve,
)
from palmette.metrics.clades import clade_precision_recall_fscore
from palmette.metrics.comparison import (
    DatasetComparison,
    compare_over_datasets,
    critical_difference,
)
from palmette.metrics.counts import NodeCounts, node_counts
from palmette.metrics.edit_distance import tree_edit_distance
from palmette.metrics.hierarchical import (
    hierarchical_f1_score,
    hierarchical_fbeta_score,
    hierarchical_precision_recall_fscore,
    hierarchical_precision_score,
    hierarchical_recall_score,
)
from palmette.metrics.imbalance import (
    LabelDescription,
    cvir,
    describe_labels,
    imbalance_ratios,
    label_cardinality,
    label_density,
    label_diversity,
    mean_imbalance_ratio,
    proportion_of_distinct_label_sets,
    scumble,
    within_label_imbalance_ratios,
)
from palmette.metrics.lca import lca_f1_score, lca_precision_recall_fscore
from palmette.metrics.levels import (
    leaf_accuracy_score,
    level_accuracy_score,
    path_consistency_score,
)
from palmette.metrics.losses import (
    h_loss,
    hierarchical_hamming_loss,
    hmc_loss,
    hmc_ratio,
    tree_induced_error,
)
from palmette.metrics.multilabel import (
    micro_auprc,
    multilabel_auc_score,
    multilabel_average_precision_score,
    multilabel_f1_score,
    multilabel_hamming_loss,
    subset_accuracy_score,
)
from palmette.metrics.ranking import (
    coverage_error,
    label_ranking_average_precision,
    label_ranking_loss,
    one_error,
)
from palmette.metrics.resampled import resampled_ttest
from palmette.metrics.scorers import SCORERS, HierarchicalScorer, MultiScorer, get_scorer
from palmette.metrics.top_k import hierarchical_top_k_accuracy_score
from palmette.metrics.tree_comparison import compare_trees
from palmette.metrics.trees import clade_purity, tree_mse, triplet_accuracy

__all__ = [
    "SCORERS",
    "CoverageCurve",
    "DatasetComparison",
    "HierarchicalScorer",
    "LabelDescription",
    "MultiScorer",
    "NodeCounts",
    "ReliabilityCurve",
    "clade_precision_recall_fscore",
    "clade_purity",
    "compare_over_datasets",
    "compare_trees",
    "coverage_curve",
    "coverage_error",
    "critical_difference",
    "cvir",
    "describe_labels",
    "expected_calibration_error",
    "get_scorer",
    "h_loss",
    "hierarchical_costs",
    "hierarchical_f1_score",
    "hierarchical_fbeta_score",
    "hierarchical_hamming_loss",
    "hierarchical_precision_recall_fscore",
    "hierarchical_precision_score",
    "hierarchical_recall_score",
    "hierarchical_top_k_accuracy_score",
    "hmc_loss",
    "hmc_ratio",
    "imbalance_ratios",
    "label_cardinality",
    "label_density",
    "label_diversity",
    "label_ranking_average_precision",
    "label_ranking_loss",
    "lca_f1_score",
    "lca_precision_recall_fscore",
    "leaf_accuracy_score",
    "level_accuracy_score",
    "level_confidences",
    "mean_imbalance_ratio",
    "micro_auprc",
    "multilabel_auc_score",
    "multilabel_average_precision_score",
    "multilabel_f1_score",
    "multilabel_hamming_loss",
    "node_counts",
    "one_error",
    "path_consistency_score",
    "proportion_of_distinct_label_sets",
    "register_scorers",
    "reliability_curve",
    "resampled_ttest",
    "scumble",
    "subset_accuracy_score",
    "tree_edit_distance",
    "tree_induced_error",
    "tree_mse",
    "triplet_accuracy",
    "within_label_imbalance_ratios",
]

register_scorers()  # so that scoring="hierarchical_f1" works wherever the package is imported
