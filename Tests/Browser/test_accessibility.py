"""The pages without a mouse, for screen readers, and at several widths."""
import os
import pathlib
import unittest

from support import NO_SUGGESTIONS, OFFLINE, SIGN_IN, BrowserTest

CONTROLS = {"button", "link", "textbox"}
WIDTHS = [360, 768, 1280]
# WCAG 2.2: contrast of text (1.4.3) and the size of targets (2.5.8).
CONTRAST, TARGET = 4.5, 24
MEASURE = """(() => {
    const luminance = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
        .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    const paper = (element) => {
        const color = getComputedStyle(element).backgroundColor;
        return /, 0\\)$/.test(color) ? paper(element.parentElement) : color;
    };
    const found = [];
    for (const element of document.querySelectorAll("main *")) {
        const box = element.getBoundingClientRect();
        if (!box.width || ![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
        const [light, dark] = [luminance(getComputedStyle(element).color), luminance(paper(element))]
            .sort((a, b) => b - a);
        found.push({text: element.textContent.slice(0, 30), contrast: (light + 0.05) / (dark + 0.05),
            right: box.right, height: box.height, control: element.matches("a, button, input")});
    }
    return found;
})()"""


class AccessibilityTests(BrowserTest):
    def test_a_person_enrols_and_signs_in_with_the_keyboard_alone(self):
        self.tab.before_pages(NO_SUGGESTIONS)
        self.tab.authenticator()
        self.open_enrolment("?return=0")
        self.tab.tab_to("name")
        self.tab.type("pocket")
        self.tab.press("Enter")
        self.tab.wait_for_text("Your passkey is ready")
        self.assertEqual(self.credentials()[0]["name"], "pocket")
        for identifier in ("recovery-codes", "second-passkey", "continue"):
            self.tab.press("Tab")
            self.assertEqual(self.tab.value("document.activeElement.id"), identifier)
        self.tab.press("Enter")
        self.assertEqual(self.returned(), {"enrolled": "1"})
        self.open_sign_in()
        self.tab.tab_to("start")
        self.tab.press("Space")
        self.assertEqual(self.redeem(self.returned()["login"])["subject"], self.subject)
        self.open_sign_in()
        self.tab.tab_to("another-way")
        self.tab.press("Enter")
        self.assertEqual(self.returned()["another_way"], "1")

    def test_the_focus_stays_where_it_is_while_a_request_runs_and_fails(self):
        self.tab.before_pages(NO_SUGGESTIONS)
        self.tab.authenticator(isUserVerified=False)
        self.open_sign_in()
        self.tab.tab_to("start")
        self.tab.press("Enter")
        self.tab.wait_for_text("cancelled, or it took too long")
        self.assertEqual(self.tab.value("document.activeElement.id"), "start")

    def test_the_focus_is_visible(self):
        self.open_sign_in()
        for identifier in ("start", "another-way"):
            self.tab.tab_to(identifier)
            style = self.tab.value(
                "(({outlineStyle, outlineWidth}) => [outlineStyle, outlineWidth])"
                "(getComputedStyle(document.activeElement))")
            self.assertEqual(style, ["solid", "3px"], identifier)

    def test_every_control_has_a_name_and_a_role(self):
        self.tab.authenticator(automaticPresenceSimulation=False)
        self.tab.open(SIGN_IN)
        self.tab.wait("!document.getElementById('suggestions').hidden")
        self.check_tree("Sign in", {
            ("textbox", "Suggested passkeys"), ("button", "Sign in with a passkey"),
            ("link", "Sign in another way")})

    def test_every_control_of_the_enrolment_has_a_name_and_a_role(self):
        self.tab.authenticator()
        self.open_enrolment("?return=0")
        self.check_tree("Create a passkey", {
            ("textbox", "Name of the passkey (optional)"), ("button", "Create a passkey"),
            ("link", "Go back without a passkey")})
        self.tab.click("start")
        self.tab.wait_for_text("Your passkey is ready")
        self.check_tree("Create a passkey", {
            ("link", "Get recovery codes"), ("link", "Create a second passkey"),
            ("link", "Continue to the application")}, ("region", "Your passkey is ready"))

    def check_tree(self, title, controls, *more):
        tree = self.tab.accessible()
        self.assertEqual({node for node in tree if node[0] in CONTROLS}, controls)
        self.assertIn(("heading", title), tree)
        self.assertIn("main", [role for role, _ in tree])
        for node in more:
            self.assertIn(node, tree)
        self.assertEqual(self.tab.value("document.title"), title)
        self.assertEqual(self.tab.value("document.documentElement.lang"), "en")
        self.assertEqual(self.tab.value(
            "['progress', 'error'].map((id) => document.getElementById(id).role)"), ["status", "alert"])
        # A region that is not displayed would not announce its first text.
        self.assertEqual(self.tab.value(
            "['progress', 'error'].map((id) => getComputedStyle(document.getElementById(id)).display)"),
            ["block", "block"])

    def test_results_are_announced(self):
        self.tab.before_pages(NO_SUGGESTIONS)
        self.tab.authenticator(isUserVerified=False)
        self.open_sign_in()
        self.tab.click("start")
        self.tab.wait_for_text("cancelled, or it took too long")
        self.assertIn("alert", [role for role, _ in self.tab.accessible()])

    def test_each_page_is_readable_at_three_widths_in_light_and_dark(self):
        """Also saves pictures in the folder WATCHWORD_PICTURES, to be looked at."""
        folder = pathlib.Path(os.environ.get("WATCHWORD_PICTURES") or self.world.folder.name)
        folder.mkdir(parents=True, exist_ok=True)
        for name, prepare in [("sign-in", self.show_sign_in), ("sign-in-failed", self.show_failure),
                              ("enrol", self.show_enrolment), ("enrolled", self.show_enrolled),
                              ("enrol-failed", self.show_unreachable)]:
            prepare()
            for width in WIDTHS:
                for dark in (False, True):
                    file = folder / f"{name}-{width}{'-dark' if dark else ''}.png"
                    self.tab.picture(file, width, dark=dark)
                    found = self.tab.value(MEASURE)
                    self.assertTrue(found)
                    for element in found:
                        self.assertGreaterEqual(element["contrast"], CONTRAST, f"{file.name}: {element}")
                        self.assertLessEqual(element["right"], width, f"{file.name}: {element}")
                        if element["control"]:
                            self.assertGreaterEqual(element["height"], TARGET, f"{file.name}: {element}")

    def show_sign_in(self):
        self.device = self.tab.authenticator(automaticPresenceSimulation=False)
        self.tab.open(SIGN_IN)
        self.tab.wait("!document.getElementById('suggestions').hidden")

    def show_failure(self):
        self.tab.call("WebAuthn.removeVirtualAuthenticator", authenticatorId=self.device)
        self.device = self.tab.authenticator(isUserVerified=False)
        self.tab.open(SIGN_IN)
        self.tab.wait("!document.getElementById('form').hidden")
        self.tab.tab_to("start")
        self.tab.press("Enter")
        self.tab.wait_for_text("cancelled, or it took too long")

    def show_enrolment(self):
        self.open_enrolment("?return=0", user_display_name="Ada Lovelace <ada@lovelace.mill.example>")

    def show_enrolled(self):
        self.tab.call("WebAuthn.setUserVerified", authenticatorId=self.device, isUserVerified=True)
        self.enrol_on_page("?return=0")

    def show_unreachable(self):
        self.tab.before_pages(OFFLINE)
        self.tab.open(self.page_link().replace("#", "?return=0#"))
        self.tab.wait_for_text("Check your connection, then try again")

    def test_an_animation_runs_only_if_motion_is_wanted(self):
        self.open_sign_in()
        for wanted, duration in [("no-preference", "0.15s"), ("reduce", "0s")]:
            self.tab.call("Emulation.setEmulatedMedia",
                          features=[{"name": "prefers-reduced-motion", "value": wanted}])
            self.assertEqual(self.tab.value(
                "getComputedStyle(document.getElementById('start')).transitionDuration"), duration)


if __name__ == "__main__":
    unittest.main()
