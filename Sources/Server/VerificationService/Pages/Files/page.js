// The pages /ui/enrol and /ui/sign-in. The functions `register` and `authenticate` also serve applications that
// run a ceremony themselves: they take the options that the server returned, and return what it expects back.

/** Creates a passkey. The browser also reports whether it can be found without a user name (`credProps`). */
export async function register(options, signal) {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    publicKey.extensions = {...publicKey.extensions, credProps: true};
    return (await navigator.credentials.create({publicKey, signal})).toJSON();
}

/** Signs a challenge with a passkey. With `mediation` "conditional", the browser suggests passkeys in a field. */
export async function authenticate(options, signal, mediation = "optional") {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    return (await navigator.credentials.get({publicKey, signal, mediation})).toJSON();
}

/** Tells the authenticator that the server does not know this passkey, so that it is no longer offered. Returns
 *  whether the browser took the message; it does not say whether the authenticator obeyed. */
export async function removeUnknown(passkey) {
    try {
        await PublicKeyCredential.signalUnknownCredential(passkey);
        return true;
    } catch {
        return false;
    }
}

/** An error with a sentence for the person. `problem` is the server's name for it; `final` means that another attempt
 *  on this page cannot succeed. */
class Failure extends Error {
    constructor(sentence, final = false, problem = null) {
        super(sentence);
        this.final = final;
        this.problem = problem;
    }
}

const sentences = {
    // What browsers report.
    NotAllowedError: "The request was cancelled, or it took too long. You can try again.",
    InvalidStateError: "This device already has a passkey for your account. Sign in with it, or create one on another device.",
    NotSupportedError: "This device cannot create the kind of passkey that this site requires. Try another device.",
    ConstraintError: "This device has no PIN, fingerprint or face set up. Set one up, or try another device.",
    SecurityError: "This site is not set up for passkeys at this address. Tell the people who run it.",
    // What the server reports.
    "refused-ticket": "This link has already been used, or it has expired. Ask the application for a new one.",
    "too-many-requests": "There were too many requests from your network. Wait a minute, then try again.",
    unavailable: "The server cannot answer at the moment. Try again later.",
    unreachable: "The server cannot be reached. Check your connection, then try again.",
    // What the pages find out.
    "no-ticket": "This link is incomplete. Open the whole link that the application gave you.",
    "no-return": "This link is incomplete. Go back to the application, and start there again.",
    "no-passkeys": "This browser does not support passkeys. Update it, or use another browser.",
    "refused-passkey": "The server did not accept this passkey. Try again, or use another passkey.",
    "refused-kind": "This site does not accept this passkey, and it will not accept another one from the same device or "
        + "passkey provider. Create one on another device, with another provider or with a security key, or ask the "
        + "people who run this site.",
    orphan: "If your device or passkey provider still lists the new passkey, delete it there: it does not work.",
    other: "Something went wrong. Try again; if it fails again, tell the people who run this site.",
};

const find = (id) => document.getElementById(id);

function show(id, shown = true) {
    find(id).hidden = !shown;
}

function report(error) {
    find("progress").textContent = "";
    find("error").textContent = error instanceof Failure ? error.message : sentences[error.name] ?? sentences.other;
    if (error.final) {
        for (const form of document.forms) {
            form.hidden = true;
        }
    }
}

function announce(sentence) {
    find("error").textContent = "";
    find("progress").textContent = sentence;
}

/** Starts a ceremony: each attempt needs a new challenge. */
function begin(body) {
    return send("ceremonies", body);
}

/** Sends what the browser returned. If the response is lost, the request is repeated once: with the same
 *  `Idempotency-Key`, the server repeats its response instead of deciding again. */
function finish(name, body) {
    return send(name, body, {"Idempotency-Key": crypto.randomUUID()});
}

async function send(name, body, headers) {
    const path = `/v1/browser/${name}`;
    const request = {
        method: "POST",
        headers: {"Content-Type": "application/json", ...headers},
        body: JSON.stringify(body),
        credentials: "omit",
        referrerPolicy: "no-referrer",
    };
    let response;
    let answer;
    try {
        response = await fetch(path, request).catch(() => fetch(path, request));
        answer = await response.json();
    } catch {
        throw new Failure(response && response.status < 500 ? sentences.other : sentences.unreachable);
    }
    if (response.ok) {
        return answer;
    }
    const problem = String(answer.type).split(":").pop();
    throw new Failure(
        sentences[problem] ?? (response.status >= 500 ? sentences.unavailable : sentences.other),
        problem === "refused-ticket", problem);
}

/** The address to return to: one of those that the server permits, which writes it into the page. What the
 *  application learns is in the fragment, which browsers do not send to any server. */
