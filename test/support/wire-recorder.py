"""Writes every TCP segment that arrives at a network device of this namespace, with its length."""
import socket
import sys

# A socket for IPv4 alone would not see frames that the bridge takes.
ETH_P_ALL = 0x0003
IPV4 = b"\x08\x00"
PACKET_OUTGOING = 4
# SO_RCVBUF stops at net.core.rmem_max, a fraction of a megabyte.
SO_RCVBUFFORCE = 33

recorder = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
recorder.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
sys.stderr.write("ready\n")
sys.stderr.flush()
while True:
    frame, (device, _, kind, *_) = recorder.recvfrom(1 << 17)
    packet = frame[14:]
    if device == "wire" or kind == PACKET_OUTGOING or frame[12:14] != IPV4:
        continue
    if packet[9] == socket.IPPROTO_TCP:
        sys.stdout.buffer.write(len(packet).to_bytes(4, "big") + packet)
        sys.stdout.buffer.flush()
