"""The fly's circuit and the neuron of Section 3: models of cells, with learned synapses, beside published anatomy.

``t4t5`` is the circuit; ``input_neurons``, ``column_signals`` and ``decorrelating`` are what comes before its cells,
``competing_columns`` how these learn, ``lobula_plate`` what comes after, ``schooling`` what there is to learn from.
``connectome`` has the published synapses, and ``wiring`` holds rows of weights against them.

``membranes`` is a soma with branches as an electrical circuit; ``compartments`` the neurons of them that multiply and
learn, whose compiled life is in ``branch_rules``.
"""

from __future__ import annotations

from flymotion.circuits.compartments import CompartmentalNeurons
from flymotion.circuits.membranes import Membrane
from flymotion.circuits.subtypes import PREFERRED, SUBTYPES
from flymotion.circuits.t4t5 import T4T5Circuit

__all__ = ["PREFERRED", "SUBTYPES", "CompartmentalNeurons", "Membrane", "T4T5Circuit"]
