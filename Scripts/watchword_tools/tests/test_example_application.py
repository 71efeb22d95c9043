import http.client
import json
import socket
import threading
import unittest
from http.server import ThreadingHTTPServer
from urllib.parse import urlencode

from watchword_tools.example_application.application import ENDED, SESSION, Handler, Shop

CODE = "ABCD-EFGH-IJKL-MNOP"


class Recorder:
    """Simulates the server for the application, and records the requested changes."""

    def __init__(self):
        self.calls = []
        self.states = {"cr_old": "active"}
        self.reasons = ["new-device"]
        self.refuses_proofs = False

    def redeem_login(self, login):
        result = {"wwl_good": "accepted", "wwl_new_device": "step-up"}.get(login)
        return result and {"result": result, "subject": "ada", "credential": "cr_old", "verification": "vf_1",
                           "step_up": self.reasons}

    def completes_step_up(self, credential, verification):
        self.calls.append(("step-up", credential, verification))
        return not self.refuses_proofs

    def has_credentials(self, subject):
        return subject == "ada"

    def accepted_passkeys(self, subject):
        return {"accepted": subject}

    def accepts_recovery_code(self, subject, code):
        return (subject, code) == ("ada", CODE)

    def passkeys(self, subject):
        return [{"credential": credential, "type": "passkey", "state": state, "name": "<old> laptop"}
                for credential, state in self.states.items()]

    def revoke(self, credential):
        self.calls.append(("revoke", credential))
        self.states[credential] = "revoked"

    def enrolment_link(self, subject):
        self.calls.append(("enrol", subject))
        return "https://mill.example/ui/enrol#wwt_1"

    def recovery_codes(self, subject):
        return [CODE]


