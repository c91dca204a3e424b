"""HiRR-FS and the selectors beside it: the tables and figures of the paper, made again."""
