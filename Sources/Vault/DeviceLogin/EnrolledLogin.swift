public import Courier
public import SecretVault
public import WatchwordCryptography

/// A ticket that an application redeems, once, to learn who signed in.
public struct LoginTicket: Sendable {
    /// The text that the device hands to the application.
    public let text: SecretBytes
    /// The time when the ticket expires, as the server wrote it (RFC 3339).
    public let expiresAt: String
    /// The ID of the verification in the server's audit log.
    public let verification: String
}

/// A sign-in with an open enrolled secret.
///
/// If it is interrupted between two steps, even by a power failure, the next sign-in resumes there:
/// the nonce is on disk before it is sent, and a secret is kept until its successor has been
/// accepted.
public struct EnrolledLogin {
    private let id: RecordID
    private let vault: UnlockedVault
    private var state: EnrolledSecret

    /// Uses the entry `id`, whose content was opened after the ``LoginLock`` was acquired.
    ///
    /// - Throws: ``DeviceLoginError/otherKind``, ``DeviceLoginError/unreadable``.
    public init(
        _ content: EntryContent, of id: RecordID, in vault: UnlockedVault
    ) throws(DeviceLoginError) {
        state = try EnrolledSecret(content)
        self.id = id
        self.vault = vault
    }

    /// Signs in, resuming an interrupted sign-in.
    ///
    /// - Parameters:
    ///   - turn: Proves that no other process is signing in; acquired before the entry was opened.
    ///   - sender: Sends requests to the server. It must guarantee that responses come from the
    ///     server (TLS, or this machine only).
    ///   - now: Unix seconds, stored with the secret.
    /// - Throws: ``DeviceLoginError``. ``DeviceLoginError/stale`` is thrown before anything is
    ///   sent. After ``DeviceLoginError/wiped(_:)`` the secret is gone; after every other error,
    ///   the next sign-in resumes at the step where this one stopped.
    public mutating func signIn(
        turn: borrowing LoginLock, over sender: inout some RequestSender, now: Int64
    ) throws(DeviceLoginError) -> LoginTicket {
        guard try !state.isStale(in: vault) else { throw .stale }
        var signIn = SignIn(
            state: state, entry: VaultEntry(id: id, vault: vault, next: state.next),
            nonces: RotationNonce.random, now: now)
        defer { state = signIn.state }
        return try signIn.run(over: &sender)
    }
}

/// The vault entry with an enrolled secret or a device key.
struct VaultEntry: SecretEntry {
    let id: RecordID
    let vault: UnlockedVault
    /// The stored form of the device key that may have replaced it on the server.
    var next: SecretBytes?

    func keep(_ state: EnrolledSecret) throws(DeviceLoginError) { try keep(state.form()) }

    func keep(_ form: SecretBytes) throws(DeviceLoginError) {
        try DeviceLoginError.vault(
            in: vault.update { changes throws(VaultError) in
                // The owner may have renamed or removed the entry in the meantime.
                let entry = try changes.entry(id)
                guard entry.tombstone == nil else { throw .wiped }
                try changes.advance(
                    id,
                    to: .enrolledSecret(
                        issuer: entry.issuer, account: entry.account, value: form))
            })
    }

    func record(_ presented: PresentedSecret) throws(DeviceLoginError) {
        try DeviceLoginError.vault(in: vault.record(presented))
    }

    func wipe(because reason: Tombstone.Reason, now: Int64) throws(DeviceLoginError) {
        if let next {
            // Repeating the enrolment finds out whether the server has registered the new key.
            try keep(next)
            throw .unregistered
        }
        try DeviceLoginError.vault(
            in: vault.update { changes throws(VaultError) in
                try changes.wipe(id, because: reason, now: now)
            })
    }
}

extension EnrolledLogin {
    /// Sends a request, and repeats it once if the connection was lost.
    ///
    /// The server processes requests with the same idempotency key only once.
    static func send(
        _ request: HelperRequest, over sender: inout some RequestSender
    ) throws(DeviceLoginError) -> HelperResponse {
        do throws(DeviceLoginError) {
            return try sendOnce(request, over: &sender)
        } catch .helper(.connectionLost, at: _) {
            return try sendOnce(request, over: &sender)
        }
    }

    private static func sendOnce(
        _ request: HelperRequest, over sender: inout some RequestSender
    ) throws(DeviceLoginError) -> HelperResponse {
        do { return try sender.send(request) } catch {
            throw .helper(error, at: request.server.address)
        }
    }

    /// An idempotency key: a digest that is the same for each attempt at one request.
    ///
    /// It reveals neither the secret nor the nonce.
    static func key(of purpose: String, _ secret: SecretBytes, _ nonce: [UInt8]) -> String {
        let digest = digest(of: purpose, secret, nonce)
        return Base64URL.encode(digest.span)
    }

