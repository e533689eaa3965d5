"""Learners of pairs of frames that chi is not enough for: what others proposed, as their authors would want it."""
