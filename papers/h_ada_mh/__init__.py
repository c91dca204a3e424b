"""C. Chelmis, W. Qi: Hierarchical multiclass AdaBoost. Its tables and figures, made again."""
