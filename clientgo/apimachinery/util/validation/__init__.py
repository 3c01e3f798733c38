"""Checks of names, ports and keys (k8s.io/apimachinery/pkg/util/validation)."""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.apimachinery.util.validation.validation import (
        DNS1035_LABEL_MAX_LENGTH,
        DNS1123_LABEL_MAX_LENGTH,
        DNS1123_SUBDOMAIN_MAX_LENGTH,
        LABEL_VALUE_MAX_LENGTH,
        empty_error,
        inclusive_range_error,
        is_c_identifier,
        is_config_map_key,
        is_dns1035_label,
        is_dns1123_label,
        is_dns1123_subdomain,
        is_dns1123_subdomain_with_underscore,
        is_domain_prefixed_key,
        is_domain_prefixed_path,
        is_env_var_name,
        is_fully_qualified_domain_name,
        is_fully_qualified_name,
        is_http_header_name,
        is_in_range,
        is_qualified_name,
        is_relaxed_env_var_name,
        is_valid_group_id,
        is_valid_label_value,
        is_valid_percent,
        is_valid_port_name,
        is_valid_port_num,
        is_valid_user_id,
        is_wildcard_dns1123_subdomain,
        max_len_error,
        regex_error,
    )
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "validation": [
                "DNS1035_LABEL_MAX_LENGTH", "DNS1123_LABEL_MAX_LENGTH", "DNS1123_SUBDOMAIN_MAX_LENGTH",
                "LABEL_VALUE_MAX_LENGTH", "empty_error", "inclusive_range_error", "is_c_identifier",
                "is_config_map_key", "is_dns1035_label", "is_dns1123_label", "is_dns1123_subdomain",
                "is_dns1123_subdomain_with_underscore", "is_domain_prefixed_key", "is_domain_prefixed_path",
                "is_env_var_name", "is_fully_qualified_domain_name", "is_fully_qualified_name", "is_http_header_name",
                "is_in_range", "is_qualified_name", "is_relaxed_env_var_name", "is_valid_group_id",
                "is_valid_label_value", "is_valid_percent", "is_valid_port_name", "is_valid_port_num",
                "is_valid_user_id", "is_wildcard_dns1123_subdomain", "max_len_error", "regex_error",
            ],
        },
    )

__all__ = [
    "DNS1035_LABEL_MAX_LENGTH",
    "DNS1123_LABEL_MAX_LENGTH",
    "DNS1123_SUBDOMAIN_MAX_LENGTH",
    "LABEL_VALUE_MAX_LENGTH",
    "empty_error",
    "inclusive_range_error",
    "is_c_identifier",
    "is_config_map_key",
    "is_dns1035_label",
    "is_dns1123_label",
    "is_dns1123_subdomain",
    "is_dns1123_subdomain_with_underscore",
    "is_domain_prefixed_key",
    "is_domain_prefixed_path",
    "is_env_var_name",
    "is_fully_qualified_domain_name",
    "is_fully_qualified_name",
    "is_http_header_name",
    "is_in_range",
    "is_qualified_name",
    "is_relaxed_env_var_name",
    "is_valid_group_id",
    "is_valid_label_value",
    "is_valid_percent",
    "is_valid_port_name",
    "is_valid_port_num",
    "is_valid_user_id",
    "is_wildcard_dns1123_subdomain",
    "max_len_error",
    "regex_error",
]
