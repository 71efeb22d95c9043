"""A server under test, and requests to it as the application sends them."""
import json
import os
import pathlib
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from watchword_tools import ROOT

DEADLINE = 20
KINDS = {"/ui/page.js": "text/javascript", "/.well-known/webauthn": "application/json"}
SCOPES = "verify,enrol,manage,reasons,audit"


class Certificate:
    """A self-signed certificate for these hosts."""

    def __init__(self, folder, hosts):
        self.file, self.key = pathlib.Path(folder, "certificate.pem"), pathlib.Path(folder, "key.pem")
        names = ",".join(f"DNS:{host}" for host in hosts)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-days", "30", "-subj", "/CN=test", "-addext", f"subjectAltName={names},IP:127.0.0.1",
             "-keyout", self.key, "-out", self.file], check=True, capture_output=True)


class Server:
    """A `watchword-server` over TLS with the pages, on a port that the kernel chose.

    `WATCHWORD_SERVER` names another program with the same options and routes.
    """

    def __init__(self, folder, certificate, *options):
        program = os.environ.get("WATCHWORD_SERVER", str(ROOT / ".build/release/watchword-server"))
        environment = os.environ | {"XDG_STATE_HOME": str(folder)}
        log = pathlib.Path(folder, "log")
        self.certificate = certificate
        with open(log, "wb") as lines:
            self.process = subprocess.Popen(
                [program, "serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--no-clock-check",
                 "--tls-certificate", certificate.file, "--tls-key", certificate.key, "--pages", *options],
                stderr=lines, env=environment)
        try:
            self.port = self._port(log)
            self.key = subprocess.run(
                [program, "client", "add", "mill", "--scope", SCOPES], check=True, capture_output=True, text=True,
                env=environment).stdout.strip()
        except BaseException:
            self.close()
            raise

    def _port(self, log):
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end and self.process.poll() is None:
            for line in log.read_text().splitlines():
                address = json.loads(line).get("service") if line.startswith("{") else None
                if address:
                    return int(address.rsplit(":", 1)[1])
            time.sleep(0.05)
        raise RuntimeError("the server did not start: " + log.read_text())

    def close(self):
        self.process.terminate()
        self.process.wait()

    def fetch(self, method, path, body=None, key=None):
        """Sends a request. Returns the status, the header fields and the body."""
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}{path}", method=method)
        if key:
            request.add_header("Authorization", "Bearer " + key)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        context = ssl.create_default_context(cafile=self.certificate.file)
        try:
            with urllib.request.urlopen(request, context=context, timeout=DEADLINE) as response:
                return response.status, response.headers, response.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

    def api(self, method, path, body=None):
        """Sends a request with the API key and returns the JSON of a successful response."""
        status, _, content = self.fetch(method, path, body, self.key)
        if status >= 300:
            raise AssertionError(f"{method} {path}: {status} {content.decode()}")
        return json.loads(content) if content else None


class Site:
    """A site over TLS, on a port that the kernel chose."""

    def __init__(self, certificate, handler):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.file, certificate.key)
        self.server.socket = context.wrap_socket(
            self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def fixed(pages):
    """A handler for fixed pages: `pages` maps paths to their content."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments):
            pass

        def do_GET(self):
            path = self.path.partition("?")[0]
            content = pages.get(path, "").encode()
            self.send_response(200 if content else 404)
            self.send_header("Content-Type", KINDS.get(path, "text/html; charset=utf-8"))
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler
