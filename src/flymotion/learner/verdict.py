"""Whether learning has succeeded, judged on motion that it has not learned from; and where not, why, and what may help.

Learning has succeeded where every motion shown has a detector of its own, each detector answers its motion more than
the opposite one, and single patches are told right more often than without the motions being told apart. Why it has not
is said from what was counted in the video: :mod:`flymotion.learner.changes`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

from flymotion.brevity import in_brief
from flymotion.learner.changes import SPEEDS, UNCHANGED, Changes
from flymotion.learner.probing import Probe, covered
from flymotion.learner.seen import Watched

__all__ = ["ENOUGH", "SILENT", "Verdict", "causes", "judged", "shown_motions"]

ACCURATE = 0.7
"""Share of single patches right, of those whose motion there is a detector for, from which on learning has succeeded.

Between what nulls and failures reach, 0.64 at most, and what succeeds, 0.75 at least: docs/training.md.
"""

SELECTIVE = 0.5
"""Direction selectivity from which on a detector is one: three times the response to the opposite motion."""

ENOUGH = 5000
"""Pairs of patches from which on good is expected."""

OBLIQUE = 15.0
"""Angle between a detector's motion and the nearest of those shown from which on the user is warned [deg]."""

SILENT = "silent"
"""Name of an output that answers no motion."""

MOSTLY, RARELY, SOME = 0.5, 0.1, 0.01
"""Shares of patches, or of change, that are called most of them, few, and any at all."""

CONFUSED = 0.3
"""Share of the change that motion explains below which the rest hides it."""

UNSURE = 0.05
"""How much more of the change motion has to explain than of noise, for there to be any."""

SHORT = 10
"""Frames of a clip, on average, below which edits are a cause."""

ONE_WAY = 0.9
"""Share of slopes along one axis from which on texture runs one way."""

BEST = 0.4
"""Speed that a stride is suggested for: the middle of those learned from [reduced pixels per frame]."""

LONGEST, FEW = 100, 30
"""Largest stride that is suggested, and pairs of frames that it should leave."""


class Verdict(NamedTuple):
    """Whether learning has succeeded, on what grounds, and where not, why.

    Attributes
    ----------
    ok : bool
        Whether it has.
    accuracy : float
        Share of single patches at known motions that are told right; NaN of a single detector.
    chance, bound : float
        What it would be by chance, and has to be.
    selectivity : ndarray, shape (n_components,)
        Response to the preferred motion less that to the opposite one, over their sum; NaN where the opposite was not
        shown or there was no response.
    doubled, missing : tuple of str
        Motions that too many detectors are for, and that none is for.
    off : float
        Largest angle between a detector's motion and the nearest of those shown [deg].
    reasons : tuple of str
        What has failed; empty where nothing has.
    causes : tuple of str
        What in the videos explains it, with figures; empty where nothing has failed, or nothing is known.
    remedies : tuple of str
        What may help.

    Examples
    --------
    >>> from flymotion import learn
    >>> verdict = learn("bundled", patch=3, n_pairs=1000).verdict_
    >>> verdict.ok, round(verdict.accuracy, 2), verdict.chance, verdict.causes
    (False, 0.41, 0.25, ('only 1,000 pairs of patches were learned from',))
    """

    ok: bool
    accuracy: float
    chance: float
    bound: float
    selectivity: np.ndarray
    doubled: tuple[str, ...]
    missing: tuple[str, ...]
    off: float
    reasons: tuple[str, ...]
    causes: tuple[str, ...]
    remedies: tuple[str, ...]

    @property
    def oblique(self) -> bool:
        """Whether a detector is far off the nearest motion shown."""
        return self.off > OBLIQUE

    def __repr__(self) -> str:
        return in_brief(self)

    def __str__(self) -> str:
        """Say it in a sentence, or three."""
        if self.ok:
            return f"learning has succeeded: {self.accuracy:.0%} right (chance {self.chance:.0%})"
        why = f" Why: {'; '.join(self.causes)}." if self.causes else ""
        return f"learning has failed: {'; '.join(self.reasons)}.{why} What may help: {'; '.join(self.remedies)}."


