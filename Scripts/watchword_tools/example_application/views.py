"""The application's pages."""
from html import escape

STYLE = """
:root { color-scheme: light dark; }
body { max-width: 36rem; margin: 2rem auto; padding: 0 1.25rem; font: 1rem/1.5 system-ui, sans-serif; }
label, button, input { display: block; font: inherit; }
input:not([type=radio]) { width: 100%; max-width: 20rem; padding: 0.5rem; margin-bottom: 1rem; box-sizing: border-box; }
input[type=radio] { display: inline; margin-right: 0.5rem; }
button { min-height: 2.75rem; padding: 0.5rem 1.25rem; margin: 1rem 0; }
[role=alert] { border-left: 4px solid; padding-left: 0.75rem; }
"""
SCRIPTS = {
    # The page to which the server's pages return: what they report is in the fragment, which only a script can read.
    "/returned.js": """
const report = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
history.replaceState(null, "", location.pathname);
const response = await fetch("/returned", {method: "POST", body: JSON.stringify(report),
    headers: {"Content-Type": "application/json"}});
location.replace((await response.json()).location);
""",
    # Makes the browser forget removed passkeys, which works only on pages of the passkeys' domain.
    "/accepted.js": """
const accepted = await (await fetch("/accepted")).json();
if (accepted) {
    try {
        await globalThis.PublicKeyCredential?.signalAllAcceptedCredentials?.(accepted);
    } catch {
        // A removed passkey is offered once more; the server denies it.
    }
}
""",
}
# Why the server requires a second proof.
REASONS = {
    "new-device": "You use this passkey in this browser for the first time.",
    "became-syncable": "This passkey was bound to one device, and can now be copied to others.",
    "backup-flags": "This passkey could be copied to other devices. Now your device says that it cannot.",
    "first-verification": "Your device checked for the first time that it was you.",
    "counter": "Somebody else may have a copy of this passkey.",
}


def page(title, content, error=None, script=None):
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/style.css">'
        + (f'<script type="module" src="{script}"></script>' if script else "")
        + f"</head><body><main><h1>{escape(title)}</h1>"
        + (f'<p role="alert">{escape(error)}</p>' if error else "") + content + "</main></body></html>")


def form(action, button, content=""):
    return f'<form method="post" action="{action}">{content}<button id="{action[1:]}">{escape(button)}</button></form>'


def welcome(error=None, enrolled=False):
    return page(
        "The shop",
        ("<p>Your new passkey is ready. Sign in with it.</p>" if enrolled else "") + form("/sign-in", "Sign in") +
        '<h2>New here?</h2>' + form("/accounts", "Create an account", name_field()), error)


def name_field():
    return '<label for="name">Name</label><input id="name" name="name" required autocomplete="username">'


def account(subject, passkeys):
    rows = "".join(
        f"<li>{escape(passkey.get('name') or 'without a name')}: "
        + ("removed" if passkey["state"] != "active" else "synced" if passkey.get("backed_up") else "on one device")
        + "</li>" for passkey in passkeys)
    return page(
        f"Hello, {subject}",
        f'<h2>Your passkeys</h2><ul>{rows}</ul>' + form("/passkeys", "Create another passkey")
        + form("/codes", "Get new recovery codes") + form("/sign-out", "Sign out"), script="/accepted.js")


def offer_codes():
    return page("Get recovery codes", "<p>With a recovery code you can come back if you lose your passkeys. "
                "New codes replace the ones that you have.</p>" + form("/codes", "Get new recovery codes") + home())


def offer_passkey():
    return page("Create a second passkey", "<p>Use another device or a security key, so that you cannot lose both "
                "passkeys at once.</p>" + form("/passkeys", "Create another passkey") + home())


def home():
    return '<p><a href="/">Go to your account</a></p>'


def codes(codes):
    rows = "".join(f"<li><code>{escape(code)}</code></li>" for code in codes)
    return page("Your recovery codes", "<p>Print these codes. Each is valid once. They are not shown again.</p>"
                f'<ol>{rows}</ol><p><a href="/">I have printed them</a></p>')


def recover(error=None):
    return page(
        "Recover your account",
        "<p>If you have lost the device with your passkey, use one of your recovery codes.</p>"
        + form("/recover", "Continue", name_field() + code_field()), error)


def code_field():
    return ('<label for="code">Recovery code</label>'
            '<input id="code" name="code" required autocomplete="off" autocapitalize="characters">')


def proof(reasons, error=None):
    sentences = [REASONS[reason] for reason in reasons if reason in REASONS]
    sentences.append("To prove that it is you, use one of your recovery codes.")
    return page(
        "One more proof",
        f"<p>{' '.join(sentences)}</p>"
        + form("/proof", "Continue", code_field()), error)


def lost(passkeys, error=None):
    rows = "".join(
        f'<p><label><input type="radio" name="credential" value="{escape(passkey["credential"])}" required>'
        f"{escape(passkey.get('name') or 'without a name')}</label></p>" for passkey in passkeys)
    return page(
        "Which passkey have you lost?",
        "<p>It will be removed at once. Then you create a new one.</p>"
        + form("/lost", "Remove it and create a new passkey",
               f"<fieldset><legend>Your passkeys</legend>{rows}</fieldset>"),
        error)


def returning():
    return page("One moment", "<p>Returning to the shop.</p>", script="/returned.js")
