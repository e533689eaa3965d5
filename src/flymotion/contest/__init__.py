"""The contest: learners of every kind in every world, at their best, beside nulls that know nothing and that are told.

``learners`` lists them, with what each of their synapses needs to know; ``simple_learners`` has those that are made of
filters, or of the answers of others. ``arenas`` draws the worlds, ``scoring`` measures, ``trials`` lets one learner
learn in one world, and ``competing`` all in all, on several cores; ``rivals_page`` and ``score_sheet`` say what came of
it. What the measures mean, and what was found, is in docs/rivals.md.
"""

from flymotion.contest.arenas import ARENAS
from flymotion.contest.competing import Contest, Unfinished, compete
from flymotion.contest.learners import LEARNERS

__all__ = ["ARENAS", "LEARNERS", "Contest", "Unfinished", "compete"]
