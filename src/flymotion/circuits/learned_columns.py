"""What can be read of columns that have learned: their synapses, by subtype, and what each cell prefers."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from flymotion.circuits.cell_inputs import CellInputs
from flymotion.circuits.competing_columns import Columns
from flymotion.circuits.input_neurons import PATHWAYS
from flymotion.circuits.patches import Patches

__all__ = ["LearnedColumns"]


class LearnedColumns:
    """Base of a circuit: what its networks have learned, in the order of subtypes."""

    patches_: Patches
    inputs_: list[CellInputs]
    started_: list[np.ndarray]
    networks_: list[Columns]

    @property
    def weights_(self) -> np.ndarray:
        """Effective weights onto intensities, shape (n_columns, 8, n_offsets)."""
        check_is_fitted(self, "networks_")
        return self._effective([network.W for network in self.networks_])

    @property
    def start_(self) -> np.ndarray:
        """The same before learning, shape (n_columns, 8, n_offsets)."""
        check_is_fitted(self, "networks_")
        return self._effective(self.started_)

    @property
    def lateral_(self) -> np.ndarray:
        """Lateral inhibition, shape (n_columns, 2, 4, 4)."""
        check_is_fitted(self, "networks_")
        each = []
        for network, order in zip(self.networks_, self.order_, strict=True):
            M = network.M.transpose(2, 0, 1)
            each.append(np.take_along_axis(np.take_along_axis(M, order[:, :, None], 1), order[:, None], 2))
        return np.stack(each, axis=1)

    @property
    def order_(self) -> list[np.ndarray]:
        """Which cell of T4, and of T5, is subtype a to d in each column, shape (n_columns, 4) each."""
        return [order for order, _ in self._names()]

    @property
    def named_(self) -> np.ndarray:
        """Whether T4, and T5, of a column prefer four directions, shape (n_columns, 2)."""
        return np.stack([four for _, four in self._names()], axis=1)

    def _names(self) -> list[tuple[np.ndarray, np.ndarray]]:
        found = []
        for network, inputs, pathway in zip(self.networks_, self.inputs_, PATHWAYS.values(), strict=True):
            onto = np.einsum("kin,nij->nkj", network.W, inputs.decorrelation.matrices) * pathway.polarity
            found.append(self.patches_.named(self.patches_.directions(onto)))
        return found

    def _effective(self, each: list[np.ndarray]) -> np.ndarray:
        found = []
        for W, inputs, order in zip(each, self.inputs_, self.order_, strict=True):
            onto = np.einsum("kin,nij->nkj", W, inputs.decorrelation.matrices)
            found.append(np.take_along_axis(onto, order[:, :, None], axis=1))
        return np.where(self.patches_.there[:, None], np.concatenate(found, axis=1), np.nan)
