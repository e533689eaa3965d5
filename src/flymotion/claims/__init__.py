"""The paper's claims, one module a figure or group of them, and what checks them.

A module here that has ``CLAIMS`` is a group of claims; nothing else has to know of it. It says

- ``CLAIMS``: each claim's id, and the claim in a few words;
- ``Config``: sizes and seeds, a frozen dataclass, and ``QUICK``: those of the quick size, where they differ;
- ``work(config)``: independent pieces of work, named (:mod:`flymotion.claims.running`);
- ``check(found, config)``: rows, of what came of the work (:mod:`flymotion.claims.rows`);
- ``figures(found, config)``: figures by name, where there are any.

:func:`reproduce` runs those that hold the claims asked for, writes ``claims.json`` and draws the figures. ``worlds``
and ``lessons`` hold what several groups share.
"""

from flymotion.claims.reproducing import Interrupted, groups, known_claims, reproduce
from flymotion.claims.rows import Claim, Verdict, verdicts

__all__ = ["Claim", "Interrupted", "Verdict", "groups", "known_claims", "reproduce", "verdicts"]
