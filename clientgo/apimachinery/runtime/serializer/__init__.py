"""Codecs over a scheme. Mirrors k8s.io/apimachinery/pkg/runtime/serializer."""

from clientgo.apimachinery.runtime.parameters import (
    PARAMETER_CODEC,
    convert_to_parameters,
    new_parameter_codec,
)
from clientgo.apimachinery.runtime.serializer.codec_factory import (
    CodecFactory,
    WithoutConversionCodecFactory,
    new_codec_factory,
    with_serializer,
)
from clientgo.apimachinery.runtime.serializer.json import LINE_FRAMER, JSONSerializer, parse_json

__all__ = [
    "LINE_FRAMER",
    "PARAMETER_CODEC",
    "CodecFactory",
    "JSONSerializer",
    "WithoutConversionCodecFactory",
    "convert_to_parameters",
    "new_codec_factory",
    "new_parameter_codec",
    "parse_json",
    "with_serializer",
]
