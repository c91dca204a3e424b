"""Published figures: micro AU(PRC) on the test rows, learnt from training and validation rows."""

from __future__ import annotations

__all__ = ["DATASETS", "PUBLISHED", "REFERENCE", "RIVALS"]

REFERENCE = (
    "E. Giunchiglia, T. Lukasiewicz (2020). Coherent hierarchical multi-label classification "
    "networks. NeurIPS 33. With HMCN-F (Wehrmann et al., 2018) and CLUS-ENS (Schietgat et al., "
    "2010)."
)

RIVALS = ("CLUS-ENS", "HMCN-F", "C-HMCNN")

# CLUS-ENS, HMCN-F, C-HMCNN; None where no figure is at hand
PUBLISHED: dict[str, tuple[float | None, float | None, float]] = {
    "cellcycle_fun": (0.227, 0.252, 0.255),
    "derisi_fun": (0.188, 0.193, 0.195),
    "eisen_fun": (0.271, 0.298, 0.306),
    "gasch1_fun": (0.267, 0.284, 0.286),
    "spo_fun": (0.210, 0.211, 0.215),
    "cellcycle_go": (None, 0.400, 0.413),
    "derisi_go": (None, None, 0.370),
    "eisen_go": (None, None, 0.455),
    "gasch1_go": (None, None, 0.436),
    "spo_go": (None, None, 0.382),
    "enron_corr": (None, None, 0.756),
    "diatoms": (None, None, 0.758),
    "imclef07a": (None, None, 0.956),
    "imclef07d": (None, None, 0.927),
}
DATASETS = tuple(PUBLISHED)
