"""What the paper on MF-Tree states, claim by claim, with the printed figures."""

from __future__ import annotations

__all__ = ["REMARK", "STATEMENTS"]

# place, claim, printed figures, words of the stored claims, and why it cannot be checked; see
# `papers.statements.PaperClaim`
STATEMENTS: tuple[tuple[str, ...], ...] = (
    ("Figure 1", "the covariance of four classes in a tree with edges a to f", "a matrix"),
    ("Equations 3 to 5", "the least loss is the largest HSIC", "a derivation"),
    ("Theorem 1", "Z'Z + lambda A is positive definite", "a proof", "least eigenvalue"),
    ("Theorem 1, edges", "an A can be chosen for any tree, of edges of length 1", "in words"),
    ("Equations 6 to 10", "HSIC is a sum over the nodes of the tree", "a derivation"),
    ("Equations 6 and 7", "the covariance of eight leaves is a sum of three block-diagonal "
     "matrices", "a matrix"),
    ("Equation 5", "trees of MF-Tree have a larger objective (HSIC) than those of all other "
     "learners here", "in words", ": the objective is"),
    ("Equation 5", "the same, with the objective divided by the length of the kernel of the tree, "
     "which grows with its depth", "not printed", "relative objective"),
    ("Section 1", "every class resides in exactly one leaf", "in words", "one leaf"),
    ("Section 1", "test time is sublinear in the number of classes (products, as times depend on "
     "the features, too)", "in words", "sublinear"),
    ("Section 1", "a tree tests quicker than flat methods", "in words",
     "quicker than flat methods"),
    ("Section 1", "the same by products with weights, which no implementation changes",
     "not printed", "fewer products than flat methods"),
    ("Section 1", "trees help with imbalanced classes: F1 of the rarest quarter, where the largest "
     "class has ten times the rows of the smallest", "in words", "helps rare classes"),
    ("Section 4.3", "G may be relaxed from zeros and ones to eigenvectors", "in words",
     "relaxation of G"),
    ("Section 4.4, cost", "a node costs n² c + c² n + c³, and c log c + n d with tau", "in words",
     "", "the kernel of the rows is never formed here, so that a node costs less; Table 3 has CPU "
     "times, benchmarks/README.md those of 10,000 classes and more"),
    ("Table 3", "tau of 2 or 3 (Section 4.4) loses no significant F1", "in words",
     "no significant F1"),
    ("Footnote 2", "one-versus-one is about as accurate as trees", "in words",
     "one-versus-one is comparable"),
    ("Footnote 2", "but extremely slow", "in words", "one-versus-one takes"),
    ("Table 1", "sizes of the sets", "30,607 images of 256 classes; 24,378 articles of 214; "
     "65,156 of 1,618", "", "the samples cannot be downloaded; our sets are in Table 1 below"),
    ("Table 2", "MF-Tree has the best F1 of six methods, all as published",
     ".3816, .376, .5406, .3318; DAGSVM .369, .356, .5309, .3106",
     "best F1 of the methods as published"),
    ("Table 2", "the same beside our versions of the rivals (class-level RNMF and RDM, our starts "
     "of DRHL), all greedy", "not printed", "best F1 beside our versions of its rivals, greedy"),
    ("Table 2", "our MF-Tree has the best F1, all with a beam of 5", "not printed",
     "best F1 beside our versions of its rivals, with a beam"),
    ("Table 2", "MF-Tree has the least test time of six methods, all as published",
     "77.5, 135.6, 152.7, 267.7 s", "least test time of the methods as published"),
    ("Table 2", "MF-Tree as published has the least test time beside our versions, all greedy",
     "not printed", "least test time beside our versions of its rivals, greedy"),
    ("Table 2", "our MF-Tree has the least test time, all with a beam of 5", "not printed",
     "least test time beside our versions of its rivals, with a beam"),
    ("Table 2", "MF-Tree tests several times as quick as DAGSVM", "five to six times",
     "gains as much over DAGSVM"),
    ("Table 2", "our MF-Tree is at least as accurate as one-vs-rest, which the paper left out (our "
     "question)", "not printed", "it is at least as accurate"),
    ("Table 2", "and takes at most a third of its products (our question)", "not printed",
     "it needs a third at most"),
    ("Table 2", "its tree is smaller than those of DRHL and RDM, as published", "in words",
     "smaller than those of DRHL and RDM as published"),
    ("Table 2", "the same beside our versions of DRHL and RDM", "not printed",
     "smaller than those of DRHL and RDM in our versions"),
    ("Table 2", "RNMF has a shorter tree and a longer test time", "in words",
     "RNMF is shorter and slower"),
    ("Table 2", "DAGSVM has the largest tree, as deep as there are classes",
     "256, 256, 214, 1,618", "DAGSVM has the largest tree"),
    ("Table 2", "the same on Caltech-256 and Wikipedia", "four columns", "",
     "the features of the samples cannot be downloaded; docs/data.md says how to use a copy of "
     "your own"),
    ("Table 2, DAGSVM", "DAGSVM with 1,618 classes", "F1 .3106, 1,618.6 s", "",
     "it has a classifier for each of 1,308,153 pairs of classes, which takes too long here"),
    ("Table 2, one-vs-rest", "one-vs-rest with 1,618 classes", "left out by the paper, too", "",
     "it has 1,618 classifiers of all 32,360 rows, which takes too long beside the others"),
    ("Section 5.2", "MF-Tree is parameter-free", "in words", "", "a property of Algorithm 1, not a "
     "figure: it has no parameter but the kernel; Algorithm 3 adds tau"),
    ("Figure 2, p = 1", "with p = 1 RNMF is a stump of c one-class classifiers, as one-vs-all",
     "in words"),
    ("Figure 2", "MF-Tree is better than all others, whatever their parameters", "curves",
     "better than the others"),
    ("Figure 2", "trees of RNMF and RDM are deeper with a smaller p", "in words",
     "less deep with a larger p"),
    ("Figure 2", "deeper trees have a lower F1", "in words", "lowest with p = 2"),
    ("Figure 2", "deeper trees test slower", "in words", "take longest with p = 2"),
    ("Figure 3", "tree MSE of result 1", ".03125", "as in the paper"),
    ("Figure 3", "tree MSE of result 2", ".01383", "the paper's value is one of them"),
    ("Figure 3", "result 2 is nearer to the actual tree than result 1", ".01383 and .03125",
     "nearer than result 1"),
    ("Figure 4", "its tree is nearer to the given one than that of CMTL", "figures",
     "MF-Tree is nearer"),
    ("Figure 4", "the measure tells learned trees from random ones (our question)", "not printed",
     "better than by chance"),
    ("Figure 5", "related classes are close together", "an excerpt of a tree"),
    ("Table 3", "a small tau saves training time, of our binary tree with linear classifiers (at "
     "least a tenth; this bound is ours)", "22.6% with tau = 3", "is saved (our bound)"),
    ("Table 3", "training time continues to improve as tau grows", "in words",
     "continues to improve"),
    ("Table 3", "the gain tapers off at tau = 6", "in words", "tapers off"),
    ("Table 3", "F1 falls as tau grows", ".3318, .3289 (3), .2868 (6)", "F1 falls"),
)  # fmt: skip

