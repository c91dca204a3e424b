"""Metrics for hierarchical and multi-label predictions, imbalanced labels and hierarchies."""

from palmette.decisions._losses import hierarchical_costs
from palmette.metrics._calibration import (
    CoverageCurve,
    ReliabilityCurve,
    coverage_curve,
    expected_calibration_error,
    level_confidences,
    likely_labels,
    reliability_curve,
)
from palmette.metrics._comparison import (
    DatasetComparison,
    compare_over_datasets,
    critical_difference,
    resampled_ttest,
)
from palmette.metrics._counts import NodeCounts, node_counts
from palmette.metrics._edit_distance import tree_edit_distance
from palmette.metrics._hierarchical import (
    hierarchical_f1_score,
    hierarchical_fbeta_score,
    hierarchical_precision_recall_fscore,
    hierarchical_precision_score,
    hierarchical_recall_score,
    leaf_accuracy_score,
    level_accuracy_score,
    path_consistency_score,
)
from palmette.metrics._imbalance import (
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
from palmette.metrics._lca import lca_f1_score, lca_precision_recall_fscore
from palmette.metrics._losses import (
    h_loss,
    hierarchical_hamming_loss,
    hmc_loss,
    hmc_ratio,
    tree_induced_error,
)
from palmette.metrics._multilabel import (
    coverage_error,
    label_ranking_average_precision,
    label_ranking_loss,
    micro_auprc,
    multilabel_auc_score,
    multilabel_average_precision_score,
    multilabel_f1_score,
    multilabel_hamming_loss,
    one_error,
    subset_accuracy_score,
)
from palmette.metrics._scorers import (
    SCORERS,
    HierarchicalScorer,
    MultiScorer,
    get_scorer,
    register_scorers,
)
from palmette.metrics._top_k import (
    hierarchical_top_k_accuracy_score,
    level_top_k_accuracy_score,
)
from palmette.metrics._trees import (
    clade_precision_recall_fscore,
    clade_purity,
    compare_trees,
    tree_mse,
    triplet_accuracy,
)

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
    "level_top_k_accuracy_score",
    "likely_labels",
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
