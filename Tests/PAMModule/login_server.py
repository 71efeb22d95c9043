"""A server that speaks the login protocol (Sources/Server/LocalSockets/LoginProtocol.md), well or badly."""
import os
import socket
import struct
import threading

REQUEST, RESPONSE = 512, 32
VERDICTS = {"accepted": 1, "denied": 2, "unavailable": 3, "never enrolled": 4, "enrolled": 5}
REASONS = {"replayed": 1, "must wait": 2, "locked": 3, "malformed": 4}


def response(verdict, reason=None, seconds=0):
    return b"WWR1" + struct.pack(">BBI", VERDICTS[verdict], REASONS.get(reason, 0), seconds) + bytes(22)


def text(message, offset):
    return message[offset + 1:offset + 1 + message[offset]].decode()


def request(user, code):
    """Returns the message of a request to verify a code."""
    fields = ((b"sshd", 32), (user, 128), (b"192.0.2.1", 128), (code, 64))
    texts = b"".join(struct.pack(f"B{size}s", len(text), text) for text, size in fields)
    return (b"WWP1\1\0" + texts).ljust(REQUEST, b"\0")


def parsed(message):
    """Returns what a request says."""
    return {"operation": {1: "verify", 2: "status"}[message[4]], "reasons": message[5] == 1, "service": text(message, 6),
            "user": text(message, 39), "host": text(message, 168), "code": text(message, 297)}


class LoginServer:
    """Listens at `path` while a block runs. `answer` gets each request and returns the response's bytes; a number
    among several parts is a pause in seconds. If it returns `None`, the connection is closed at once."""

    def __init__(self, path, answer, mode=0o600, backlog=128, accepts=True, reads=True):
        self.path, self.answer, self.reads, self.requests = path, answer, reads, []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        os.chmod(path, mode)
        self.socket.listen(backlog)
        self.ended = threading.Event()
        if accepts:
            self.accept()

    def accept(self):
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.exchange, args=(connection,), daemon=True).start()

    def exchange(self, connection):
        with connection:
            message = b""
            while self.reads and len(message) < REQUEST:
                part = connection.recv(REQUEST - len(message))
                if not part:
                    return
                message += part
            if self.reads:
                self.requests.append(parsed(message))
            answer = self.answer(self.requests[-1] if self.reads else None)
            try:
                for part in answer if isinstance(answer, list) else [answer]:
                    if isinstance(part, bytes):
                        connection.sendall(part)
                    elif part is not None:
                        self.ended.wait(part)
            except OSError:
                # The module closes the connection when it has enough, or its time is up.
                return

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()
        # Ends the thread that waits for connections.
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        os.unlink(self.path)
