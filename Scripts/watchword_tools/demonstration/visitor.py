"""A visitor of the example application and of the server's pages: a browser without a window."""
import json
import re
import uuid
from html import unescape
from http.client import HTTPConnection
from urllib.parse import parse_qsl, urlencode, urlsplit

DEADLINE = 20
FORM = "application/x-www-form-urlencoded"


class Unexpected(Exception):
    """A response that the demonstration does not expect."""


class Visitor:
    """Keeps the application's cookie. `application` and `server` are addresses, such as http://localhost:8000."""

    def __init__(self, application, server, authenticator):
        self.application, self.server, self.authenticator = application, server, authenticator
        self.cookie = ""

    def send(self, address, path, body=None, kind=FORM, **headers):
        """Sends a POST request, or without a body a GET request. Returns the status, the location and the text."""
        connection = HTTPConnection(urlsplit(address).netloc, timeout=DEADLINE)
        connection.request("GET" if body is None else "POST", path, body, {"Content-Type": kind, **headers})
        response = connection.getresponse()
        content = response.read().decode()
        connection.close()
        if address == self.application:
            self.cookie = response.headers["Set-Cookie"].partition(";")[0]
        return response.status, response.headers["Location"], content

    # The application.

    def open(self, path="/"):
        return Page(*self.send(self.application, path, Cookie=self.cookie))

    def submit(self, path, **fields):
        """Submits a form, and follows the application to another of its pages."""
        page = Page(*self.send(self.application, path, urlencode(fields), Cookie=self.cookie))
        return self.open(page.location) if (page.location or "").startswith("/") else page

    def come_back(self, state, **report):
        """Returns from a page of the server, as its script and the application's do."""
        _, _, content = self.send(
            self.application, "/returned", json.dumps({**report, "state": state}), "application/json",
            Cookie=self.cookie)
        return self.open(json.loads(content)["location"])

    # The server's pages.

    def ask(self, name, body):
        """A request of the pages' script. The browser adds the page's origin."""
        status, _, content = self.send(
            self.server, f"/v1/browser/{name}", json.dumps(body), "application/json",
            **{"Origin": self.server, "Idempotency-Key": str(uuid.uuid4())})
        if status >= 300:
            raise Unexpected(f"{name}: {status} {content}")
        return json.loads(content)

    def create_passkey(self, location, name, **wish):
        """Uses the link to /ui/enrol to which the application sent the browser. Returns the server's response and
        the application's next page."""
        link = urlsplit(location)
        begun = self.ask("ceremonies", {"ticket": link.fragment})
        made = self.authenticator.create(begun["options"], self.server)
        answer = self.ask("registrations", {"ticket": link.fragment, "response": made, "name": name})
        return answer, self.come_back(dict(parse_qsl(link.query))["state"], enrolled="1", **wish)

    def sign_in(self):
        """Uses /ui/sign-in, and returns with the login ticket. Returns the server's response and the application's
        next page; without a ticket, `None` for the page."""
        link = urlsplit(self.submit("/sign-in").location)
        begun = self.ask("ceremonies", {})
        signed = self.authenticator.sign(begun["options"], self.server)
        answer = self.ask("assertions", {"ceremony": begun["ceremony"], "response": signed})
        if "login" not in answer:
            return answer, None
        return answer, self.come_back(dict(parse_qsl(link.query))["state"], login=answer["login"])


class Page:
    """A response of the application."""

    def __init__(self, status, location, content):
        self.status, self.location = status, location
        self.title = unescape("".join(re.findall("<h1>(.*?)</h1>", content)))
        self.alert = unescape("".join(re.findall('<p role="alert">(.*?)</p>', content)))
        self.items = [unescape(re.sub("<.*?>", "", item)) for item in re.findall("<li>(.*?)</li>", content)]
        self.choices = {
            credential: unescape(name)
            for credential, name in re.findall('value="(cr_[^"]*)" required>([^<]*)', content)}
