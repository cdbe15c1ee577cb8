"""The catalogue of this release: every tool and resource that Satchel serves, in the order in which it is listed.

To add a feature's tools, write `satchel/api/entries/<feature>.py` with its `ENTRIES` and name it below, in the order
of the table in `docs/api.md`.
"""

from functools import cache

from satchel.api.catalogue import Catalogue
from satchel.api.entries import blocks, context, filtering, memory, sandbox, strategies, trading


@cache
def catalogue() -> Catalogue:
    """Return the catalogue of this release."""
    features = (memory, blocks, filtering, strategies, trading, sandbox, context)
    return Catalogue.of(feature.ENTRIES for feature in features)
