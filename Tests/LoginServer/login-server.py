"""A test server for the device routes (design 5.1) that misbehaves on demand.

    login-server.py --log FILE [--certificate FILE --key FILE] [--host ADDRESS] [--fault WORD]…

It prints its port. Each request gets the next fault; after the last fault, the server behaves correctly.
The log contains one JSON object per line: path, headers, body. The server stops at the end of its
standard input.
"""
import argparse
import base64
import hashlib
import hmac
import http.server
import json
import os
import ssl
import sys
import threading
import time

KEY = b"rotation key of a test server"


def token(kind, *parts):
    digest = hmac.new(KEY, b"\0".join([kind.encode(), *parts]), hashlib.sha256).digest()
    return kind + "_" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


class Credential:
    """The state machine of section 5.1."""

    def __init__(self, name):
        self.name = name
        self.generation = 0
        self.current = token("wws", name.encode())
        self.nonce = None
        self.answer = None
        self.successor = None
        self.earlier = []
        self.failures = 0
        self.wiped = None

    def hand_out(self, nonce):
        digest = hashlib.sha256(nonce.encode()).digest()
        self.nonce = nonce
        self.successor = token("wws", self.name.encode(), str(self.generation + 1).encode(), digest)
        self.answer = {
            "verification": "vf_" + os.urandom(8).hex(), "result": "accepted",
            "login": "wwl_" + os.urandom(16).hex(), "expires_at": "2026-11-21T21:00:00Z",
            "secret": self.successor, "generation": self.generation + 1, "an_unknown_member": None}
        return self.answer

    def wipe(self, reason):
        self.wiped = reason
        return {"verification": "vf_wiped", "result": "denied", "wipe": True, "wipe_reason": reason}

    def login(self, secret, nonce):
        if self.wiped:
            return self.wipe(self.wiped)
        if secret == self.successor:
            self.earlier.append(self.current)
            self.current, self.generation, self.failures = secret, self.generation + 1, 0
            return self.hand_out(nonce)
        if secret == self.current:
            self.failures = 0
            if self.successor is None:
                return self.hand_out(nonce)
            return self.answer if nonce == self.nonce else self.wipe("reuse-detected")
        if secret in self.earlier:
            return self.wipe("reuse-detected")
        self.failures += 1
        if self.failures >= 3:
            return self.wipe("too-many-failures")
        return {"verification": "vf_denied", "result": "denied", "wipe": False}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    lock = threading.Lock()
    credentials = {}
    faults = []
    log = None

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with Handler.lock:
            fault = Handler.faults.pop(0) if Handler.faults else "none"
            Handler.log.write(json.dumps({
                "path": self.path, "headers": dict(self.headers), "body": json.loads(body)}) + "\n")
            Handler.log.flush()
        word, _, value = fault.partition("=")
        if word == "drop":
            return self.hang_up()
        if word == "slow":
            time.sleep(3600)
        if word == "status":
            return self.problem(int(value))
        if word == "garbage":
            return self.answer(200, "application/json", value.encode())
        with Handler.lock:
            status, answer = self.decide(json.loads(body), word, value)
        text = json.dumps(answer).encode()
        if word == "lose":
            return self.hang_up()
        if word == "cut":
            text, whole = text[:int(value)], text
            self.start(status, "application/json", len(whole))
            self.wfile.write(text)
            return self.hang_up()
        if word == "redirect":
            return self.answer(302, "application/json", text, [("Location", value)])
        if word == "type":
            return self.answer(status, value, text)
        if word == "huge":
            return self.answer(200, "application/json", b" " * int(value) + text)
        if word == "headers":
            return self.answer(
                status, "application/json", text, [("X-%d" % n, "x" * 1000) for n in range(int(value))])
        if word == "cookie":
            return self.answer(status, "application/json", text, [("Set-Cookie", "a=b")])
        if word == "nothttp":
            self.wfile.write(b"220 a mail server\r\n")
            return self.hang_up()
        self.answer(status, "application/json", text)

    def decide(self, body, word, value):
        if self.path.endswith("/v1/device/enrolments"):
            name = "cr_" + hashlib.sha256(body["ticket"].encode()).hexdigest()[:16]
            credential = Handler.credentials.setdefault(name, Credential(name))
            return 201, {"credential": name, "secret": credential.current, "generation": 0}
        credential = Handler.credentials[body["credential"]]
        if word == "wipe":
            return 200, dict(Credential("").wipe(value))
        if word == "roll-back":
            # Simulates a failover to a standby that lacks the last decision.
            credential.successor = credential.nonce = credential.answer = None
        if word == "deny":
            return 200, {"verification": "vf_denied", "result": "denied", "wipe": False}
        answer = credential.login(body["secret"], body["rotation_nonce"])
        if word == "set":
            # Replaces the value of a member of the response.
            name, _, changed = value.partition(":")
            answer = dict(answer, **{name: json.loads(changed)})
        if word == "without":
            answer = {key: answer[key] for key in answer if key != value}
        return 200, answer

    def problem(self, status):
        text = json.dumps({"type": "urn:watchword:problem:test", "status": status, "field": "name"}).encode()
        self.answer(status, "application/problem+json", text, [("Retry-After", "7")])

    def start(self, status, kind, count, headers=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(count))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def answer(self, status, kind, text, headers=()):
        self.start(status, kind, len(text), headers)
        self.wfile.write(text)

    def hang_up(self):
        self.close_connection = True
        self.wfile.flush()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        # Clients that refuse the certificate or are killed are expected.
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    parser.add_argument("--highest", default="TLSv1_3")
    parser.add_argument("--fault", action="append", default=[])
    options = parser.parse_args()
    Handler.log = open(options.log, "a", encoding="utf-8")
    Handler.faults = options.fault
    server = Server((options.host, 0), Handler)
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion[options.highest]
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
        context.load_cert_chain(options.certificate, options.key)
        # Do the handshake in the thread of the connection, not in the thread that accepts.
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


main()