    /// A digest of a secret and a nonce, which differs for each purpose.
    static func digest(of purpose: String, _ secret: SecretBytes, _ nonce: [UInt8]) -> [UInt8] {
        let text = secret.withBytes { bytes in
            SecretBytes(capacity: purpose.utf8.count + 1 + bytes.count + nonce.count) { output in
                for byte in purpose.utf8 { output.append(byte) }
                output.append(0)
                output.append(copying: bytes)
                for byte in nonce { output.append(byte) }
            }
        }
        return text.withBytes { sha256($0) }
    }
}

extension EnrolledSecret {
    /// Parses the content of an enrolled entry.
    ///
    /// - Throws: ``DeviceLoginError/otherKind``, ``DeviceLoginError/deviceKey``,
    ///   ``DeviceLoginError/unreadable``.
    public init(_ content: EntryContent) throws(DeviceLoginError) {
        guard case .enrolledSecret(_, _, let value) = content else { throw .otherKind }
        guard !EnrolledKey.isForm(value) else { throw .deviceKey }
        guard let secret = EnrolledSecret(reading: value) else { throw .unreadable }
        self = secret
    }
}

/// The store of a device's enrolled secret; each change is durable when the call returns.
protocol SecretEntry {
    /// Replaces the stored state.
    func keep(_ state: EnrolledSecret) throws(DeviceLoginError)
    /// Records the secret that is about to be presented, so that no older secret is presented
    /// later.
    func record(_ presented: PresentedSecret) throws(DeviceLoginError)
    func wipe(because reason: Tombstone.Reason, now: Int64) throws(DeviceLoginError)
}

/// The steps of a sign-in, independent of the vault so that a test can stop between any two.
struct SignIn<Entry: SecretEntry> {
    private(set) var state: EnrolledSecret
    private let entry: Entry
    private let nonces: () -> RotationNonce
    private let now: Int64

    /// A sign-in takes one exchange, or two if it resumes an earlier one.
    ///
    /// The limit stops a misbehaving server.
    private var maximumRoundCount: Int { 3 }

    /// - Parameters:
    ///   - state: the state stored in `entry`.
    ///   - nonces: generates a fresh nonce.
    ///   - now: Unix seconds.
    init(
        state: EnrolledSecret, entry: Entry,
        nonces: @escaping () -> RotationNonce, now: Int64
    ) {
        self.state = state
        self.entry = entry
        self.nonces = nonces
        self.now = now
    }

    mutating func run(
        over sender: inout some RequestSender
    ) throws(DeviceLoginError) -> LoginTicket {
        for _ in 0..<maximumRoundCount {
            let (presentation, written) = state.presentation(with: nonces(), now: now)
            // Store the nonce before sending it, so that a lost response can be requested again.
            if let written { try keep(written) }
            let (next, acceptance, isRepeated) = try present(presentation, over: &sender)
            try keep(next)
            // The ticket of a repeated response may have expired; presenting the successor yields a
            // new one.
            if isRepeated { continue }
            return LoginTicket(
                text: acceptance.login, expiresAt: acceptance.expiresAt.text,
                verification: acceptance.verification.text)
        }
        throw .unexpectedResponse
    }

    private func present(
        _ presentation: Presentation, over sender: inout some RequestSender
    ) throws(DeviceLoginError) -> (EnrolledSecret, HelperResponse.Acceptance, isRepeated: Bool) {
        try entry.record(state.record(of: presentation))
        let response = try ask(presentation, over: &sender)
        switch state.consequence(of: response, to: presentation, now: now) {
        case .signedIn(let next, let acceptance):
            return (next, acceptance, presentation.isRepeated)
        case .askAgain(let other):
            return try present(other, over: &sender)
        case .denied:
            if case .denied(wipe: .unlisted) = response { throw .wipeNotObeyed }
            throw .denied
        case .wipe(let order):
            guard let reason = Tombstone.Reason(order) else { throw .wipeNotObeyed }
            try entry.wipe(because: reason, now: now)
            throw .wiped(reason)
        case .unexpectedResponse:
            if case .problem(let problem) = response {
                throw .problem(problem, at: state.server.address)
            }
            throw .unexpectedResponse
        }
    }

    private func ask(
        _ presentation: Presentation, over sender: inout some RequestSender
    ) throws(DeviceLoginError) -> HelperResponse {
        let login = HelperRequest.Login(
            credential: state.credential, secret: presentation.secret, nonce: presentation.nonce)
        let request = HelperRequest(
            server: state.server,
            idempotencyKey: EnrolledLogin.key(
                of: "watchword login", presentation.secret, presentation.nonce.bytes),
            operation: .login(login))
        return try EnrolledLogin.send(request, over: &sender)
    }

    private mutating func keep(_ state: EnrolledSecret) throws(DeviceLoginError) {
        try entry.keep(state)
        self.state = state
    }
}
