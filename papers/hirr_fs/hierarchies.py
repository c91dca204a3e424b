"""Figures 5, 6 and 11: the hierarchies of VOC, Cifar100 and 20 Newsgroups, drawn."""

from __future__ import annotations

from typing import Any

from palmette.hierarchy._hierarchy import Hierarchy
from papers.drawing import COLOURS, DARK, PALE, new_figure

__all__ = ["HIERARCHIES", "draw_hierarchy", "hierarchy_facts", "hierarchy_of"]

_VOC = """
vehicle/4-wheeled/car vehicle/4-wheeled/bus vehicle/2-wheeled/bicycle vehicle/2-wheeled/motorbike
vehicle/aeroplane vehicle/boat vehicle/train
household/furniture/seating/chair household/furniture/seating/sofa household/furniture/dining_table
household/tv_monitor household/bottle household/potted_plant
animal/domestic/cat animal/domestic/dog animal/farmyard/cow animal/farmyard/horse
animal/farmyard/sheep animal/bird person
"""
_CIFAR100 = {
    "aquatic mammals": "beaver dolphin otter seal whale",
    "fish": "aquarium_fish flatfish ray shark trout",
    "flowers": "orchid poppy rose sunflower tulip",
    "food containers": "bottle bowl can cup plate",
    "fruit and vegetables": "apple mushroom orange pear sweet_pepper",
    "household electrical devices": "clock keyboard lamp telephone television",
    "household furniture": "bed chair couch table wardrobe",
    "insects": "bee beetle butterfly caterpillar cockroach",
    "large carnivores": "bear leopard lion tiger wolf",
    "large man-made outdoor things": "bridge castle house road skyscraper",
    "large natural outdoor scenes": "cloud forest mountain plain sea",
    "large omnivores and herbivores": "camel cattle chimpanzee elephant kangaroo",
    "medium-sized mammals": "fox porcupine possum raccoon skunk",
    "non-insect invertebrates": "crab lobster snail spider worm",
    "people": "baby boy girl man woman",
    "reptiles": "crocodile dinosaur lizard snake turtle",
    "small mammals": "hamster mouse rabbit shrew squirrel",
    "trees": "maple_tree oak_tree palm_tree pine_tree willow_tree",
    "vehicles 1": "bicycle bus motorcycle pickup_truck train",
    "vehicles 2": "lawn_mower rocket streetcar tank tractor",
}
_NEWSGROUPS = """
alt.atheism
comp/comp.graphics comp/comp.os.ms-windows.misc comp/comp.sys.ibm.pc.hardware
comp/comp.sys.mac.hardware comp/comp.windows.x
misc.forsale
rec/rec.autos rec/rec.motorcycles rec/rec.sport.baseball rec/rec.sport.hockey
sci/sci.crypt sci/sci.electronics sci/sci.med sci/sci.space
soc.religion.christian
talk/talk.politics.guns talk/talk.politics.mideast talk/talk.politics.misc talk/talk.religion.misc
"""
# figure: (data set, paths, nodes and leaves in Table 2 and the text)
HIERARCHIES: dict[str, tuple[str, list[tuple[str, ...]], tuple[int, int] | None]] = {
    "figure-5": ("PASCAL VOC", [tuple(path.split("/")) for path in _VOC.split()], (30, 20)),
    "figure-6": (
        "Cifar100",
        [(group, name) for group, names in _CIFAR100.items() for name in names.split()],
        (121, 100),
    ),
    "figure-11": ("20 Newsgroups", [tuple(p.split("/")) for p in _NEWSGROUPS.split()], None),
}


def hierarchy_of(figure: str) -> Hierarchy:
    """Return the hierarchy of a figure.

    Examples
    --------
    >>> hierarchy_of("figure-5").n_nodes
    30
    """
    return Hierarchy.from_paths(HIERARCHIES[figure][1])


def hierarchy_facts() -> dict[str, dict[str, Any]]:
    """Return the facts of the three figures: edges by name."""
    found = {}
    for figure, (name, _, _) in HIERARCHIES.items():
        tree = hierarchy_of(figure)
        found[figure] = {
            "title": f"Hierarchy of {name}",
            "names": [str(each) for each in tree.names],
            "parents": tree.parents.tolist(),
        }
    return found


def draw_hierarchy(name: str, facts: Any) -> Any:
    """Draw a hierarchy from left to right, leaves one below the other, in one or more columns."""
    names, parents = facts["names"], facts["parents"]
    children: list[list[int]] = [[] for _ in names]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    depth = [0] * len(names)
    for node, parent in enumerate(parents):  # parents come before their children
        depth[node] = depth[parent] + 1 if parent >= 0 else 0
    places = _places(children)
    n_leaves = sum(not below for below in children)
    width, height = 2.6 * (max(depth) + 1), 0.9 + 0.17 * n_leaves
    figure = new_figure(width, height, f"{name}. {facts['title']}")
    axes = figure.subplots()
    axes.set_axis_off()
    for node, parent in enumerate(parents):
        if parent >= 0:
            ends = ([depth[parent], depth[node]], [places[parent], places[node]])
            axes.plot(*ends, color=PALE, linewidth=0.8, zorder=1)
        colour = COLOURS[0] if children[node] else DARK
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        text = names[node].replace("_", " ")
        axes.text(depth[node], places[node], text, fontsize=7, color=colour, va="center", bbox=box)
    axes.set_xlim(-0.1, max(depth) + 0.9)
    axes.set_ylim(n_leaves - 0.4, -0.6)
    return figure


def _places(children: list[list[int]]) -> list[float]:
    """Return the height of every node: leaves in order, others in the middle of their children."""
    places, n_seen = [0.0] * len(children), 0
    # in preorder the leaves come in order, and children after their parents
    for node, below in enumerate(children):
        if not below:
            places[node] = float(n_seen)
            n_seen += 1
    for node in range(len(children) - 1, -1, -1):
        if children[node]:
            own = [places[child] for child in children[node]]
            places[node] = (min(own) + max(own)) / 2
    return places
