"""A person signs up, loses the laptop with the only passkey, and comes back with a recovery code.

    python3 -m watchword_tools.demonstration.recovery APPLICATION SERVER

The arguments are the addresses of Scripts/example-application and of the server. Each step must have the result that
it shows; otherwise the exit status is 1.
"""
import os
import sys

from .authenticator import Authenticator
from .visitor import Unexpected, Visitor

PERSON = "ada"
WRONG_CODE = "AAAA-BBBB-CCCC-DDDD"


class Story:
    """`tell` prints the action of a step, and `show` its result."""

    def __init__(self, application, server):
        self.application, self.server = application, server
        emphasised = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        self.bold, self.plain = ("\x1b[1m", "\x1b[0m") if emphasised else ("", "")

    def tell(self, sentence):
        print(f"\n{self.bold}{sentence}{self.plain}", flush=True)

    def show(self, who, what, correct):
        print(f"{who}: {what}", flush=True)
        if not correct:
            raise Unexpected("this step had an unexpected result")

    def show_page(self, page, title, items=()):
        """Shows the application's page, which must have this title."""
        for line in (page.title, *items):
            self.show("application", line, page.title == title)

    def run(self):
        laptop, successor = Authenticator(), Authenticator()
        browser = Visitor(self.application, self.server, laptop)
        codes = self.sign_up(browser)
        self.sign_in(browser)
        browser = Visitor(self.application, self.server, successor)
        self.recover(browser, codes)
        self.check_that_the_loss_is_harmless(laptop, codes)

    def sign_up(self, browser):
        self.tell("Ada creates an account. The application sends her browser to the server's page, which creates a "
                  "passkey on her laptop.")
        link = browser.submit("/accounts", name=PERSON).location
        answer, page = browser.create_passkey(link, "old laptop", next="recovery-codes")
        self.show("server", f"registration {answer['result']}", answer["result"] == "accepted")
        only = answer["only_credential"]
        self.show("server", "this is her only credential" if only else "she has another credential", only)
        self.tell("Because it is her only passkey, the server's page offers recovery codes. She accepts.")
        self.show_page(page, "Get recovery codes")
        page = browser.submit("/codes")
        self.show_page(page, "Your recovery codes", [f"{len(page.items)} codes, to be printed"])
        return page.items

    def sign_in(self, browser):
        self.tell("She signs out, and signs in with the passkey. The application redeems a login ticket.")
        browser.submit("/sign-out")
        answer, page = browser.sign_in()
        self.show("server", f"assertion {answer['result']}", answer["result"] == "accepted")
        self.show_page(page, f"Hello, {PERSON}", page.items)

    def recover(self, browser, codes):
        self.tell("She loses the laptop. On a new one, she chooses another way to sign in. A wrong code is refused.")
        page = browser.submit("/recover", name=PERSON, code=WRONG_CODE)
        self.show("application", page.alert, page.status == 403)
        self.tell("One of the printed codes opens a session that can only replace a passkey. She chooses the lost one.")
        page = browser.submit("/recover", name=PERSON, code=codes[0])
        self.show_page(page, "Which passkey have you lost?", page.choices.values())
        link = browser.submit("/lost", credential=list(page.choices)[0]).location
        self.tell("The application has revoked it, and sends her to the server's page for a new one.")
        answer, page = browser.create_passkey(link, "new laptop", next="recovery-codes")
        self.show("server", f"registration {answer['result']}", answer["result"] == "accepted")
        self.tell("She signs in with the new passkey, and gets the new codes that she asked for.")
        answer, page = browser.sign_in()
        self.show("server", f"assertion {answer['result']}", answer["result"] == "accepted")
        self.show_page(page, "Get recovery codes")
        page = browser.submit("/codes")
        self.show_page(page, "Your recovery codes", [f"{len(page.items)} codes, to be printed"])
        page = browser.open()
        self.show_page(page, f"Hello, {PERSON}", page.items)

    def check_that_the_loss_is_harmless(self, laptop, codes):
        self.tell("Somebody finds the old laptop and can unlock it. Its passkey is refused, and the server tells the "
                  "browser to forget it.")
        finder = Visitor(self.application, self.server, laptop)
        answer, _ = finder.sign_in()
        self.show("server", f"assertion {answer['result']}", answer["result"] == "denied")
        signal = answer.get("signal")
        self.show("server", f"signalUnknownCredential for {signal['rpId']}" if signal else "no signal", signal)
        self.tell("The old codes are useless, too: the one that was used, and those that the new ones replaced.")
        for code in codes[:2]:
            page = finder.submit("/recover", name=PERSON, code=code)
            self.show("application", page.alert, page.status == 403)


if __name__ == "__main__":
    try:
        Story(*sys.argv[1:]).run()
    except Unexpected as error:
        sys.exit(f"recovery: {error}")
