"""How often one address may join: a script cannot fill a study with made-up people, a classroom can still start."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque

from django.conf import settings
from django.utils.translation import gettext as _

from annotator.errors import TooMany

WINDOW = 60.0
MOST_ADDRESSES = 10_000

_lock = threading.Lock()
_seen: OrderedDict[str, deque[float]] = OrderedDict()


def check_rate(address: str) -> None:
    """Counts one act of the address. Raises TooMany beyond JOINS_PER_MINUTE, for each process by itself."""
    now = time.monotonic()
    with _lock:
        times = _seen.setdefault(address, deque())
        _seen.move_to_end(address)
        while times and times[0] < now - WINDOW:
            times.popleft()
        if len(times) >= settings.JOINS_PER_MINUTE:
            raise TooMany(_("Too many people started from here at once. Please try again in a minute."))
        times.append(now)
        while len(_seen) > MOST_ADDRESSES:
            _seen.popitem(last=False)
