"""A tab of the browser: what a person sees in it and does with it."""
import base64
import json
import time

from .chromium import DEADLINE

KEYS = {
    "Tab": {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9},
    "Enter": {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
    "Space": {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "text": " "},
}
AUTHENTICATOR = {
    "protocol": "ctap2", "ctap2Version": "ctap2_1", "transport": "internal", "hasResidentKey": True,
    "hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True,
}
MODULE = "/ui/page.js"


class Tab:
    """A tab with cookies and virtual authenticators of its own."""

    def __init__(self, browser):
        self.browser = browser
        self.context = browser.call("Target.createBrowserContext")["browserContextId"]
        self.target = browser.call(
            "Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Accessibility"):
            self.call(domain + ".enable")
        self.call("WebAuthn.enable", enableUI=False)
        self.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)

    def call(self, method, session=None, **parameters):
        return self.browser.call(method, session or self.session, **parameters)

    def close(self):
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)

    def open(self, url):
        """Opens the page, anew if only the fragment differs from the current one, and waits until it is ready."""
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        failure = self.call("Page.navigate", url=url).get("errorText")
        if failure:
            raise AssertionError(f"{url}: {failure}")
        self.wait("location.href !== 'about:blank' && document.readyState === 'complete'")

    def frame(self):
        """Waits for the frame of another site in the page, and returns its session. Events from before the page
        was opened must be gone."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            self.value("true")
            for event in self.browser.events:
                if event["method"] == "Target.attachedToTarget":
                    session = event["params"]["sessionId"]
                    self.call("Runtime.enable", session)
                    self.wait("document.readyState === 'complete'", session)
                    return session
            time.sleep(0.02)
        raise AssertionError("the page has no frame of another site")

    def before_pages(self, source):
        """Runs a script before those of each page that can use passkeys."""
        self.call("Page.addScriptToEvaluateOnNewDocument",
                  source="if (globalThis.PublicKeyCredential) { " + source + " }")

    def run(self, expression, session=None):
        """Evaluates an expression after a user's gesture and awaits its value.

        Returns `{"ok": value}` or `{"error": name, "message": text}`.
        """
        text = ("(async () => { try { return {ok: await (" + expression + ")} } "
                "catch (error) { return {error: error.name, message: error.message} } })()")
        return self.call("Runtime.evaluate", session, expression=text, awaitPromise=True, returnByValue=True,
                         userGesture=True)["result"].get("value", {})

    def value(self, expression, session=None):
        result = self.run(expression, session)
        if "error" in result:
            raise AssertionError(f"{expression}: {result}")
        return result.get("ok")

    def wait(self, condition, session=None):
        """Waits until the condition is true, also across a navigation."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            try:
                found = self.run(condition, session).get("ok")
            except Exception as error:  # The page is being replaced.
                found = None if "context" in str(error) or "navigated" in str(error) else error
                if found:
                    raise
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(f"not true within {DEADLINE} s: {condition}; the page shows: {self.text()}")

    def text(self):
        """The visible text of the page."""
        return self.value("document.body.innerText")

    def wait_for_text(self, text):
        self.wait(f"document.body.innerText.includes({text!r})")

    def register(self, options, session=None, module=MODULE):
        """Creates a passkey with the function of the pages' module."""
        return self.run(f"import({module!r}).then((page) => page.register({json.dumps(options)}))", session)

    def authenticate(self, options, session=None, module=MODULE):
        return self.run(f"import({module!r}).then((page) => page.authenticate({json.dumps(options)}))", session)

    def authenticator(self, **options):
        """Adds a virtual authenticator and returns its id."""
        return self.call("WebAuthn.addVirtualAuthenticator", options={**AUTHENTICATOR, **options})["authenticatorId"]

    def passkeys(self, authenticator):
        return self.call("WebAuthn.getCredentials", authenticatorId=authenticator)["credentials"]

    def press(self, key):
        self.call("Input.dispatchKeyEvent", type="keyDown" if "text" in KEYS[key] else "rawKeyDown", **KEYS[key])
        self.call("Input.dispatchKeyEvent", type="keyUp", **KEYS[key])

    def type(self, text):
        self.call("Input.insertText", text=text)

    def tab_to(self, identifier):
        """Presses Tab until the element has the focus."""
        for _ in range(12):
            if self.value("document.activeElement.id") == identifier:
                return
            self.press("Tab")
        raise AssertionError(f"the Tab key does not reach {identifier}")

    def click(self, identifier):
        self.value(f"document.getElementById({identifier!r}).click()")

    def accessible(self):
        """The accessibility tree: a list of pairs of role and name, without ignored nodes."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", ""))
                for node in nodes if not node["ignored"]]

    def complaints(self):
        """The errors that the browser logged for this tab, such as violations of the content security policy."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            entry = event.get("params", {}).get("entry", {})
            if entry.get("level") == "error" and not entry.get("url", "").endswith("/favicon.ico"):
                found.append(entry["text"])
            if event["method"] == "Runtime.exceptionThrown":
                found.append(json.dumps(event["params"]["exceptionDetails"]))
        return found

    def picture(self, path, width, height=800, dark=False):
        """Saves a picture of the page at this width."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 500)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
