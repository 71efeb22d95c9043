/// An option of `watchword-server`.
struct ServerOption: Hashable, Sendable {
    /// Its name without the dashes.
    let name: String
    /// The placeholder of its value; nothing when it takes none.
    let placeholder: String?
    /// One line for the help page.
    let summary: String
    /// Whether the environment may say it, too.
    let isInEnvironment: Bool

    private init(
        _ name: String, _ placeholder: String?, _ summary: String, environment: Bool = true
    ) {
        self.name = name
        self.placeholder = placeholder
        self.summary = summary
        isInEnvironment = environment
    }

    /// The variable that says it: `WATCHWORD_OPS_LISTEN`.
    var variable: String {
        "WATCHWORD_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    static func == (left: ServerOption, right: ServerOption) -> Bool { left.name == right.name }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }

    // Where everything lies.
    static let store = ServerOption(
        "store", "sqlite:PATH", "the database; default in $XDG_STATE_HOME/watchword")
    static let keys = ServerOption("keys", "FILE", "the key file; default beside the database")

    // Serving.
    static let listen = ServerOption(
        "listen", "ADDR:PORT", "where the service listens; default 127.0.0.1:8420")
    static let opsListen = ServerOption(
        "ops-listen", "ADDR:PORT", "health and metrics; default 127.0.0.1:8421")
    static let tlsCertificate = ServerOption(
        "tls-certificate", "FILE", "the certificate chain in PEM; with --tls-key")
    static let tlsKey = ServerOption("tls-key", "FILE", "the certificate's private key in PEM")
    static let insecureHTTP = ServerOption(
        "insecure-http", nil, "allow HTTP without TLS beyond this machine")
    static let profile = ServerOption(
        "profile", "strict|rfc|wide", "which time steps are accepted; default wide")
    static let addressRate = ServerOption(
        "address-rate", "N[,BURST]", "requests a second and at once from an address; 100,1000")
    static let trustedProxy = ServerOption(
        "trusted-proxy", "ADDR[/BITS],…", "whose X-Forwarded-For is believed; default nobody's")
    static let noClockCheck = ServerOption(
        "no-clock-check", nil, "be ready though the kernel can't know whether the clock is right")

    // The other verbs.
    static let scope = ServerOption(
        "scope", "NAME,…", "what the client may do: verify enrol manage reasons audit",
        environment: false)
    static let checkpoint = ServerOption(
        "checkpoint", "TEXT", "a mark that an earlier verification printed", environment: false)
    static let ended = ServerOption(
        "ended", "FILE", "credentials that ended since the copy was made, one a line",
        environment: false)
    static let keepClients = ServerOption(
        "keep-clients", nil, "leave the API keys their worth", environment: false)
    static let json = ServerOption("json", nil, "print JSON, one object a line", environment: false)
    static let help = ServerOption("help", nil, "show the verb's page", environment: false)
    static let version = ServerOption("version", nil, "show the version", environment: false)

    /// What is understood before it is known which verb it is for.
    static let all: [ServerOption] = [
        .store, .keys, .listen, .opsListen, .tlsCertificate, .tlsKey, .insecureHTTP, .profile,
        .addressRate, .trustedProxy, .noClockCheck, .scope, .checkpoint, .ended, .keepClients,
        .json, .help,
        .version,
    ]
}
