import CommandLineInterface

extension Option {
    static let store = Option("store", .text("URL")).settableByEnvironment
    static let keys = Option("keys", .file).settableByEnvironment

    static let listen = Option("listen", .text("ADDR:PORT")).settableByEnvironment
    static let opsListen = Option("ops-listen", .text("ADDR:PORT")).settableByEnvironment
    static let tlsCertificate = Option("tls-certificate", .file).settableByEnvironment
    static let tlsKey = Option("tls-key", .file).settableByEnvironment
    static let insecureHTTP = Option("insecure-http").settableByEnvironment
    static let profile = Option("profile", .choice(["strict", "rfc", "wide"]), placeholder: "NAME")
        .settableByEnvironment
    static let guessBound = Option("guess-bound", .text("PERCENT")).settableByEnvironment
    static let foreignSecrets = Option(
        "foreign-secrets", .choice(["count", "ignore"]), placeholder: "ACTION"
    ).settableByEnvironment
    static let addressRate = Option("address-rate", .text("N[,BURST]")).settableByEnvironment
    static let trustedProxy = Option("trusted-proxy", .text("PROXY,…")).settableByEnvironment
    static let noClockCheck = Option("no-clock-check").settableByEnvironment
    static let keepEvents = Option("keep-events", .text("DAYS|all")).settableByEnvironment
    // Sockets for programs on this machine.
    static let realm = Option("realm", .text("NAME")).settableByEnvironment
    static let pamSocket = Option("pam-socket", .file, placeholder: "PATH").settableByEnvironment
    static let selfSocket = Option("self-socket", .file, placeholder: "PATH").settableByEnvironment
    static let enrolSocket = Option("enrol-socket", .file, placeholder: "PATH")
        .settableByEnvironment
    static let presenceSocket = Option("presence-socket", .file, placeholder: "PATH")
        .settableByEnvironment
    static let noticeSocket = Option("notice-socket", .file, placeholder: "PATH")
        .settableByEnvironment
    // Passkeys and device keys.
    static let relyingParty = Option("rp-id", .text("HOST,…")).settableByEnvironment
    static let relyingPartyName = Option("rp-name", .text("NAME")).settableByEnvironment
    static let origin = Option("origin", .text("ORIGIN,…")).settableByEnvironment
    static let topOrigin = Option("top-origin", .text("ORIGIN,…")).settableByEnvironment
    static let attestationRoots = Option("attestation-roots", .file).settableByEnvironment
    static let authenticators = Option("authenticators", .file).settableByEnvironment
    static let passkeyAlgorithms = Option("passkey-algorithms", .text("ALG,…"))
        .settableByEnvironment
    static let passkeyFloor = Option("passkey-floor", .text("POLICY,…")).settableByEnvironment
    static let audience = Option("audience", .text("ADDRESS,…")).settableByEnvironment
    static let tpmRoots = Option("tpm-roots", .file).settableByEnvironment
    static let pages = Option("pages").settableByEnvironment
    static let returnTo = Option("return-to", .text("URL,…")).settableByEnvironment
    static let relatedOrigin = Option("related-origin", .text("ORIGIN,…")).settableByEnvironment

    // Options for an application's tests, which are not settings of a service.
    static let testClock = Option("test-clock", .file)

    static let settings = Option("settings", .file)
    static let client = Option("client", .text("NAME"))
    static let credentials = Option("credentials")
    static let scope = Option("scope", .text("NAME,…"))
    static let pam = Option("pam")
    static let subject = Option("subject", .text("NAME"))
    static let subjects = Option("subjects", .text("PREFIX"))
    static let exportPasswordFile = Option("export-password-file", .file)
    static let allowShortKeys = Option("allow-short-keys")
    static let dryRun = Option("dry-run")
    static let checkpoint = Option("checkpoint", .file)
    static let journal = Option("journal")
    static let output = Option("output", .file)
    static let ended = Option("ended", .file)
    static let keepClients = Option("keep-clients")
    static let clockIsRight = Option("clock-is-right")

    static let server = Option("server", .text("URL"))
    static let apiKeyFile = Option("api-key-file", .file)
    static let caFile = Option("ca-file", .file)
    static let credential = Option("credential", .text("ID"))
    static let recovery = Option("recovery")
    static let ticket = Option("ticket")
    static let issuer = Option("issuer", .text("TEXT"))
    static let since = Option("since", .text("TIME"))
}
