import http.client
import json
import threading
import unittest
from http.server import ThreadingHTTPServer
from urllib.parse import urlencode

from watchword_tools.example_application.application import SESSION, Handler, Shop

CODE = "ABCD-EFGH-IJKL-MNOP"


class Recorder:
    """Plays the server for the application, and records what it is asked to change."""

    def __init__(self):
        self.calls = []
        self.states = {"cr_old": "active"}

    def redeem_login(self, login):
        result = {"wwl_good": "accepted", "wwl_new_device": "step-up"}.get(login)
        return result and {"result": result, "subject": "ada", "credential": "cr_old", "verification": "vf_1"}

    def complete_step_up(self, credential, verification):
        self.calls.append(("step-up", credential, verification))

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
        self.shop = Shop(self.verifier, "https://mill.example")
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("ShopHandler", (Handler,), {"shop": self.shop}))
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.visitor = Visitor(server.server_port)
        self.visitor.send("GET", "/")

    def state(self):
        return self.shop.sessions[self.visitor.cookie].state

    def sign_in(self):
        self.visitor.report(login="wwl_good", state=self.state())

    def page(self):
        return self.visitor.send("GET", "/")[2]

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
        self.assertEqual(self.visitor.post("/proof", code=CODE)[1], "/")
        self.assertEqual(self.visitor.report(login="wwl_new_device", state=self.state()), (200, "/proof"))
        self.assertIn("New here?", self.page())
        self.assertEqual(self.visitor.post("/codes")[1], "/")
        self.assertEqual(self.visitor.post("/proof", code="WRONG")[0], 403)
        self.assertEqual(self.verifier.calls, [])
        self.assertEqual(self.visitor.post("/proof", code=CODE)[:2], (303, "/"))
        self.assertEqual(self.verifier.calls, [("step-up", "cr_old", "vf_1")])
        self.assertIn("Hello, ada", self.page())

    def test_another_way_leads_to_the_recovery(self):
        self.assertEqual(self.visitor.report(another_way="1", state=self.state()), (200, "/recover"))

    def test_a_recovery_code_permits_only_the_replacement_of_a_passkey(self):
        self.assertEqual(self.visitor.post("/lost", credential="cr_old")[1], "/")
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
        self.assertEqual(self.visitor.post("/lost", credential="cr_old")[1], "/")
        self.assertIn("New here?", self.page())

    def test_a_recovery_that_stopped_after_the_removal_goes_on(self):
        self.verifier.states["cr_old"] = "revoked"
        status, location, _ = self.visitor.post("/recover", name="ada", code=CODE)
        self.assertEqual((status, location),
                         (303, f"https://mill.example/ui/enrol?return=0&state={self.state()}#wwt_1"))
        self.assertIn("New here?", self.page())

    def test_a_name_is_taken_once(self):
        self.assertEqual(self.visitor.post("/accounts", name="ada")[0], 303)
        self.visitor.post("/sign-out")
        self.assertEqual(self.visitor.post("/accounts", name="ada")[0], 400)
        self.assertEqual(self.visitor.post("/accounts", name="<b>")[0], 400)
        self.assertEqual(self.verifier.calls, [("enrol", "ada")])

    def test_only_a_person_who_signed_in_gets_recovery_codes(self):
        self.assertNotIn(CODE, self.visitor.post("/codes")[2])
        self.sign_in()
        self.assertIn(CODE, self.visitor.post("/codes")[2])


if __name__ == "__main__":
    unittest.main()
