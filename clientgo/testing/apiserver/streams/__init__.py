"""Streams of pods, the part of a kubelet: exec, attach, portforward and logs, over WebSockets and over SPDY.

runtime        the interface of containers, which the simulator implements
upgrade        the two ways in which a client turns its connection into streams
channel        the streams of one process, on any connection
channels       exec and attach in the messages of a WebSocket
commands       exec and attach, whatever the connection is
portforward    connections to the ports of a pod
logs           logs, followed too

A stream runs in the thread of its connection; the threads that it starts end with it.
"""
