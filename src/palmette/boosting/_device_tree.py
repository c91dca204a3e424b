"""Growing a tree that all columns share on a device of torch, level by level.

The tree is that of `BlockGrower`: draws are made here, by the same generator, and the device finds
the ranges of the codes and the sums that choose among the draws. Rows are sorted by node and
divided into blocks of one node each. Sums over a block are products of matrices, and those of
blocks are added in another product, all in float64: nothing depends on the order in which threads
of the device write, and trees are the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette.boosting._block_sums import CLEARLY, LEAST
from palmette.boosting._block_tree import draw_splits
from palmette.boosting._weak import GrownTree, SharedTreeLearner, TrainingRows, draw_columns
from palmette.trees._binning import count_features

Codes: TypeAlias = NDArray[np.uint8]
Indices: TypeAlias = NDArray[np.int32]
Tensor: TypeAlias = Any  # of torch, which is imported where it is used

_AT_ONCE = 2**26  # numbers of an intermediate result, whatever the number of rows
_SHORTEST, _LONGEST = 8, 256  # rows of a block
_SHORT = 32  # rows that are summed in float32
_BLOCKS_OF_GROUP = 4  # wanted on average, so that few places of blocks are empty


def at_once(n_numbers: int) -> int:
    """Return how many rows, or the like, of some numbers each are computed together."""
    return max(1, _AT_ONCE // max(n_numbers, 1))


# ---------------------------------------------------------------------------- rows in groups


class Part(NamedTuple):
    """Some blocks of rows.

    Parameters
    ----------
    rows : int64 tensor of shape (n_blocks, n_rows)
        Rows of a block; empty places, at its end, have the number of samples.
    group : int64 tensor of shape (n_blocks,)
        Group of a block, less `first`.
    first, stop : int
        The groups of the blocks.
    """

    rows: Tensor
    group: Tensor
    first: int
    stop: int

    def known(self, n_samples: int) -> Tensor:
        """Return `rows`, where empty places repeat the first row of the block."""
        import torch

        return torch.where(self.rows < n_samples, self.rows, self.rows[:, :1])

    def add_to(self, sums: Tensor, of_blocks: Tensor) -> None:
        """Add sums of blocks, (n_blocks, ...), to those of groups, (n_groups, ...)."""
        import torch

        numbers = torch.arange(self.stop - self.first, device=self.group.device)
        is_of = (numbers[:, None] == self.group).to(of_blocks.dtype)
        found = is_of @ of_blocks.reshape(len(of_blocks), -1)
        sums[self.first : self.stop] += found.reshape(-1, *of_blocks.shape[1:])


class GroupedRows:
    """Rows in the order of their groups, in blocks of rows of one group.

    Parameters
    ----------
    groups : int16 tensor of shape (n_samples,)
        Group of each row; -1 for none.
    n_groups : int
    """

    def __init__(self, groups: Tensor, n_groups: int) -> None:
        import torch

        found = torch.bincount(groups.to(torch.int64) + 1, minlength=n_groups + 1).cpu().numpy()
        n_absent, counts = int(found[0]), found[1:]
        wanted = int(counts.sum()) // (_BLOCKS_OF_GROUP * n_groups)
        self._size = min(_LONGEST, max(_SHORTEST, 2 ** max(wanted, 1).bit_length() // 2))
        n_blocks = -(-counts // self._size)
        self._group = np.repeat(np.arange(n_groups), n_blocks)
        before = np.cumsum(n_blocks) - n_blocks
        number = np.arange(len(self._group)) - before[self._group]  # of a block in its group
        starts = (n_absent + np.cumsum(counts) - counts)[self._group] + self._size * number
        stops = (n_absent + np.cumsum(counts))[self._group]
        # one copy to the device, which waits for each
        ends = torch.as_tensor(np.stack([starts, stops, self._group]), device=groups.device)
        at = ends[0, :, None] + torch.arange(self._size, device=groups.device)
        order = torch.sort(groups, stable=True).indices
        is_row = at < ends[1, :, None]
        self._rows = torch.where(is_row, order[torch.where(is_row, at, 0)], len(groups))
        self._of = ends[2]

    def parts(self, n_numbers: int) -> Iterator[Part]:
        """Yield all blocks, some at once, if every row has a number of numbers."""
        step = at_once(self._size * n_numbers)
        for begin in range(0, len(self._group), step):
            some = slice(begin, begin + step)
            first, last = int(self._group[begin]), int(self._group[some][-1])
            yield Part(self._rows[some], self._of[some] - first, first, last + 1)


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
    of : {"numbers", "sizes", "squares"}
        Whether numbers, their absolute values or their squares are summed.

    Returns
    -------
    float64 tensor of shape (n_blocks, n_columns)
    """
    import torch

    n_blocks, n_rows, n_columns = blocks.shape
    n_few = 1 if blocks.dtype == torch.float64 else min(n_rows, _SHORT)
    few = blocks.reshape(n_blocks, -1, n_few, n_columns)
    if of == "numbers":
        return few.sum(2).double().sum(1)
    if of == "sizes":
        return torch.linalg.vector_norm(few, 1, dim=2).double().sum(1)
    return torch.linalg.vector_norm(few, 2, dim=2).double().square().sum(1)


