"""What the parts of an informer tell of themselves to those who look at them from outside. Beyond Go.

Loaded when somebody looks: seven records are a fiftieth of a start.
"""

from typing import TYPE_CHECKING

from clientgo.utils.later import later

if TYPE_CHECKING:
    from clientgo.tools.cache.inspection.records import (
        FIFOContents,
        FIFOStatistics,
        HandlerContents,
        HandlerStatistics,
        InformerParts,
        StoreContents,
        StoreStatistics,
    )
else:
    __getattr__, __dir__ = later(
        __name__,
        {
            "records": [
                "FIFOContents", "FIFOStatistics", "HandlerContents", "HandlerStatistics", "InformerParts",
                "StoreContents", "StoreStatistics",
            ],
        },
    )

__all__ = [
    "FIFOContents",
    "FIFOStatistics",
    "HandlerContents",
    "HandlerStatistics",
    "InformerParts",
    "StoreContents",
    "StoreStatistics",
]