class Visitor:
    """A browser with one cookie."""

    def __init__(self, port):
        self.port, self.cookie = port, None

    def send(self, method, path, body=None, kind="application/x-www-form-urlencoded"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request(method, path, body, {
            "Content-Type": kind, **({"Cookie": f"{SESSION}={self.cookie}"} if self.cookie else {})})
        response = connection.getresponse()
        self.cookie = response.headers["Set-Cookie"].partition("=")[2].partition(";")[0]
        text = response.read().decode()
        connection.close()
        return response.status, response.headers.get("Location"), text

    def post(self, path, **fields):
        return self.send("POST", path, urlencode(fields))

    def report(self, **report):
        status, _, text = self.send("POST", "/returned", json.dumps(report), "application/json")
        return status, json.loads(text)["location"]


class ExampleApplicationTests(unittest.TestCase):
    def setUp(self):
        self.verifier = Recorder()
        self.time = 0
        self.shop = Shop(self.verifier, "https://mill.example", lambda: self.time)
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("ShopHandler", (Handler,), {"shop": self.shop}))
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.port = server.server_port
        self.visitor = Visitor(self.port)
        self.visitor.send("GET", "/")

    def state(self):
        return self.shop.sessions[self.visitor.cookie].state

    def sign_in(self):
        self.visitor.report(login="wwl_good", state=self.state())

    def page(self, path="/"):
        return self.visitor.send("GET", path)[2]

    def test_a_login_ticket_signs_in_with_a_new_session(self):
        before = self.visitor.cookie
        self.assertEqual(self.visitor.report(login="wwl_good", state=self.state()), (200, "/"))
        self.assertNotEqual(self.visitor.cookie, before)
        self.assertNotIn(before, self.shop.sessions)
        self.assertIn("Hello, ada", self.page())

    def test_another_state_or_another_ticket_does_not_sign_in(self):
        for report in ({"login": "wwl_good"}, {"login": "wwl_good", "state": "other"},
                       {"login": "wwl_bad", "state": self.state()}, {"enrolled": "1", "state": self.state()}):
            self.visitor.report(**report)
            self.assertIn("New here?", self.page(), report)

    def test_a_login_that_needs_a_second_proof_signs_in_after_it(self):
        self.assertEqual(self.visitor.post("/proof", code=CODE)[0], 403)
        self.assertEqual(self.visitor.report(login="wwl_new_device", state=self.state()), (200, "/proof"))
        self.assertIn("New here?", self.page())
        self.assertEqual(self.visitor.post("/codes")[1], "/")
        self.assertEqual(self.visitor.post("/proof", code="WRONG")[0], 403)
        self.assertEqual(self.verifier.calls, [])
        self.assertEqual(self.visitor.post("/proof", code=CODE)[:2], (303, "/"))
        self.assertEqual(self.verifier.calls, [("step-up", "cr_old", "vf_1")])
        self.assertIn("Hello, ada", self.page())

    def test_without_the_servers_consent_a_second_proof_does_not_sign_in(self):
        self.verifier.refuses_proofs = True
        self.visitor.report(login="wwl_new_device", state=self.state())
        status, _, text = self.visitor.post("/proof", code=CODE)
        self.assertEqual(status, 403)
        self.assertIn("Sign in again", text)
        self.assertIn("New here?", self.page())
        self.assertIn(ENDED, self.page("/proof"))

    def test_a_second_proof_and_a_recovery_end_after_ten_minutes(self):
        for begin, path, fields in [
                (lambda: self.visitor.report(login="wwl_new_device", state=self.state()), "/proof", {"code": CODE}),
                (lambda: self.visitor.post("/recover", name="ada", code=CODE), "/lost", {"credential": "cr_old"})]:
            begin()
            self.time += 599
            self.assertEqual(self.visitor.send("GET", path)[0], 200)
            self.time += 1
            status, _, text = self.visitor.post(path, **fields)
            self.assertEqual(status, 403)
            self.assertIn(ENDED, text)
            self.assertIn("New here?", self.page())
        self.assertEqual(self.verifier.calls, [])

    def test_a_session_of_a_person_who_signed_in_does_not_end(self):
        self.sign_in()
        self.time += 100_000
        self.assertIn("Hello, ada", self.page())

    def test_the_page_says_why_a_second_proof_is_needed(self):
        for reasons, expected in [
                (["new-device"], "for the first time. To prove"), (["counter"], "a copy of this passkey. To prove"),
                (["a-reason-of-a-later-version"], "<p>To prove"),
                (["became-syncable", "first-verification"], "to others. Your device checked")]:
            self.verifier.reasons = reasons
            self.visitor.report(login="wwl_new_device", state=self.state())
            self.assertIn(expected, self.page("/proof"), reasons)
            self.assertIn(expected, self.visitor.post("/proof", code="WRONG")[2], reasons)

    def test_what_a_person_wants_next_is_done_at_once_if_they_are_signed_in(self):
        self.sign_in()
        for wish, path, text in [("recovery-codes", "/codes", "Get recovery codes"),
                                 ("passkey", "/passkeys", "Create a second passkey")]:
            self.assertEqual(self.visitor.report(enrolled="1", next=wish, state=self.state()), (200, path))
            self.assertIn(text, self.page(path))
        for report in ({"next": "passkey"}, {"enrolled": "0"}, {"enrolled": "1"}, {"enrolled": "1", "next": "other"}):
            self.assertEqual(self.visitor.report(**report, state=self.state()), (200, "/"), report)
        self.assertEqual(self.visitor.report(enrolled="1", next="passkey"), (200, "/"))

    def test_what_a_person_wants_next_is_done_after_the_next_sign_in(self):
        for wish, path in [("recovery-codes", "/codes"), ("passkey", "/passkeys"), (None, "/")]:
            for login in ("wwl_good", "wwl_new_device"):
                self.visitor.post("/sign-out")
                next_page = {"next": wish} if wish else {}
                self.assertEqual(self.visitor.report(enrolled="1", **next_page, state=self.state()), (200, "/"))
                self.assertIn("Your new passkey is ready. Sign in with it.", self.page())
                self.assertEqual(self.visitor.send("GET", path)[0], 303 if wish else 200)
                location = self.visitor.report(login=login, state=self.state())[1]
                if login == "wwl_new_device":
                    self.assertEqual(location, "/proof")
                    location = self.visitor.post("/proof", code=CODE)[1]
                self.assertEqual(location, path, login)
        self.assertEqual(self.visitor.report(login="wwl_good", state=self.state()), (200, "/"))

    def test_another_way_leads_to_the_recovery(self):
        self.assertEqual(self.visitor.report(another_way="1", state=self.state()), (200, "/recover"))

    def test_a_recovery_code_permits_only_the_replacement_of_a_passkey(self):
        self.assertEqual(self.visitor.post("/lost", credential="cr_old")[0], 403)
        self.assertEqual(self.visitor.post("/recover", name="ada", code="WRONG")[0], 403)
        self.assertEqual(self.verifier.calls, [])
        self.assertEqual(self.visitor.post("/recover", name="ada", code=CODE.lower() + " ")[1], "/lost")
        self.assertIn("New here?", self.page())
        self.assertEqual(self.visitor.post("/codes")[1], "/")
        status, _, text = self.visitor.send("GET", "/lost")
        self.assertEqual(status, 200)
        self.assertIn("&lt;old&gt; laptop", text)

    def test_the_lost_passkey_is_revoked_before_a_new_one_is_created(self):
        self.visitor.post("/recover", name="ada", code=CODE)
        self.assertEqual(self.visitor.post("/lost", credential="cr_of_somebody_else")[0], 400)
        status, location, _ = self.visitor.post("/lost", credential="cr_old")
        self.assertEqual((status, location),
                         (303, f"https://mill.example/ui/enrol?return=0&state={self.state()}#wwt_1"))
        self.assertEqual(self.verifier.calls, [("revoke", "cr_old"), ("enrol", "ada")])
        self.assertEqual(self.visitor.post("/lost", credential="cr_old")[0], 403)
        self.assertIn("New here?", self.page())

    def test_a_recovery_that_stopped_after_the_removal_goes_on(self):
        self.verifier.states["cr_old"] = "revoked"
        status, location, _ = self.visitor.post("/recover", name="ada", code=CODE)
        self.assertEqual((status, location),
                         (303, f"https://mill.example/ui/enrol?return=0&state={self.state()}#wwt_1"))
        self.assertIn("New here?", self.page())

    def test_a_name_is_taken_once(self):
        self.assertEqual(self.visitor.post("/accounts", name="grace")[0], 303)
        self.visitor.post("/sign-out")
        self.assertEqual(self.visitor.post("/accounts", name="grace")[0], 400)
        self.assertEqual(self.visitor.post("/accounts", name="<b>")[0], 400)
        self.assertEqual(self.verifier.calls, [("enrol", "grace")])

    def test_a_name_that_the_server_knows_is_taken_although_the_application_forgot_it(self):
        self.assertEqual(self.visitor.post("/accounts", name="ada")[0], 400)
        self.assertIn("New here?", self.page())
        self.assertEqual(self.verifier.calls, [])

    def test_a_body_that_is_too_long_is_refused(self):
        for length, status in [("10000", 303), ("10001", 413), ("-1", 413)]:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
            connection.putrequest("POST", "/sign-out")
            connection.putheader("Content-Length", length)
            connection.endheaders(b" " * 10_000 if status == 303 else None)
            self.assertEqual(connection.getresponse().status, status, length)
            connection.close()

    def test_a_body_that_is_not_read_is_not_taken_for_a_request(self):
        hidden = b"GET /style.css HTTP/1.1\r\nHost: shop.example\r\n\r\n"
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(
                b"GET / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: %d\r\n\r\n" % len(hidden) + hidden)
            received = b""
            try:
                while some := connection.recv(1 << 16):
                    received += some
            except ConnectionResetError:  # The rest of the body was not read.
                pass
        self.assertIn(b"New here?", received)
        self.assertEqual(received.count(b"HTTP/1."), 1)

    def test_the_browser_learns_which_passkeys_are_left(self):
        self.assertEqual(self.visitor.send("GET", "/accepted")[0], 303)
        self.sign_in()
        self.assertEqual(json.loads(self.page("/accepted")), {"accepted": "ada"})
        self.assertIn('src="/accepted.js"', self.page())
        self.assertIn("signalAllAcceptedCredentials", self.page("/accepted.js"))

    def test_only_a_person_who_signed_in_gets_recovery_codes(self):
        self.assertNotIn(CODE, self.visitor.post("/codes")[2])
        self.sign_in()
        self.assertIn(CODE, self.visitor.post("/codes")[2])


if __name__ == "__main__":
    unittest.main()