function returnAddress(result) {
    const address = document.querySelector("meta[name=return-to]").content;
    if (!address) {
        return null;
    }
    const fragment = new URLSearchParams(result);
    // Like the server, take a plus sign in the query literally, not as a space.
    const state = new URLSearchParams(location.search.replaceAll("+", "%2B")).get("state");
    if (state !== null) {
        fragment.set("state", state);
    }
    return `${address}#${fragment}`;
}

/** Makes a link to the application visible, if there is an address to return to. */
function link(id, container, result) {
    const address = returnAddress(result);
    if (address) {
        find(id).href = address;
        show(container);
    }
    return address !== null;
}

/** Runs `attempt` for each submission of the form, one at a time. */
function onSubmit(form, attempt) {
    const button = find(form).querySelector("button");
    let busy = false;
    find(form).addEventListener("submit", async (event) => {
        event.preventDefault();
        if (busy) {
            return;
        }
        // A disabled button would lose the keyboard's focus.
        busy = true;
        button.setAttribute("aria-disabled", "true");
        try {
            await attempt();
        } catch (error) {
            report(error);
        } finally {
            busy = false;
            button.removeAttribute("aria-disabled");
        }
    });
}

async function enrol() {
    const ticket = location.hash.slice(1);
    const ceremony = () => begin({ticket});
    // Another link may differ only in its fragment, which does not load the page again.
    addEventListener("hashchange", () => location.reload());
    link("another-way", "elsewhere", {enrolled: "0"});
    if (!ticket.startsWith("wwt_")) {
        throw new Failure(sentences["no-ticket"], true);
    }
    // Tells at once whether the link is still valid, and whose it is.
    const showAccount = async () => {
        const {options} = await ceremony();
        find("account-name").textContent = options.user.displayName || options.user.name;
        show("account");
        announce("");
        show("retry", false);
        show("form");
    };
    onSubmit("retry", async () => {
        announce("Asking the server again.");
        await showAccount();
        find("name").focus();
    });
    onSubmit("form", async () => {
        announce("Follow your browser's instructions.");
        const {options} = await ceremony();
        const response = await register(options);
        announce("The server is checking your passkey.");
        const name = find("name").value.trim();
        const answer = await finish("registrations", {ticket, response, ...(name && {name})});
        if (answer.result !== "accepted") {
            const isOrphan = answer.signal && !await removeUnknown(answer.signal);
            throw new Failure(
                answer.retry ? sentences["refused-passkey"]
                    : [sentences["refused-kind"], ...(isOrphan ? [sentences.orphan] : [])].join(" "));
        }
        finishEnrolment(answer, obstacles(answer, options, response));
    });
    try {
        await showAccount();
    } catch (error) {
        show("retry");
        throw error;
    }
}

/** Why the page /ui/sign-in cannot use the passkey: it asks for no user name, and requires that the device checks
 *  who uses it. The application may have permitted passkeys for a sign-in page of its own. */
function obstacles(passkey, options, response) {
    const found = response.clientExtensionResults?.credProps?.rk
        ?? (options.authenticatorSelection.residentKey === "required" || null);
    return [
        ...(found === false ? ["It can be used only after you have typed your user name."] : []),
        ...(found === null ? ["It may be usable only after you have typed your user name."] : []),
        ...(passkey.user_verified ? [] : [
            "Your device did not check who used it. Anyone who holds it can use this passkey."]),
    ];
}

function finishEnrolment(passkey, reservations) {
    // The ticket is spent; a reload would only report that.
    history.replaceState(null, "", location.pathname + location.search);
    announce("");
    const facts = [
        passkey.device_bound
            ? "It stays on the device or the security key that created it."
            : passkey.backed_up
                ? "Your passkey provider keeps a copy, so you can use it on your other devices too."
                : "Your passkey provider can copy it to your other devices, but has not done so yet.",
        ...(passkey.user_verified ? ["Your device checked that it was you, for example by fingerprint or PIN."] : []),
        ...reservations,
    ];
    // A model without a name is only a number.
    if (passkey.authenticator && !/^[0-9a-f-]{36}$/.test(passkey.authenticator)) {
        facts.push(`It was created by: ${passkey.authenticator}.`);
    }
    find("facts").replaceChildren(...facts.map((fact) => {
        const item = document.createElement("li");
        item.textContent = fact;
        return item;
    }));
    show("form", false);
    show("elsewhere", false);
    if (passkey.only_credential) {
        link("second-passkey", "offers", {enrolled: "1", next: "passkey"});
        show("advice", !link("recovery-codes", "offers", {enrolled: "1", next: "recovery-codes"}));
        show("only");
    }
    show("close", !link("continue", "onward", {enrolled: "1"}));
    if (reservations.length) {
        find("ready").textContent = "Your passkey was created, with a restriction";
        show("restricted");
    }
    show("done");
    find("ready").focus();
}

