"""A check that a streamed list equals an ordinary list; for test clusters. Go: util/consistencydetector."""

from clientgo.util.consistencydetector.data_consistency_detector import (
    DataInconsistencyError,
    ListFunc,
    RetrieveItemsFunc,
    TransformFunc,
    check_data_consistency,
    is_data_consistency_detection_for_watch_list_enabled,
    set_data_consistency_detection_for_watch_list_enabled_for_test,
)

__all__ = [
    "DataInconsistencyError",
    "ListFunc",
    "RetrieveItemsFunc",
    "TransformFunc",
    "check_data_consistency",
    "is_data_consistency_detection_for_watch_list_enabled",
    "set_data_consistency_detection_for_watch_list_enabled_for_test",
]
