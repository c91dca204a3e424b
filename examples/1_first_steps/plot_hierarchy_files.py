"""
Read, inspect and draw a taxonomy
=================================

A `Hierarchy` is read from many formats, answers questions about ancestors and distances, and is
written and drawn.
"""

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import palmette as pm

text = """\
Food > Fruit > Apples
Food > Fruit > Pears
Food > Bread
Tools > Saws > Hand saws
Tools > Saws > Chain saws
Tools > Nails
"""
folder = Path(tempfile.mkdtemp())
(folder / "taxonomy.txt").write_text(text)
h = pm.Hierarchy.read(folder / "taxonomy.txt")
print(h)

# %%
# Nodes are numbered in preorder and named by their paths. Distances count edges.
print("nodes:", h.n_nodes, "leaves:", len(h.leaves), "levels:", h.max_depth)
print("common ancestor:", h.lca("Food/Fruit/Apples", "Food/Bread"))
print("distance:", h.distance("Food/Fruit/Apples", "Tools/Nails"))

# %%
# Other formats are written by the suffix of the file.
h.write(folder / "taxonomy.json")
assert pm.Hierarchy.read(folder / "taxonomy.json") == h
print(h.to_newick())

# %%
# A drawing with any value per node, here the number of leaves below it.
below = [len(set(h.descendants(node)) & set(h.leaves)) or 1 for node in range(h.n_nodes)]
pm.plotting.HierarchyDisplay(h, below, "leaves below").plot()
plt.show()
