"""
Published multi-label methods side by side
==========================================

Eight methods with the same interface, on the same generated data, by ranking quality and time.
"""

# %%
from time import process_time

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MultiLabelBinarizer

import palmette as pm

data = pm.datasets.make_hierarchical_classification(
    600, 20, branching=(10,), multi_path=2, class_sep=2.5, random_state=0
)
y = MultiLabelBinarizer().fit_transform(data.y)
X_train, X_test, y_train, y_test = pm.multilabel.iterative_train_test_split(
    data.X, y, test_size=0.4, random_state=0
)
models = [
    pm.BinaryRelevance(LogisticRegression(max_iter=300)),
    pm.MLkNN(),
    pm.IBLR(),
    pm.ChainEnsemble(n_chains=5, random_state=0),
    pm.CalibratedLabelRanking(random_state=0),
    pm.RAkEL(random_state=0),
    pm.HOMER(random_state=0),
    pm.StructuredForestClassifier(n_estimators=40, random_state=0),
]

# %%
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for model in models:
    start = process_time()
    proba = model.fit(X_train, y_train).predict_proba(X_test)
    seconds = process_time() - start
    auc = pm.metrics.multilabel_auc_score(y_test, proba)
    axes.scatter(seconds, auc, s=40)
    axes.annotate(type(model).__name__, (seconds, auc), xytext=(5, 4), textcoords="offset points")
axes.set(xscale="log", xlabel="CPU seconds of fit and predict", ylabel="macro AUC")
axes.margins(x=0.3)
plt.show()
