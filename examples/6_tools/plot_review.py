"""
Labels that look wrong
======================

Some labels of a table are replaced by wrong ones. `palmette.review` ranks the rows by how doubtful
their label is, and finds most of them among the first.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import palmette as pm

words = {
    "Food > Fruit": "apple pear plum cherry grape fresh sweet",
    "Food > Bread": "rye wheat loaf roll toast fresh baked",
    "Tools > Saws": "blade teeth steel hand chain sharp",
    "Tools > Nails": "brass iron long head point steel sharp",
}
rng = np.random.default_rng(0)
truth = rng.choice(list(words), 400)
table = pd.DataFrame(
    {"title": [" ".join(rng.choice(words[kind].split(), 4)) for kind in truth], "kind": truth}
)
wrong = rng.choice(400, 30, replace=False)
table.loc[wrong, "kind"] = [rng.choice([k for k in words if k != truth[row]]) for row in wrong]

# %%
model = pm.fit_table(table, target="kind", model="class-tree", separator=" > ", folds=0)
found = pm.review(model, table, folds=3, top=100)
print(found[["row", "given", "proposed", "reason"]].head(3).to_string(max_colwidth=40))

# %%
# How many planted errors are found while a person goes down the list.
doubtful = found[found["finding"] == "wrong label"]
hits = np.isin(doubtful["row"], wrong).cumsum()
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(np.arange(1, len(hits) + 1), hits, color="tab:green", label="found")
axes.plot([0, 30], [0, 30], "--", color="tab:gray", label="best possible")
axes.set(xlabel="rows that a person looks at", ylabel="wrong labels that are found")
axes.legend()
plt.show()
