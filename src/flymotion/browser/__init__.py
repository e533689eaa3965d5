"""The live page: learned detectors in a browser, on a camera or a video, as one file without a server.

:func:`live_page` makes it of a :class:`LiveModel`. What runs in the browser is in ``page/``, plain modules of ours;
every number that it shows is that of :func:`seen_live`, to 1e-5 (``docs/live.md``).
"""

from flymotion.browser.one_file import live_page
from flymotion.browser.page_numbers import LiveModel, live_model
from flymotion.browser.same_numbers import SeenLive, seen_live

__all__ = ["LiveModel", "SeenLive", "live_model", "live_page", "seen_live"]
