"""Asks a WebRTC peer for an answer by STUN (RFC 8445, section 7.2.2) until it gets one, or has
asked often enough.

  ask_stun.py ADDRESS PORT NAME:OWN-NAME PASSWORD

It writes `answer` or `silence`.
"""
import os
import socket
import sys

from aioice import stun

request = stun.Message(
    message_method=stun.Method.BINDING, message_class=stun.Class.REQUEST)
request.attributes["USERNAME"] = sys.argv[3]
request.attributes["PRIORITY"] = 1
request.attributes["ICE-CONTROLLING"] = int.from_bytes(os.urandom(8), "big")
request.add_message_integrity(sys.argv[4].encode())
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as question:
    question.connect((sys.argv[1], int(sys.argv[2])))
    question.settimeout(0.3)
    for _ in range(5):
        question.send(bytes(request))
        try:
            question.recv(2048)
            print("answer")
            break
        except TimeoutError:
            continue
    else:
        print("silence")
