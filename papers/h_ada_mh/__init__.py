"""C. Chelmis, W. Qi: Hierarchical multiclass AdaBoost, reproduced."""
