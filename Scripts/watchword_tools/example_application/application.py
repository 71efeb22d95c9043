"""The application: an account is a name. What a person may do depends on how the session began."""
import json
import re
import secrets
import threading
import time
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs

from . import views

NAME = re.compile(r"[a-z0-9-]{1,40}")
SESSION = "__Host-session"
NO_NAME = "A name has 1 to 40 lower-case letters, digits and hyphens."
ENDED = "This step has ended: it is done, or it took longer than ten minutes. Start again."
LONGEST_BODY = 10_000
# How long a recovery or a second proof may take, in seconds. The server waits as long for the proof.
STEP = 600
# The page after a sign-in, for each wish that a person can express on the server's page.
WISHES = {"recovery-codes": "/codes", "passkey": "/passkeys"}


class Session:
    """A visit. `subject` has signed in; `recovering` has only used a recovery code; `proving` is a login for which
    the server requires a second proof. `wish` is the page that the person asked for, and `end` the time at which the
    session ends."""

    def __init__(self):
        self.state = secrets.token_urlsafe(16)
        self.subject = None
        self.recovering = None
        self.proving = None
        self.wish = None
        self.end = None


class Shop:
    """The state of the application. `server` is the address of the server's pages; the first address of its
    `--return-to` is this application's `/back`."""

    def __init__(self, verifier, server, clock=time.monotonic):
        self.verifier, self.server, self.clock = verifier, server, clock
        self.accounts, self.sessions = set(), {}
        self.lock = threading.Lock()

    def take(self, name):
        """Returns whether the name was free. The server remembers names that this program has forgotten."""
        with self.lock:
            if name in self.accounts or self.verifier.has_credentials(name):
                return False
            self.accounts.add(name)
            return True


