"""The catalogue of this release: every tool and resource that Satchel serves, in the order in which it is listed.

To add a feature's tools, write `satchel/api/entries/<feature>.py` with its `ENTRIES` and name it below, in the order
of the table in `docs/api.md`.
"""

from dataclasses import replace
from functools import cache

from satchel.api.catalogue import Catalogue
from satchel.api.entries import blocks, context, filtering, memory, sandbox, strategies, trading
from satchel.api.entries.trading import LIVE_TOOLSET


@cache
def catalogue() -> Catalogue:
    """Return the catalogue of this release."""
    features = (memory, blocks, filtering, strategies, trading, sandbox, context)
    return Catalogue.of(feature.ENTRIES for feature in features)


def registered(*, live: bool) -> Catalogue:
    """Return what of the catalogue an installation serves.

    Args:
        live: Whether its owner has configured a live account.
    """
    whole = catalogue()
    if live:
        return whole
    return replace(whole, tools=tuple(tool for tool in whole.tools if tool.toolset != LIVE_TOOLSET))
