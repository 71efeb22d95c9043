import CommandLineInterface

extension Option {
    // Paths.
    static let store = Option(
        "store", .text("URL"),
        "sqlite:PATH or postgresql://… (default: SQLite)"
    ).settableByEnvironment
    static let keys = Option("keys", .file, "key file (default: beside the database)")
        .settableByEnvironment

    // Serving.
    static let listen = Option(
        "listen", .text("ADDR:PORT"), "address of the API (default 127.0.0.1:8420)"
    ).settableByEnvironment
    static let opsListen = Option(
        "ops-listen", .text("ADDR:PORT"), "health and metrics (default 127.0.0.1:8421)"
    ).settableByEnvironment
    static let tlsCertificate = Option(
        "tls-certificate", .file, "certificate chain in PEM; requires --tls-key"
    ).settableByEnvironment
    static let tlsKey = Option("tls-key", .file, "private key of the certificate in PEM")
        .settableByEnvironment
    static let insecureHTTP = Option(
        "insecure-http", "permit non-loopback addresses without TLS"
    ).settableByEnvironment
    static let profile = Option(
        "profile", .choice(["strict", "rfc", "wide"]), placeholder: "NAME",
        "accepted time steps: strict, rfc, wide (default)"
    ).settableByEnvironment
    static let guessBound = Option(
        "guess-bound", .text("PERCENT"), "probability of a guess per year (default: none)"
    ).settableByEnvironment
    static let foreignSecrets = Option(
        "foreign-secrets", .choice(["count", "ignore"]), placeholder: "ACTION",
        "unknown secrets: count or ignore (default)"
    ).settableByEnvironment
    static let addressRate = Option(
        "address-rate", .text("N[,BURST]"),
        "requests per second and burst (default 100,1000)"
    ).settableByEnvironment
    static let trustedProxy = Option(
        "trusted-proxy", .text("PROXY,…"),
        "addresses or blocks that may set X-Forwarded-For"
    ).settableByEnvironment
    static let noClockCheck = Option(
        "no-clock-check", "report ready even if the clock is not synchronised"
    ).settableByEnvironment
    static let keepEvents = Option(
        "keep-events", .text("DAYS|all"), "how long to keep events (default 400 days)"
    ).settableByEnvironment
    // Passkeys and device keys.
    static let relyingParty = Option(
        "rp-id", .text("HOST,…"), "domains of passkeys; new ones are for the first"
    ).settableByEnvironment
    static let relyingPartyName = Option(
        "rp-name", .text("NAME"), "name that authenticators show (default: HOST)"
    ).settableByEnvironment
    static let origin = Option(
        "origin", .text("ORIGIN,…"), "where passkeys are used (default https://HOST)"
    ).settableByEnvironment
    static let topOrigin = Option(
        "top-origin", .text("ORIGIN,…"), "pages that may contain those in a frame"
    ).settableByEnvironment
    static let attestationRoots = Option(
        "attestation-roots", .file, "trusted makers of authenticators, in PEM"
    ).settableByEnvironment
    static let authenticators = Option(
        "authenticators", .file, "trusted models of authenticators, in JSON"
    ).settableByEnvironment
    static let passkeyAlgorithms = Option(
        "passkey-algorithms", .text("ALG,…"), "for new passkeys (default ES256,RS256)"
    ).settableByEnvironment
    static let passkeyFloor = Option(
        "passkey-floor", .text("POLICY,…"), "weakest policy that a client may choose"
    ).settableByEnvironment
    static let audience = Option(
        "audience", .text("ADDRESS,…"), "addresses of the server that device keys sign"
    ).settableByEnvironment
    static let tpmRoots = Option("tpm-roots", .file, "trusted makers of TPMs, in PEM")
        .settableByEnvironment
    static let pages = Option("pages", "serve the pages for passkeys under /ui")
        .settableByEnvironment
    static let returnTo = Option(
        "return-to", .text("URL,…"), "applications that the pages may return to"
    ).settableByEnvironment
    static let relatedOrigin = Option(
        "related-origin", .text("ORIGIN,…"), "other origins that may use the passkeys"
    ).settableByEnvironment

    // The other commands.
    static let credentials = Option(
        "credentials", "also list the credentials that do not use the current key")
    static let scope = Option(
        "scope", .text("NAME,…"), "verify, enrol, import, manage, reasons or audit")
    static let subject = Option(
        "subject", .text("NAME"), "user of the key, if the file does not name one")
    static let exportPasswordFile = Option(
        "export-password-file", .file, "password or hexadecimal key of an encrypted file")
    static let allowShortKeys = Option(
        "allow-short-keys", "also import keys of 80 to 127 bits")
    static let dryRun = Option("dry-run", "report what would happen, and change nothing")
    static let checkpoint = Option(
        "checkpoint", .file, "output of an earlier audit verify")
    static let ended = Option(
        "ended", .file, "ids of credentials to end, one per line")
    static let keepClients = Option("keep-clients", "keep the API keys valid")
    static let clockIsRight = Option(
        "clock-is-right", "trust the clock; you have checked it yourself")
}
