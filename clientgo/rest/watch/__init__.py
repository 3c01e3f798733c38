"""The watch stream on the wire. Mirrors k8s.io/client-go/rest/watch."""

from clientgo.rest.watch.decoder import Decoder, new_decoder
from clientgo.rest.watch.encoder import Encoder, new_encoder
from clientgo.rest.watch.frames import FrameDecoder
from clientgo.rest.watch.stream_watcher import BatchedStreamWatcher

__all__ = ["BatchedStreamWatcher", "Decoder", "Encoder", "FrameDecoder", "new_decoder", "new_encoder"]
