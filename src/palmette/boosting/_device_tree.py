"""Growing a tree that all columns share on a device of torch, level by level.

The tree is that of `BlockGrower`: draws are made here, by the same generator, and the device finds
the ranges of the codes and the sums that choose among the draws. Rows are sorted by node and
divided into blocks of one node each. Sums over a block are products of matrices, as precise as the
gradients, and those of blocks are added in another product, in float64: nothing depends on the
order in which threads of the device write, and trees are the same in every run.

Calls of the device cost time, and waiting for it more: what is computed is divided only where it
would not fit, and a level waits for the device twice, for ranges and for gains.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette.base._devices import placed
from palmette.boosting._block_sums import CLEARLY, LEAST
from palmette.boosting._block_tree import draw_splits
from palmette.boosting._weak import GrownTree, SharedTree, TrainingRows, draw_columns
from palmette.trees._binning import count_features

Codes: TypeAlias = NDArray[np.uint8]
Counts: TypeAlias = NDArray[np.int64]
Indices: TypeAlias = NDArray[np.int32]
Tensor: TypeAlias = Any  # of torch, which is imported where it is used

_AT_ONCE = 2**27  # numbers of an intermediate result, whatever the number of rows
_SHORTEST, _LONGEST = 8, 256  # rows of a block
_SHORT = 32  # rows that are summed in float32
_BLOCKS_OF_GROUP = 4  # wanted on average, so that few places of blocks are empty


def at_once(n_numbers: int) -> int:
    """Return how many rows of some numbers each are computed together."""
    return max(1, _AT_ONCE // max(n_numbers, 1))


@contextmanager
def full_precision() -> Iterator[None]:
    """Multiply matrices of float32 as such, where others may allow fewer digits (TF32)."""
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


# ---------------------------------------------------------------------------- rows in groups


class Part(NamedTuple):
    """Some blocks of rows.

    Parameters
    ----------
    rows, known : int64 tensors of shape (n_blocks, n_rows)
        Rows of a block. Empty places, at its end, have the number of samples in `rows` and the last
        row of the group in `known`.
    group : int64 tensor of shape (n_blocks,)
        Group of a block, less `first`.
    first, stop : int
        The groups of the blocks.
    """

    rows: Tensor
    known: Tensor
    group: Tensor
    first: int
    stop: int

    def add_to(self, sums: Tensor, of_blocks: Tensor) -> None:
        """Add sums of blocks, (n_blocks, ...), to those of groups: float64, (n_groups, ...)."""
        import torch

        numbers = torch.arange(self.stop - self.first, device=self.group.device)
        is_of = (numbers[:, None] == self.group).to(sums.dtype)
        found = is_of @ of_blocks.reshape(len(of_blocks), -1).to(sums.dtype)
        sums[self.first : self.stop].add_(found.reshape(-1, *of_blocks.shape[1:]))


class GroupedRows:
    """Rows in the order of their groups, in blocks of rows of one group.

    Parameters
    ----------
    groups : int16 tensor of shape (n_samples,)
        Group of each row; -1 for none.
    n_groups : int
    counts : int array of shape (n_groups,), optional
        Number of rows of each group, also an attribute; found if it is not given.
    """

    def __init__(self, groups: Tensor, n_groups: int, counts: Counts | None = None) -> None:
        import torch

        device = groups.device
        found = torch.sort(groups, stable=True)
        if counts is None:
            limits = torch.arange(n_groups + 1, dtype=groups.dtype, device=device)
            counts = np.diff(torch.searchsorted(found.values, limits).cpu().numpy())
        self.counts = counts
        wanted = int(counts.sum()) // (_BLOCKS_OF_GROUP * n_groups)
        self._size = min(_LONGEST, max(_SHORTEST, 2 ** max(wanted, 1).bit_length() // 2))
        n_blocks = -(-counts // self._size)
        self._group = np.repeat(np.arange(n_groups), n_blocks)
        before = np.cumsum(n_blocks) - n_blocks
        number = np.arange(len(self._group)) - before[self._group]  # of a block in its group
        ends = len(groups) - int(counts.sum()) + np.cumsum(counts)  # rows of no group come first
        starts = (ends - counts)[self._group] + self._size * number
        first, stop, self._of = placed(np.stack([starts, ends[self._group], self._group]), device)
        at = first[:, None] + torch.arange(self._size, device=device)
        self._known = found.indices[torch.minimum(at, stop[:, None] - 1)]
        self._rows = torch.where(at < stop[:, None], self._known, len(groups))

    def parts(self, n_numbers: int) -> Iterator[Part]:
        """Yield all blocks, some at once, if every row has a number of numbers."""
        step = at_once(self._size * n_numbers)
        for begin in range(0, len(self._group), step):
            some = slice(begin, begin + step)
            first, last = int(self._group[begin]), int(self._group[some][-1])
            of = self._of[some] - first
            yield Part(self._rows[some], self._known[some], of, first, last + 1)


def taken(table: Tensor, rows: Tensor) -> Tensor:
    """Return ``table[rows]`` for tensors of two dimensions each, by a faster function."""
    return table.index_select(0, rows.reshape(-1)).reshape(*rows.shape, table.shape[1])


def sum_rows(blocks: Tensor, of: str) -> Tensor:
    """Sum over the rows of blocks, in float64 but for sums of a few rows.

    A copy of all numbers in float64 would take most of the time.

    Parameters
    ----------
    blocks : tensor of shape (n_blocks, n_rows, n_columns)
        The number of rows is a power of two, a multiple of `_SHORT`, or that of float64 numbers.
    of : {"numbers", "squares"}
        Whether numbers or their squares are summed.

    Returns
    -------
    float64 tensor of shape (n_blocks, n_columns)
    """
    import torch

    n_blocks, n_rows, n_columns = blocks.shape
    n_few = 1 if blocks.dtype == torch.float64 else min(n_rows, _SHORT)
    few = blocks.reshape(n_blocks, -1, n_few, n_columns)
    if of == "numbers":
        return few.sum(2).sum(1, dtype=torch.float64)
    return torch.linalg.vector_norm(few, 2, dim=2).double().square_().sum(1)


# ---------------------------------------------------------------------------- rows on a device


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """Training rows on a device.

    Parameters
    ----------
    codes : uint8 tensor of shape (n_samples, n_features)
    masses : float32 tensor of shape (n_samples + 1, 2)
        Weight of each row, and 1; zeros in the last row.
    ranges : uint8 array of shape (1, n_features, 3)
        From `ranges_of_codes`.
    """

    codes: Tensor
    masses: Tensor
    ranges: Codes

    @classmethod
    def place(cls, rows: TrainingRows, device: Any) -> DeviceRows:
        """Copy rows to a device."""
        masses = np.zeros((rows.n_samples + 1, 2), np.float32)
        masses[:-1, 0], masses[:-1, 1] = rows.weights, 1.0
        return cls(placed(rows.codes, device), placed(masses, device), rows.ranges)


@dataclass(frozen=True, eq=False)
class DeviceGradients:
    """Gradients on a device, as `SharedTree` reads them elsewhere.

    Parameters
    ----------
    padded : tensor of shape (n_samples + 1, n_columns)
        Gradients or their opposites, multiplied by the weights of the rows; zeros in the last row.
    """

    padded: Tensor

    def __len__(self) -> int:
        return len(self.padded) - 1

    def squares(self) -> NDArray[np.float64]:
        """Return the sum of squares of every column."""
        import torch

        n_columns = self.padded.shape[1]
        total = torch.zeros(n_columns, dtype=torch.float64, device=self.padded.device)
        step = _SHORT * at_once(4 * n_columns)  # what is computed is shorter by that factor
        for some in self.padded.split(step):
            whole = len(some) // _SHORT * _SHORT  # the last rows are few
            for part in (some[:whole], some[whole:].double()):
                if len(part):
                    total += sum_rows(part[None], "squares")[0]
        return np.asarray(total.cpu().numpy())


class DeviceTreeLearner:
    """Grows the trees of a `SharedTree` with random thresholds on a device.

    Parameters
    ----------
    settings : SharedTree
    device : torch.device
    """

    def __init__(self, settings: SharedTree, device: Any) -> None:
        self._settings, self._device = settings, device

    def grows_in_blocks(self, signed: Any) -> bool:
        """Whether trees of several models are grown one after the other: the device is one."""
        return True

    def grow(
        self, rows: TrainingRows, signed: DeviceGradients, chosen: Indices | None, seed: int
    ) -> GrownTree:
        """Grow a tree; see `WeakLearner`. The leaf of each training row is a tensor."""
        settings = self._settings
        grower = DeviceGrower(
            rows.on(self._device, DeviceRows.place),
            settings.max_depth,
            count_features(settings.max_features, rows.n_features),
            settings.criterion == "absolute",
            settings.min_samples_leaf,
        )
        with full_precision():
            return GrownTree(*grower.grow(self._sketched(signed, seed), chosen, seed))

    def _sketched(self, signed: DeviceGradients, seed: int) -> Tensor:
        """Return some columns, as `SharedTree` draws them: (n_samples + 1, n_some)."""
        n_kept = self._settings.n_sketched(signed.padded.shape[1])
        if n_kept is None:
            return signed.padded
        columns, scale = draw_columns(signed.squares(), n_kept, self._settings.criterion, seed)
        some = signed.padded.index_select(1, placed(columns.astype(np.int64), self._device))
        return some.mul_(placed(scale, self._device))


# ---------------------------------------------------------------------------- growing


@dataclass(frozen=True, eq=False)
class DeviceGrower:
    """Grows trees by random splits.

    Parameters
    ----------
    rows : DeviceRows
    max_depth, n_draws, absolute, min_leaf
        As of `grow_heap_tree`.
    """

    rows: DeviceRows
    max_depth: int
    n_draws: int
    absolute: bool
    min_leaf: int

    def grow(
        self, gradients: Tensor, chosen: Indices | None, seed: int
    ) -> tuple[Indices, Codes, Indices, Tensor, int]:
        """Grow a tree on the gradients of all columns.

        Parameters
        ----------
        gradients : tensor of shape (n_samples + 1, n_columns)
            See `DeviceGradients`.
        chosen : int32 array, optional
            The rows to grow on; all by default.
        seed : int

        Returns
        -------
        features, cuts, leaf_at, leaf, n_leaves
            As of `BlockGrower.grow`; `leaf` is an int16 tensor.
        """
        import torch

        codes = self.rows.codes
        n_samples, n_places = len(codes), 2 ** (self.max_depth + 1)
        features, cuts = np.full(n_places, -1, np.int32), np.zeros(n_places, np.uint8)
        sizes = np.zeros(n_places, np.int64)
        sizes[1] = n_samples if chosen is None else len(chosen)
        places = torch.ones(n_samples, dtype=torch.int64, device=codes.device)
        is_out = None
        if chosen is not None:
            is_out = torch.ones(n_samples, dtype=torch.bool, device=codes.device)
            is_out[placed(chosen.astype(np.int64), codes.device)] = False
        for level in range(self.max_depth):
            nodes = np.arange(2**level, 2 ** (level + 1), dtype=np.int32)
            nodes = nodes[sizes[nodes] >= max(2, 2 * self.min_leaf)]
            if not len(nodes):
                break
            slots = _numbered(nodes, n_places, codes.device)[places]
            if is_out is not None:
                slots.masked_fill_(is_out, -1)
            grouped = GroupedRows(slots, len(nodes), sizes[nodes])
            is_known = level == 0 and is_out is None
            ranges = self.rows.ranges if is_known else self._ranges(grouped, len(nodes))
            drawn = self._draw(nodes, ranges, seed)
            best, left = self._choose(gradients, grouped, *drawn)
            large = np.minimum(left, sizes[nodes] - left) >= self.min_leaf
            split = np.flatnonzero((drawn[2] > 0) & large)
            at = nodes[split]
            features[at], cuts[at] = (each[split, best[split]] for each in drawn[:2])
            sizes[2 * at], sizes[2 * at + 1] = left[split], sizes[at] - left[split]
            places = self._moved(places, features, cuts)
        leaves = np.flatnonzero((features < 0) & (sizes > 0))
        leaf_at = np.full(n_places, -1, np.int32)
        leaf_at[leaves] = np.arange(len(leaves), dtype=np.int32)
        leaf = _numbered(leaves, n_places, codes.device)[places]
        return features, cuts, leaf_at, leaf, len(leaves)

    def _moved(self, places: Tensor, features: Indices, cuts: Codes) -> Tensor:
        """Return the places of all rows one level below; those at leaves stay where they are."""
        import torch

        codes = self.rows.codes
        splits = placed(np.stack([features, cuts]).astype(np.int64), codes.device)
        feature, cut = splits[:, places]
        is_right = codes.gather(1, feature.clamp(min=0)[:, None])[:, 0] > cut
        return torch.where(feature >= 0, torch.add(is_right, places, alpha=2), places)

    def _draw(self, nodes: Indices, ranges: Codes, seed: int) -> tuple[Indices, Codes, Indices]:
        """Draw splits at the nodes of a level; see `draw_splits`."""
        shape, key = (len(nodes), self.n_draws), np.array([seed], np.uint64)
        drawn = np.empty(shape, np.int32), np.empty(shape, np.uint8), np.empty(len(nodes), np.int32)
        draw_splits(nodes, ranges, ranges.shape[1], True, key, *drawn)
        return drawn

    def _ranges(self, grouped: GroupedRows, n_slots: int) -> Codes:
        """Return the ranges of all features at every slot, (n_slots, n_features, 3).

        The three numbers are those of `move_rows`.
        """
        import torch

        codes = self.rows.codes
        shape = n_slots, 3, codes.shape[1]
        found = torch.zeros(shape, dtype=torch.int32, device=codes.device)
        for part in grouped.parts(shape[2]):
            here = taken(codes, part.known)  # (n_blocks, n_rows, n_features)
            # the opposite of the least code; the code of missing values plus one is 0
            three = torch.stack([255 - here.amin(1), here.amax(1), (here + 1).amax(1)], dim=1)
            slots = (part.first + part.group)[:, None, None].expand_as(three)
            # of integers: the order in which the device compares them changes nothing
            found.scatter_reduce_(0, slots, three.to(torch.int32), "amax")
        found[:, 0] = 255 - found[:, 0]
        ranges = found.to(torch.uint8).cpu().numpy()
        return np.ascontiguousarray(ranges.transpose(0, 2, 1))

    def _choose(
        self,
        gradients: Tensor,
        grouped: GroupedRows,
        features: Indices,
        cuts: Codes,
        n_drawn: Indices,
    ) -> tuple[Indices, NDArray[np.int64]]:
        """Return the best draw at every slot, and the number of rows on its left."""
        n_slots, n_columns = len(n_drawn), gradients.shape[1]
        best, left = np.zeros(n_slots, np.int32), np.zeros(n_slots)
        gains = np.zeros(n_slots)
        step = at_once(2 * n_slots * n_columns)
        for first in range(0, self.n_draws, step):
            some = np.s_[:, first : first + step]
            found, sizes = self._gains(gradients, grouped, features[some], cuts[some])
            for q in range(found.shape[1]):
                # if two features separate the rows equally well, the first one drawn wins despite
                # rounding
                is_best = found[:, q] > gains * CLEARLY if first + q else np.ones(n_slots, bool)
                is_best &= first + q < n_drawn
                best[is_best], gains[is_best] = first + q, found[is_best, q]
                left[is_best] = sizes[is_best, q]
        return best, left.astype(np.int64)

    def _gains(
        self, gradients: Tensor, grouped: GroupedRows, features: Indices, cuts: Codes
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the gains of splits and their numbers of rows on the left: (n_slots, n_draws)."""
        import torch

        sums = self._sums(gradients, grouped, features, cuts)
        left, masses = sums[:, :, :-2], sums[:, :, -2:]
        sides = torch.stack([left, left[:, :1] - left])
        of_sides = (sides.abs() if self.absolute else sides.square()).sum(3)
        found = torch.cat([of_sides, masses.permute(2, 0, 1)]).cpu().numpy()
        gain_left, gain_right, weight_left, sizes = found[:, :, 1:]
        if self.absolute:
            return gain_left + gain_right, sizes
        weight = found[2, :, :1]
        rest = np.maximum(weight - weight_left, LEAST * weight)
        return gain_left / weight_left + gain_right / rest, sizes

    def _sums(
        self, gradients: Tensor, grouped: GroupedRows, features: Indices, cuts: Codes
    ) -> Tensor:
        """Sum gradients, and weights and numbers of rows, at every slot.

        Returns
        -------
        float64 tensor of shape (n_slots, 1 + n_draws, n_columns + 2)
            Over all rows of a slot, and over those left of every draw. The last two columns are
            weights and numbers of rows.
        """
        import torch

        codes, masses = self.rows.codes, self.rows.masses.to(gradients.dtype)
        n_features, (n_slots, n_draws) = codes.shape[1], features.shape
        shape = n_slots, 1 + n_draws, gradients.shape[1] + 2
        sums = torch.zeros(shape, dtype=torch.float64, device=codes.device)
        drawn = placed(np.stack([features, cuts], axis=1).astype(np.int64), codes.device)
        flat = codes.reshape(-1)
        for part in grouped.parts(max(gradients.shape[1], 4 * n_draws)):
            feature, cut = drawn[part.first + part.group].unsqueeze(2).unbind(1)
            is_left = flat[part.known[:, :, None] * n_features + feature] <= cut
            # rows of zeros stand at the empty places of blocks: their sides do not matter
            sides = torch.nn.functional.pad(is_left.to(gradients.dtype), (1, 0), value=1.0).mT
            found = [torch.bmm(sides, taken(each, part.rows)) for each in (gradients, masses)]
            part.add_to(sums, torch.cat(found, dim=2))
        return sums


def _numbered(places: Any, n_places: int, device: Any) -> Tensor:
    """Return the position of every place in a list, -1 for others: int16, (n_places,)."""
    numbers = np.full(n_places, -1, np.int16)
    numbers[places] = np.arange(len(places))
    return placed(numbers, device)
