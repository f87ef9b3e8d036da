"""The keys and values that the rows of a batch have gathered, layer by layer."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

_ROOM = 64
KeysValues = tuple[Tensor, Tensor]


class Memory:
    """Keys and values of a transformer's layers for several rows, which grow together.

    All tensors are [rows, heads, positions, width of a head]. Rows may begin at different
    places: what lies before is filling, which no position sees.
    """

    def __init__(self, layers: Sequence[KeysValues] = (), begins: Sequence[int] = ()):
        """Start empty, or with `layers`; `begins` [rows] are all 0 when left out."""
        self._layers = list(layers)
        self.length = layers[0][0].shape[2] if layers else 0
        self._prefix = self.length
        self._begins = list(begins)
        self.filling = self._mask_of_filling()

    @classmethod
    def side_by_side(cls, memories: Sequence["Memory"]) -> "Memory":
        """One memory with the rows of several memories of one row, aligned at their ends."""
        longest = max(memory.length for memory in memories)
        layers = [
            (
                _joint([memory.seen(layer)[0] for memory in memories], longest),
                _joint([memory.seen(layer)[1] for memory in memories], longest),
            )
            for layer in range(len(memories[0]._layers))
        ]
        return cls(layers, [longest - memory.length for memory in memories])

    def prefix(self, row: int) -> "Memory":
        """A memory of one row with what that row began with; nothing of the other rows."""
        begin = self._begins[row] if self._begins else 0
        here = (slice(row, row + 1), slice(None), slice(begin, self._prefix))
        return Memory([(keys[here].clone(), values[here].clone()) for keys, values in self._layers])

    def add(self, layer: int, keys: Tensor, values: Tensor) -> KeysValues:
        """Add new positions to one layer; returns all of its keys and values.

        They count once `advance` says that all layers have them.
        """
        end = self.length + keys.shape[2]
        if layer == len(self._layers):
            self._layers.append((_roomy(keys, end), _roomy(values, end)))
        old_keys, old_values = self._layers[layer]
        if end > old_keys.shape[2]:
            more = _roomy(keys, end), _roomy(values, end)
            more[0][:, :, : self.length] = old_keys[:, :, : self.length]
            more[1][:, :, : self.length] = old_values[:, :, : self.length]
            self._layers[layer] = old_keys, old_values = more
        old_keys[:, :, self.length : end] = keys
        old_values[:, :, self.length : end] = values
        return old_keys[:, :, :end], old_values[:, :, :end]

    def advance(self, positions: int) -> None:
        """All layers have got so many more positions."""
        self.length += positions

    def seen(self, layer: int) -> KeysValues:
        """All keys and values of one layer."""
        keys, values = self._layers[layer]
        return keys[:, :, : self.length], values[:, :, : self.length]

    def mask(self, positions: int, device: torch.device) -> Tensor | None:
        """What to add to the scores of new positions over all, themselves included.

        Each sees itself and what comes before. Several at once are for rows without filling.
        """
        if positions == 1:
            after = self.length + 1 - self._prefix
            return None if self.filling is None else functional.pad(self.filling, (0, after))
        assert self.filling is None
        shape = (positions, self.length + positions)
        return torch.full(shape, -torch.inf, device=device).triu(self.length + 1)

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows only, indices into the present ones."""
        kept = [self.seen(layer) for layer in range(len(self._layers))]
        self._layers = [(keys[rows], values[rows]) for keys, values in kept]
        if self._begins:
            self._begins = [self._begins[row] for row in rows.tolist()]
            self.filling = self._mask_of_filling()

    def _mask_of_filling(self) -> Tensor | None:
        """[rows, 1, 1, prefix]: -inf where there is filling; None where there is none at all."""
        if not any(self._begins):
            return None
        device = self._layers[0][0].device
        begins = torch.tensor(self._begins, device=device).unsqueeze(1)
        filling = torch.arange(self._prefix, device=device) < begins
        mask = torch.zeros(filling.shape, device=device).masked_fill(filling, -torch.inf)
        return mask[:, None, None]


def split_heads(states: Tensor, heads: int) -> Tensor:
    """[rows, positions, width] as [rows, heads, positions, width of a head]."""
    rows, positions, _ = states.shape
    return states.view(rows, positions, heads, -1).transpose(1, 2)


def join_heads(states: Tensor) -> Tensor:
    """The reverse of `split_heads`."""
    rows, _, positions, _ = states.shape
    return states.transpose(1, 2).reshape(rows, positions, -1)


def _roomy(like: Tensor, positions: int) -> Tensor:
    """Empty room for twice so many positions, so that growing seldom copies."""
    rows, heads, _, width = like.shape
    return like.new_empty(rows, heads, max(_ROOM, 2 * positions), width)


def _joint(tensors: Sequence[Tensor], longest: int) -> Tensor:
    _, heads, _, width = tensors[0].shape
    joint = tensors[0].new_zeros(len(tensors), heads, longest, width)
    for row, tensor in enumerate(tensors):
        joint[row, :, longest - tensor.shape[2] :] = tensor[0]
    return joint