def shown_motions(motion: np.ndarray, motions: Sequence[tuple[str, str]]) -> list[str]:
    """Return the names of the motions that pairs of this motion, shape (n_pairs, n_parameters), show."""
    part = motion / np.maximum(np.linalg.norm(motion, axis=1, keepdims=True), 1e-30)
    return [
        name
        for axis, names in zip(part.T, motions, strict=True)
        for name, along in zip(names, (axis, -axis), strict=True)
        if (along > 0.7).any()
    ]


def judged(
    probe: Probe,
    motion: np.ndarray,
    labels: Sequence[str],
    shown: Sequence[str],
    n_patches: int,
    watched: Sequence[Watched],
) -> Verdict:
    """Judge what a probe has found.

    Parameters
    ----------
    probe : Probe
        What detectors answer to motion that is known.
    motion : ndarray, shape (n_pairs, n_parameters)
        That motion.
    labels : sequence of str
        Names of the motions that detectors prefer.
    shown : sequence of str
        Names of the motions of the probe.
    n_patches : int
        Pairs of patches learned from.
    watched : sequence of Watched
        Videos learned from; none where it were pairs or frames without noise.
    """
    n, weak = len(labels), probe.selectivity < SELECTIVE  # not where it is NaN
    names = [label for label, not_so in zip(labels, weak, strict=True) if n <= len(shown) or not not_so]
    times = Counter(name for name in names if name in shown)
    missing = tuple(name for name in shown if name not in times) if n >= len(shown) else ()
    doubled = tuple(name for name in times if times[name] > 1) if n <= len(shown) else ()
    bound = ACCURATE * (covered(motion / probe.units, probe.ways) if n < len(shown) else 1.0)
    off = np.degrees(np.arccos(np.minimum(np.abs(probe.ways).max(axis=1), 1.0)))
    turned = n > 1 and not times and not weak.any()  # as many directions, but others
    reasons = []
    if turned:
        reasons.append(f"directions are up to {np.nanmax(off):.0f} deg off {_listed(shown)}")
    elif n > 1:
        reasons += _of_names(doubled, missing, len(times), min(n, len(shown)))
    reasons += _of_figures(probe, bound, weak if n <= len(shown) else weak[:0])
    found = [*(TURNED,) * turned, *causes(watched, n_patches)] if reasons else []
    remedies = list(dict.fromkeys([remedy for _, remedy in found if remedy] or [ANYHOW[bool(watched)]])) * bool(reasons)
    return Verdict(
        not reasons,
        probe.accuracy,
        1 / n,
        bound,
        probe.selectivity,
        doubled,
        missing,
        float(np.max(off, initial=0.0, where=np.isfinite(off))),
        tuple(reasons),
        tuple(cause for cause, _ in found),
        tuple(remedies),
    )


TURNED = (
    "edges decide along which axes motion is taken apart, and oblique ones prevail",
    "content with upright and level edges, or another --seed",
)
"""Why directions may be others than right, up, left and down, and what may help."""

ANYHOW = {
    True: "more of it (--n-pairs, a longer video), or another part (--start, --crop)",
    False: "more pairs (--n-pairs), more scenes at once, or feature='antisymmetric'",
}
"""What may help where no cause is known: of video, and of what is free of noise."""


def _of_names(doubled: Sequence[str], missing: Sequence[str], n_found: int, needed: int) -> Iterator[str]:
    if missing:
        yield f"no detector is for {_listed(missing)}" + (
            f", and several are for {_listed(doubled)}" if doubled else ""
        )
    elif n_found < needed:
        which = f"several are for {_listed(doubled)}" if doubled else "the others are for none of them"
        yield f"detectors are for {n_found} different motions instead of {needed}: {which}"


