"""HiRR-FS and other selectors: the tables and figures of the paper, reproduced."""