class Handler(BaseHTTPRequestHandler):
    """Requests. A subclass sets `shop`."""

    # One request per connection, so that an unread body is never taken for the next request.
    protocol_version = "HTTP/1.0"
    shop = None

    def log_message(self, *arguments):
        pass

    # Responses.

    def respond(self, content, status=200, kind="text/html; charset=utf-8", location=None):
        body = content.encode()
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        self.send_header("Set-Cookie", f"{SESSION}={self.token}; Path=/; Secure; HttpOnly; SameSite=Lax")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header(
            "Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            f"base-uri 'none'; frame-ancestors 'none'; form-action 'self' {self.shop.server}")
        self.end_headers()
        self.wfile.write(body)

    def go(self, location):
        self.respond("", 303, location=location)

    def go_to_enrolment(self, subject):
        """Sends the person to the server's page, with a new ticket in the fragment."""
        address, ticket = self.shop.verifier.enrolment_link(subject).split("#")
        self.go(f"{address}?return=0&state={self.session.state}#{ticket}")

    # Requests.

    def find_session(self):
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get(SESSION)
        self.token = cookie.value if cookie else None
        self.session = self.shop.sessions.get(self.token)
        if not self.session or self.session.end and self.shop.clock() >= self.session.end:
            self.begin_session()

    def begin_session(self, **members):
        """Begins a session with a new token, which every change of the session's rights needs."""
        self.shop.sessions.pop(self.token, None)
        self.token, self.session = secrets.token_urlsafe(32), Session()
        vars(self.session).update(members)
        self.shop.sessions[self.token] = self.session

    def begin_step(self, **members):
        """Begins a session that permits only one step, for a limited time."""
        self.begin_session(end=self.shop.clock() + STEP, **members)

    def do_GET(self):
        self.find_session()
        subject = self.session.subject
        if self.path == "/style.css":
            self.respond(views.STYLE, kind="text/css")
        elif self.path in views.SCRIPTS:
            self.respond(views.SCRIPTS[self.path], kind="text/javascript")
        elif self.path == "/back":
            self.respond(views.returning())
        elif self.path == "/recover":
            self.respond(views.recover())
        elif self.path == "/lost" and self.session.recovering:
            self.respond(views.lost(self.active_passkeys()))
        elif self.path == "/proof" and self.session.proving:
            self.respond(views.proof(self.session.proving["step_up"]))
        elif self.path in ("/lost", "/proof"):
            self.respond(views.welcome(ENDED), 403)
        elif self.path == "/codes" and subject:
            self.respond(views.offer_codes())
        elif self.path == "/passkeys" and subject:
            self.respond(views.offer_passkey())
        elif self.path == "/accepted" and subject:
            self.respond(json.dumps(self.shop.verifier.accepted_passkeys(subject)), kind="application/json")
        elif self.path == "/" and subject:
            self.respond(views.account(subject, self.shop.verifier.passkeys(subject)))
        elif self.path == "/":
            self.respond(views.welcome(enrolled=self.session.wish is not None))
        else:
            self.go("/")

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= LONGEST_BODY:
            self.send_error(413)
            return
        content = self.rfile.read(length)
        self.find_session()
        if self.path == "/returned":
            self.returned(json.loads(content))
            return
        fields = {name: values[0] for name, values in parse_qs(content.decode()).items()}
        subject = self.session.subject
        if self.path == "/accounts":
            self.create_account(fields.get("name", ""))
        elif self.path == "/sign-in":
            self.go(f"{self.shop.server}/ui/sign-in?return=0&state={self.session.state}")
        elif self.path == "/recover":
            self.recover(fields.get("name", ""), fields.get("code", "").strip().upper())
        elif self.path == "/lost" and self.session.recovering:
            self.replace_lost_passkey(fields.get("credential"))
        elif self.path == "/proof" and self.session.proving:
            self.prove(fields.get("code", "").strip().upper())
        elif self.path in ("/lost", "/proof"):
            self.respond(views.welcome(ENDED), 403)
        elif self.path == "/passkeys" and subject:
            self.go_to_enrolment(subject)
        elif self.path == "/codes" and subject:
            self.respond(views.codes(self.shop.verifier.recovery_codes(subject)))
        elif self.path == "/sign-out":
            self.begin_session()
            self.go("/")
        else:
            self.go("/")

    def create_account(self, name):
        if not NAME.fullmatch(name):
            self.respond(views.welcome(NO_NAME), 400)
        elif not self.shop.take(name):
            self.respond(views.welcome("This name is taken."), 400)
        else:
            self.begin_session(subject=name)
            self.go_to_enrolment(name)

    def returned(self, report):
        """Handles the report of a page of the server. Only a login ticket proves anything; the rest is a wish."""
        location = "/"
        if report.get("state") == self.session.state:
            if "login" in report:
                location = self.sign_in(report["login"])
            elif "another_way" in report:
                location = "/recover"
            elif report.get("enrolled") == "1":
                wish = WISHES.get(report.get("next"), "/")
                if self.session.subject:
                    location = wish
                else:
                    self.session.wish = wish
        self.respond(json.dumps({"location": location}), kind="application/json")

    def sign_in(self, ticket):
        """Begins a session, or one that can only give a second proof. Returns where the person goes next."""
        login, wish = self.shop.verifier.redeem_login(ticket), self.session.wish
        if not login:
            return "/"
        if login["result"] == "step-up":
            self.begin_step(proving=login, wish=wish)
            return "/proof"
        self.begin_session(subject=login["subject"])
        return wish or "/"

    def prove(self, code):
        login, wish = self.session.proving, self.session.wish
        if not self.shop.verifier.accepts_recovery_code(login["subject"], code):
            self.respond(views.proof(login["step_up"], "The code is wrong, or it has been used."), 403)
        elif not self.shop.verifier.completes_step_up(login["credential"], login["verification"]):
            self.begin_session()
            self.respond(views.welcome("Your passkey was removed, or this sign-in has ended. Sign in again."), 403)
        else:
            self.begin_session(subject=login["subject"])
            self.go(wish or "/")

    # Recovery.

    def active_passkeys(self):
        return [passkey for passkey in self.shop.verifier.passkeys(self.session.recovering)
                if passkey["state"] == "active"]

    def recover(self, name, code):
        """A code opens a session that can only replace a passkey. The server limits wrong codes."""
        if not (NAME.fullmatch(name) and self.shop.verifier.accepts_recovery_code(name, code)):
            self.respond(views.recover("The name or the code is wrong, or the code has been used."), 403)
            return
        self.begin_step(recovering=name)
        if self.active_passkeys():
            self.go("/lost")
        else:  # The lost passkey has been removed, but its owner has not created a new one yet.
            self.begin_session()
            self.go_to_enrolment(name)

    def replace_lost_passkey(self, credential):
        passkeys = self.active_passkeys()
        if credential not in [passkey["credential"] for passkey in passkeys]:
            self.respond(views.lost(passkeys, "Choose one of your passkeys."), 400)
            return
        subject = self.session.recovering
        self.shop.verifier.revoke(credential)
        self.begin_session()
        self.go_to_enrolment(subject)