def _of_figures(probe: Probe, bound: float, weak: np.ndarray) -> Iterator[str]:
    n = len(probe.ways)
    if probe.accuracy < bound:
        told = f"{probe.accuracy:.0%} of single patches are told right"
        yield f"{told} (by chance {1 / n:.0%}, {bound:.0%} wanted)"
    if weak.any():
        least = np.nanmin(probe.selectivity)
        yield f"{weak.sum()} of {n} detectors hardly tell motion from its opposite (selectivity {least:.2f})"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def causes(watched: Sequence[Watched], n_patches: int | None = None) -> Iterator[tuple[str, str]]:
    """Yield what explains that nothing was learned from videos, and what may help; nothing where that is not known."""
    known = [video.changes for video in watched if video.changes is not None]
    changes = reduce(add, known, UNCHANGED)
    if changes.n_textured:
        yield from _of_what_changes(changes, max(video.scale for video in watched))
        yield from _of_texture(changes)
    if changes.n_pairs and changes.n_pairs / max(changes.n_clips, 1) < SHORT and changes.n_clips > 1:
        yield (
            f"edits, or missing frames, leave {changes.n_pairs / changes.n_clips:.1f} pairs of frames a clip",
            "a part without edits (--start, --stop)",
        )
    if n_patches is not None and n_patches < ENOUGH:
        longer = "a longer video, or more pairs (--n-pairs)" if watched else "more pairs (--n-pairs)"
        yield f"only {n_patches:,} pairs of patches were learned from", longer


def _of_what_changes(changes: Changes, scale: int) -> Iterator[tuple[str, str]]:
    light, motion = changes.light, changes.motion
    reduced = f", reduced by {scale}" if scale > 1 else ""
    too_fast = ", or if it were much too fast" if changes.fast > MOSTLY else ""
    if changes.same > MOSTLY:
        yield (
            f"{changes.same:.0%} of textured patches are identical in both frames, as nothing moves or the codec left "
            "them out",
            "the part of the frame that moves (--crop)",
        )
    if light > MOSTLY and light > motion:
        yield (
            f"light that brightens and dims explains {light:.0%} of the change, motion {motion:.0%}",
            "a part of steady light (--start, --stop), or an exposure that is fixed",
        )
    elif SOME < changes.moving < RARELY and changes.others < changes.chance + UNSURE:
        yield f"{changes.moving:.0%} of textured patches surely move", "the part of the frame that moves (--crop)"
    elif motion < changes.chance + UNSURE:
        yield (
            f"motion explains {motion:.0%} of the change, and would of noise alone {changes.chance:.0%}{too_fast}",
            "a part in which something moves (--start, --crop)",
        )
    elif changes.fast > MOSTLY:
        yield (
            f"{changes.fast:.0%} of the patches that change do so as if they moved by more than {SPEEDS[1]:g} pixels a "
            f"frame{reduced}, too far to be learned from",
            "a higher frame rate, or a part that moves less (--start, --crop)",
        )
    elif changes.slow > MOSTLY or motion < CONFUSED:
        yield (
            f"content moves by about {changes.speed:.2f} pixels a frame{reduced}: {motion:.0%} of the change",
            _longer_steps(changes),
        )


def _of_texture(changes: Changes) -> Iterator[tuple[str, str]]:
    if abs(changes.level - 0.5) > ONE_WAY - 0.5:
        runs = "upright" if changes.level > 0.5 else "level"
        yield f"nearly all edges are {runs}, and tell no motion along them", "content with edges of all orientations"


def _longer_steps(changes: Changes) -> str:
    """Suggest a stride that makes motion as fast as what is learned from; nothing where there is too little motion."""
    if not changes.speed > BEST / LONGEST:
        return ""
    stride = math.ceil(BEST / changes.speed)
    longer = ", of a longer video" if changes.n_pairs < FEW * stride else ""
    return f"frames further apart (--stride {stride}{longer})"
