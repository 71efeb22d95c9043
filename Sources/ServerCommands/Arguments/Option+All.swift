import Arguments

extension Option {
    // Where everything lies.
    static let store = Option(
        "store", .text("URL"),
        "sqlite:PATH or postgresql://…; default in $XDG_STATE_HOME/watchword"
    ).orEnvironment
    static let keys = Option("keys", .file, "the key file; default beside the database")
        .orEnvironment

    // Serving.
    static let listen = Option(
        "listen", .text("ADDR:PORT"), "where the service listens; default 127.0.0.1:8420"
    ).orEnvironment
    static let opsListen = Option(
        "ops-listen", .text("ADDR:PORT"), "health and metrics; default 127.0.0.1:8421"
    ).orEnvironment
    static let tlsCertificate = Option(
        "tls-certificate", .file, "the certificate chain in PEM; with --tls-key"
    ).orEnvironment
    static let tlsKey = Option("tls-key", .file, "the certificate's private key in PEM")
        .orEnvironment
    static let insecureHTTP = Option(
        "insecure-http", "allow HTTP without TLS beyond this machine, for --ops-listen also"
    ).orEnvironment
    static let profile = Option(
        "profile", .choice(["strict", "rfc", "wide"]),
        "which time steps are accepted; default wide"
    ).orEnvironment
    static let foreignSecrets = Option(
        "foreign-secrets", .choice(["count", "ignore"]),
        "whether made-up secrets count towards a device's end; default ignore"
    ).orEnvironment
    static let addressRate = Option(
        "address-rate", .text("N[,BURST]"),
        "requests a second and at once from an address; 100,1000"
    ).orEnvironment
    static let trustedProxy = Option(
        "trusted-proxy", .text("ADDR[/BITS],…"),
        "whose X-Forwarded-For is believed; default nobody's"
    ).orEnvironment
    static let noClockCheck = Option(
        "no-clock-check", "be ready though the kernel can't know whether the clock is right"
    ).orEnvironment
    static let keepEvents = Option(
        "keep-events", .text("DAYS|all"), "how long events are kept; default 400 days"
    ).orEnvironment

    // The other verbs.
    static let scope = Option(
        "scope", .text("NAME,…"), "what the client may do: verify enrol manage reasons audit")
    static let checkpoint = Option(
        "checkpoint", .file, "what an earlier verification printed, with its marks")
    static let ended = Option(
        "ended", .file, "credentials that ended since the copy was made, one a line")
    static let keepClients = Option("keep-clients", "leave the API keys their worth")
    static let clockIsRight = Option(
        "clock-is-right", "vouch for this machine's clock, though the kernel or the events do not")
    static let json = Option("json", "print JSON, one object a line")
}
