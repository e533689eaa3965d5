"""The paper's claims, one module a figure or group of them, and what checks them.

A module here that has ``CLAIMS`` is a group of claims; nothing else has to know of it. It says

- ``CLAIMS``: each claim's id, and the claim in a few words;
- ``Config``: sizes and seeds, a frozen dataclass, and ``QUICK``: those of the quick size, where they differ;
- ``work(config)``: independent pieces of work, named (:mod:`flymotion.claims.running`);
- ``check(found, config)``: rows, of what came of the work (:mod:`flymotion.claims.rows`);
- ``figures(found, config)``: figures by name, where there are any.

:func:`reproduce` runs those that hold the claims asked for, writes ``claims.json`` and draws the figures. ``sentences``
has what the paper says and the rows that decide it, ``judging`` the verdict and what is on record of it. ``worlds``,
``lessons``, ``nulls``, ``bayes`` and ``beside`` hold what several groups share.
"""

from flymotion.claims.judging import differences, recorded
from flymotion.claims.paper_figures import FIGURES
from flymotion.claims.reproducing import Interrupted, groups, known_claims, reproduce
from flymotion.claims.rows import Claim, Verdict, verdicts
from flymotion.claims.sentences import SENTENCES

__all__ = [
    "FIGURES",
    "SENTENCES",
    "Claim",
    "Interrupted",
    "Verdict",
    "differences",
    "groups",
    "known_claims",
    "recorded",
    "reproduce",
    "verdicts",
]
