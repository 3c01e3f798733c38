"""Frames in a stream of bytes. Mirrors k8s.io/apimachinery/pkg/util/framer."""

from clientgo.apimachinery.util.framer.framer import (
    FrameReader,
    FrameWriter,
    new_json_framed_reader,
    new_length_delimited_frame_reader,
    new_length_delimited_frame_writer,
)

__all__ = [
    "FrameReader",
    "FrameWriter",
    "new_json_framed_reader",
    "new_length_delimited_frame_reader",
    "new_length_delimited_frame_writer",
]