# ---------------------------------------------------------------------------- rows on a device


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """Training rows on a device.

    Parameters
    ----------
    codes : uint8 tensor of shape (n_samples, n_features)
    masses : float64 tensor of shape (n_samples + 1, 2)
        Weight of each row, and 1; zeros in the last row.
    """

    codes: Tensor
    masses: Tensor

    @classmethod
    def place(cls, rows: TrainingRows, device: Any) -> DeviceRows:
        """Copy rows to a device."""
        import torch

        masses = np.zeros((rows.n_samples + 1, 2))
        masses[:-1, 0], masses[:-1, 1] = rows.weights, 1.0
        codes = np.ascontiguousarray(rows.codes)
        return cls(torch.as_tensor(codes, device=device), torch.as_tensor(masses, device=device))


@dataclass(frozen=True, eq=False)
class DeviceGradients:
    """Gradients on a device, as `SharedTreeLearner` reads them elsewhere.

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

        total = torch.zeros(self.padded.shape[1], dtype=torch.float64, device=self.padded.device)
        step = max(_SHORT, at_once(self.padded.shape[1]) // _SHORT * _SHORT)
        for some in self.padded.split(step):
            whole = len(some) // _SHORT * _SHORT  # the last rows are few
            for part in (some[:whole], some[whole:].double()):
                if len(part):
                    total += sum_rows(part[None], "squares")[0]
        return np.asarray(total.cpu().numpy())


class DeviceTreeLearner:
    """Grows the trees of a `SharedTreeLearner` with random thresholds on a device.

    Parameters
    ----------
    settings : SharedTreeLearner
    device : torch.device
    """

    def __init__(self, settings: SharedTreeLearner, device: Any) -> None:
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
        return GrownTree(*grower.grow(self._sketched(signed, seed), chosen, seed))

    def _sketched(self, signed: DeviceGradients, seed: int) -> Tensor:
        """Return some columns, as `SharedTreeLearner` draws them: (n_samples + 1, n_some)."""
        import torch

        n_kept = self._settings.n_sketched(signed.padded.shape[1])
        if n_kept is None:
            return signed.padded
        columns, scale = draw_columns(signed.squares(), n_kept, self._settings.criterion, seed)
        some = torch.as_tensor(columns, dtype=torch.int64, device=self._device)
        factors = torch.as_tensor(scale, dtype=signed.padded.dtype, device=self._device)
        return signed.padded.index_select(1, some).mul_(factors)


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
            is_out[torch.as_tensor(chosen, dtype=torch.int64, device=codes.device)] = False
        for level in range(self.max_depth):
            nodes = np.arange(2**level, 2 ** (level + 1), dtype=np.int32)
            nodes = nodes[sizes[nodes] >= max(2, 2 * self.min_leaf)]
            if not len(nodes):
                break
            slots = _numbered(nodes, n_places, codes.device)[places]
            if is_out is not None:
                slots.masked_fill_(is_out, -1)
            grouped = GroupedRows(slots, len(nodes))
            drawn = self._draw(nodes, grouped, seed)
            best, left = self._choose(gradients, grouped, *drawn)
            large = np.minimum(left, sizes[nodes] - left) >= self.min_leaf
            split = np.flatnonzero((drawn[2] > 0) & large)
            at = nodes[split]
            features[at], cuts[at] = (each[split, best[split]] for each in drawn[:2])
            sizes[2 * at], sizes[2 * at + 1] = left[split], sizes[at] - left[split]
            places = self._moved(places, level, features, cuts)
        leaves = np.flatnonzero((features < 0) & (sizes > 0))
        leaf_at = np.full(n_places, -1, np.int32)
        leaf_at[leaves] = np.arange(len(leaves), dtype=np.int32)
        leaf = _numbered(leaves, n_places, codes.device)[places]
        return features, cuts, leaf_at, leaf, len(leaves)

    def _moved(self, places: Tensor, level: int, features: Indices, cuts: Codes) -> Tensor:
        """Return the places of all rows below those of a level."""
        import torch

        codes = self.rows.codes
        at = places.clamp(min=2**level) - 2**level  # rows above the level stay where they are
        here = slice(2**level, 2 ** (level + 1))
        feature = torch.as_tensor(features[here], dtype=torch.int64, device=codes.device)[at]
        cut = torch.as_tensor(cuts[here], device=codes.device)[at]
        is_split = (feature >= 0) & (places >= 2**level)
        code = codes.gather(1, feature.clamp(min=0)[:, None])[:, 0]
        return torch.where(is_split, 2 * places + (code > cut), places)

    def _draw(
        self, nodes: Indices, grouped: GroupedRows, seed: int
    ) -> tuple[Indices, Codes, Indices]:
        """Draw splits at the nodes of a level; see `draw_splits`."""
        n_features, shape = self.rows.codes.shape[1], (len(nodes), self.n_draws)
        drawn = np.empty(shape, np.int32), np.empty(shape, np.uint8), np.empty(len(nodes), np.int32)
        ranges = self._ranges(grouped, len(nodes))
        draw_splits(nodes, ranges, n_features, True, np.array([seed], np.uint64), *drawn)
        return drawn

    def _ranges(self, grouped: GroupedRows, n_slots: int) -> Codes:
        """Return the ranges of all features at every slot, (n_slots, n_features, 3).

        The three numbers are those of `move_rows`.
        """
        import torch

        codes = self.rows.codes
        n_samples, n_features = codes.shape
        found = torch.zeros((n_slots, 3, n_features), dtype=torch.int32, device=codes.device)
        for part in grouped.parts(2 * n_features):
            here = taken(codes, part.known(n_samples))  # (n_blocks, n_rows, n_features)
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
                # if two features separate the rows alike, the first one drawn wins despite rounding
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

        sums, masses = self._sums(gradients, grouped, features, cuts)
        left, right = sums[:, 1:], sums[:, :1] - sums[:, 1:]
        if self.absolute:
            of_sides = torch.stack([left.abs().sum(2), right.abs().sum(2)])
        else:
            of_sides = torch.stack([left.square().sum(2), right.square().sum(2)])
        gain_left, gain_right = of_sides.cpu().numpy()
        heaps = masses.cpu().numpy()
        weight_left, sizes = heaps[:, 1:, 0], heaps[:, 1:, 1]
        if self.absolute:
            return gain_left + gain_right, sizes
        weight = heaps[:, :1, 0]
        rest = np.maximum(weight - weight_left, LEAST * weight)
        return gain_left / weight_left + gain_right / rest, sizes

    def _sums(
        self, gradients: Tensor, grouped: GroupedRows, features: Indices, cuts: Codes
    ) -> tuple[Tensor, Tensor]:
        """Sum gradients, and weights and numbers of rows, at every slot.

        Returns
        -------
        sums : float64 tensor of shape (n_slots, 1 + n_draws, n_columns)
            Over all rows of a slot, and over those left of every draw.
        masses : float64 tensor of shape (n_slots, 1 + n_draws, 2)
        """
        import torch

        codes, heaps = self.rows.codes, self.rows.masses
        n_samples, n_features = codes.shape
        n_slots, n_draws = features.shape
        kind: Any = {"dtype": torch.float64, "device": codes.device}
        sums = torch.zeros((n_slots, 1 + n_draws, gradients.shape[1]), **kind)
        masses = torch.zeros((n_slots, 1 + n_draws, 2), **kind)
        drawn = torch.as_tensor(features.astype(np.int64), device=codes.device)
        limits = torch.as_tensor(np.ascontiguousarray(cuts), device=codes.device)
        flat = codes.reshape(-1)
        for part in grouped.parts(2 * (gradients.shape[1] + n_draws)):
            slots = part.first + part.group
            at = part.known(n_samples)[:, :, None] * n_features + drawn[slots][:, None]
            # rows of zeros stand at the empty places of blocks: their sides do not matter
            sides = torch.ones((len(slots), 1 + n_draws, part.rows.shape[1]), **kind)
            sides[:, 1:] = (flat[at] <= limits[slots][:, None]).transpose(1, 2)
            part.add_to(sums, torch.bmm(sides, taken(gradients, part.rows).to(torch.float64)))
            part.add_to(masses, torch.bmm(sides, taken(heaps, part.rows)))
        return sums, masses


def _numbered(places: Any, n_places: int, device: Any) -> Tensor:
    """Return the position of every place in a list, -1 for others: int16, (n_places,)."""
    import torch

    numbers = np.full(n_places, -1, np.int16)
    numbers[places] = np.arange(len(places))
    return torch.as_tensor(numbers, device=device)