async function signIn() {
    if (!link("another-way", "elsewhere", {another_way: "1"})) {
        throw new Failure(sentences["no-return"], true);
    }
    show("form");
    // The server would not learn a name: the passkey says who signs in.
    find("passkey").addEventListener("beforeinput", (event) => event.preventDefault());
    const suggestions = new Suggestions(finishSignIn);
    onSubmit("form", async () => {
        suggestions.stop();
        try {
            announce("Follow your browser's instructions.");
            const {ceremony, options} = await begin({});
            await finishSignIn(ceremony, await authenticate(options));
        } catch (error) {
            suggestions.start();
            throw error;
        }
    });
    suggestions.start();
}

async function finishSignIn(ceremony, response) {
    announce("The server is checking your passkey.");
    const device = knownDevice(response.id);
    let answer;
    try {
        answer = await finish("assertions", {ceremony, response, ...(device && {device})});
    } catch (error) {
        if (!device || error.problem !== "invalid-field") {
            throw error;
        }
        // The token is damaged. A malformed request does not end the ceremony.
        forgetDevice(response.id);
        answer = await finish("assertions", {ceremony, response});
    }
    if (answer.signal) {
        await removeUnknown(answer.signal);
    }
    if (!answer.login) {
        throw new Failure(sentences["refused-passkey"]);
    }
    if (answer.device) {
        rememberDevice(response.id, answer.device);
    }
    location.replace(returnAddress({login: answer.login}));
    announce(answer.result === "accepted"
        ? "You are signed in. Returning to the application."
        : "Returning to the application, which will ask you for one more proof of your identity.");
}

/** The token by which the server recognises that this passkey was used in this browser before. */
function knownDevice(passkey) {
    try {
        return localStorage.getItem(`device ${passkey}`);
    } catch {
        return null;
    }
}

function rememberDevice(passkey, device) {
    try {
        localStorage.setItem(`device ${passkey}`, device);
    } catch {
        // Some browsers store nothing; the server then treats this browser as a new device every time.
    }
}

function forgetDevice(passkey) {
    try {
        localStorage.removeItem(`device ${passkey}`);
    } catch {
        // It is not sent again in this attempt.
    }
}

/** Lets the browser suggest passkeys in the field while the page is open (conditional mediation). */
class Suggestions {
    #controller = new AbortController();
    #finish;

    constructor(finish) {
        this.#finish = finish;
    }

    /** Ends the request, because browsers permit no other one beside it. */
    stop() {
        this.#controller.abort();
    }

    /** `failures` counts the requests in a row that failed. */
    async start(failures = 0) {
        this.stop();
        const {signal} = this.#controller = new AbortController();
        let began = Date.now();
        let renewal;
        let attempted = false;
        try {
            if (!await PublicKeyCredential.isConditionalMediationAvailable?.()) {
                return;
            }
            const {ceremony, options} = await begin({});
            began = Date.now();
            show("suggestions");
            // A single long timer would be paused while the computer sleeps.
            renewal = setInterval(() => {
                if (Date.now() - began >= 0.75 * options.timeout) {
                    this.start();
                }
            }, 1000);
            const response = await authenticate(options, signal, "conditional");
            clearInterval(renewal);
            attempted = true;
            await this.#finish(ceremony, response);
        } catch (error) {
            if (signal.aborted) {
                return;
            }
            if (!attempted && error instanceof Failure) {
                this.#startLater(failures, signal);
                return;
            }
            // Without an attempt there is nothing to report, and the button still works. A browser that refuses
            // at once would refuse the next request too.
            const refusedAtOnce = Date.now() - began < 1000;
            if (!attempted && refusedAtOnce) {
                return;
            }
            report(error);
            if (!refusedAtOnce) {
                this.start();
            }
        } finally {
            clearInterval(renewal);
        }
    }

    /** Tries again later: when a computer wakes up, its network takes a while. The button works meanwhile. */
    #startLater(failures, signal) {
        const timer = setTimeout(() => this.start(failures + 1), Math.min(1000 * 2 ** failures, 60_000));
        signal.addEventListener("abort", () => clearTimeout(timer));
    }
}

const pages = {enrol, "sign-in": signIn};
const start = pages[document.body?.dataset.page];
if (start) {
    const supported = globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON
        && PublicKeyCredential.parseRequestOptionsFromJSON;
    (supported ? start() : Promise.reject(new Failure(sentences["no-passkeys"], true))).catch(report);
}
