"""Validation of texts in API objects (k8s.io/apimachinery/pkg/api/validate/content).

Every `is_*` function returns a list of messages, which is empty for a valid value.
"""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.apimachinery.api.validate.content.decimal_int import is_decimal_integer
    from clientgo.apimachinery.api.validate.content.dns import (
        DNS1123_LABEL_MAX_LENGTH,
        DNS1123_SUBDOMAIN_MAX_LENGTH,
        is_dns1123_label,
        is_dns1123_subdomain,
        is_dns1123_subdomain_caseless,
    )
    from clientgo.apimachinery.api.validate.content.errors import (
        byte_length,
        empty_error,
        max_error,
        max_len_error,
        min_error,
        neq_error,
        regex_error,
    )
    from clientgo.apimachinery.api.validate.content.identifier import is_c_identifier
    from clientgo.apimachinery.api.validate.content.kube import (
        LABEL_VALUE_MAX_LENGTH,
        is_label_key,
        is_label_value,
        is_qualified_name,
    )
    from clientgo.apimachinery.api.validate.content.path import is_path_segment_name, is_path_segment_prefix
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "decimal_int": ["is_decimal_integer"],
            "dns": [
                "DNS1123_LABEL_MAX_LENGTH", "DNS1123_SUBDOMAIN_MAX_LENGTH", "is_dns1123_label",
                "is_dns1123_subdomain", "is_dns1123_subdomain_caseless",
            ],
            "errors": [
                "byte_length", "empty_error", "max_error", "max_len_error", "min_error", "neq_error", "regex_error",
            ],
            "identifier": ["is_c_identifier"],
            "kube": ["LABEL_VALUE_MAX_LENGTH", "is_label_key", "is_label_value", "is_qualified_name"],
            "path": ["is_path_segment_name", "is_path_segment_prefix"],
        },
    )

__all__ = [
    "DNS1123_LABEL_MAX_LENGTH",
    "DNS1123_SUBDOMAIN_MAX_LENGTH",
    "LABEL_VALUE_MAX_LENGTH",
    "byte_length",
    "empty_error",
    "is_c_identifier",
    "is_decimal_integer",
    "is_dns1123_label",
    "is_dns1123_subdomain",
    "is_dns1123_subdomain_caseless",
    "is_label_key",
    "is_label_value",
    "is_path_segment_name",
    "is_path_segment_prefix",
    "is_qualified_name",
    "max_error",
    "max_len_error",
    "min_error",
    "neq_error",
    "regex_error",
]