REMARK = (
    "*MF-Tree as published* is Algorithm 1: classes are divided by the magnitudes of two "
    "eigenvectors whose largest entry is positive, rows by the projections of Algorithm 2 with a "
    "linear kernel, without a beam: verdicts on it are of this reading. Stored figures of it and "
    "*one-hot router* were made with similarities of test rows that are not centred; runs made now"
    " centre them as those of training rows, and have further rows: *larger entry* divides by the "
    "entries of G and not by their magnitudes, *one-hot router* decides with the zeros and ones of"
    " G, and *rbf* has this kernel, with a width chosen on training rows, in place of the linear "
    "one. *MF-Tree* is ours, `MFTreeClassifier`: several groups per node, linear classifiers, a "
    "beam. *MF-Tree, binary* is our tree, by 2-means, with linear classifiers. *RNMF as published*"
    " and *RDM as published* divide rows, and have one-class classifiers at their leaves; *RNMF* "
    "and *RDM* are ours, and divide classes. *DRHL, published starts* begins at every node with "
    "the five pairs of classes that are confused least. All trees of classes but MF-Tree as "
    "published have linear classifiers at their nodes, also those of its rivals; only the leaves "
    "of *RNMF as published* and *RDM as published* have kernels (rbf), so compare these two with "
    "the rows *rbf*."
)
