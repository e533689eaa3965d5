"""Files written whole or not at all: checked before the work, made beside their place, moved into it when complete.

Whatever the package writes goes through :func:`whole`; nothing is ever opened in its place, so that an earlier file
stays whole until the new one is, whatever happens on the way: an error, a full disk, a kill. What belongs together, the
files of one run, goes through :func:`results`: made aside in their folder, which no other run may use meanwhile, and
moved when all are complete.

**A run that does not end**, as it is interrupted or fails, leaves the results of earlier runs as they were; what it had
finished by then is put into the folder ``unfinished`` in theirs. Where there is no end but Ctrl-C, as of a camera, that
is the end.
"""

from flymotion.writing.runs import Results, results
from flymotion.writing.whole_files import UNFINISHED, WriteError, check, in_words, undisturbed, whole

__all__ = ["UNFINISHED", "Results", "WriteError", "check", "in_words", "results", "undisturbed", "whole"]
