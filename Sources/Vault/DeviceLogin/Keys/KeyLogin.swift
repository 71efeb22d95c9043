public import Courier
public import Devices
public import SecretVault
public import WatchwordCryptography
package import WatchwordSystem

/// The use of an open device key.
public struct KeyLogin {
    private let id: RecordID
    private let vault: UnlockedVault
    private let key: EnrolledKey
    private let credential: Token
    private let presence: DeviceKeyTranscript.Presence
    private let tpm: TPMAccess

    /// Uses the entry `id`, whose content was opened after the ``LoginLock`` was acquired.
    ///
    /// - Parameters:
    ///   - presence: the presence check before the key was opened.
    ///   - tpm: the TPM, for a key in a TPM.
    /// - Throws: ``DeviceLoginError/otherKind``, ``DeviceLoginError/unreadable``,
    ///   ``DeviceLoginError/unregistered``.
    public init(
        _ content: EntryContent, of id: RecordID, in vault: UnlockedVault,
        presence: DeviceKeyTranscript.Presence, tpm: TPMAccess
    ) throws(DeviceLoginError) {
        key = try EnrolledKey(content)
        guard let credential = key.credential else { throw .unregistered }
        self.credential = credential
        self.id = id
        self.vault = vault
        self.presence = presence
        self.tpm = tpm
    }

    /// Gets a challenge, signs it, and returns the ticket for the application.
    ///
    /// - Parameters:
    ///   - turn: proves that no other process uses or replaces the key.
    ///   - person: enters the key's PIN if the key has one.
    public func signIn(
        turn: borrowing LoginLock, over sender: inout some RequestSender,
        asking person: inout some TokenHelper.Person, now: Int64
    ) throws(DeviceLoginError) -> LoginTicket {
        let request = request(.challenge(credential: credential), "challenge")
        let challenge: HelperResponse.KeyChallenge
        switch try EnrolledLogin.send(request, over: &sender) {
        case .challenge(let sent): challenge = sent
        case .problem(let problem): throw .problem(problem, at: key.server.address)
        default: throw .unexpectedResponse
        }
        let transcript = DeviceKeyTranscript.signIn(
            try key.server.address.scope(presence), credential: credential.text,
            challenge: try signed(challenge))
        let signature = HelperRequest.KeySignature(
            credential: credential, challenge: challenge.token, confirmsText: false,
            presence: presence, signature: try sign(transcript, asking: &person))
        return try present(signature, over: &sender, now: now)
    }

    /// Signs a text that was shown, and returns the ticket for the application.
    public func confirm(
        _ confirmation: KeyConfirmation, turn: borrowing LoginLock,
        over sender: inout some RequestSender, asking person: inout some TokenHelper.Person,
        now: Int64
    ) throws(DeviceLoginError) -> LoginTicket {
        let challenge = try signed(confirmation.challenge)
        let scope = try key.server.address.scope(presence)
        let transcript = DeviceKeyTranscript.confirmation(
            scope, credential: credential.text, challenge: challenge, text: confirmation.text)
        let signature = HelperRequest.KeySignature(
            credential: credential, challenge: confirmation.challenge.token, confirmsText: true,
            presence: presence, signature: try sign(transcript, asking: &person))
        return try present(signature, over: &sender, now: now)
    }

    private func signed(
        _ challenge: HelperResponse.KeyChallenge
    ) throws(DeviceLoginError) -> DeviceKeyTranscript.Challenge {
        let found = challenge.bytes.flatMap {
            DeviceKeyTranscript.Challenge($0, expiry: challenge.expiry)
        }
        guard let found else { throw .unexpectedResponse }
        return found
    }

    private func sign(
        _ transcript: DeviceKeyTranscript, asking person: inout some TokenHelper.Person
    ) throws(DeviceLoginError) -> [UInt8] {
        try key.signer(in: tpm).sign(transcript, asking: &person)
    }

    private func present(
        _ signature: HelperRequest.KeySignature, over sender: inout some RequestSender, now: Int64
    ) throws(DeviceLoginError) -> LoginTicket {
        switch try EnrolledLogin.send(request(.signature(signature), "signature"), over: &sender) {
        case .signed(let accepted):
            return LoginTicket(
                text: accepted.login, expiresAt: accepted.expiresAt.text,
                verification: accepted.verification.text)
        case .denied(wipe: nil): throw .denied
        case .denied(wipe: let order?):
            guard let reason = Tombstone.Reason(order) else { throw .wipeNotObeyed }
            let entry = VaultEntry(id: id, vault: vault, next: key.next)
            try entry.wipe(because: reason, now: now)
            throw .wiped(reason)
        case .problem(let problem): throw .problem(problem, at: key.server.address)
        default: throw .unexpectedResponse
        }
    }

    /// A request with a random idempotency key, repeated once with the same key if the connection
    /// is lost.
    private func request(_ operation: HelperRequest.Operation, _ purpose: String) -> HelperRequest {
        let nonce = RotationNonce.random()
        return HelperRequest(
            server: key.server, idempotencyKey: "\(purpose)-\(nonce.text)", operation: operation)
    }
}

/// The state of a device key on the device, without the key itself.
public struct KeyState: Sendable {
    /// The place of the private key, with the API's words as raw values.
    public enum Custody: String, CaseIterable, Sendable {
        /// In the vault.
        case vault
        /// In a TPM, according to the device.
        case tpm
        /// In a TPM, as the server has verified.
        case attestedTPM = "tpm-attested"
    }

    /// The server that the key signs in to.
    public let server: ServerAddress
    /// The credential's public name; `nil` until the server has answered the registration.
    public let credential: Token?
    /// The time of the last change, in Unix seconds.
    public let changed: Int64
    /// The place of the private key.
    public let custody: Custody
    /// Whether the TPM requires a PIN before each signature.
    public let requiresPIN: Bool

    /// The state of `key`.
    public init(of key: EnrolledKey) {
        server = key.server.address
        credential = key.credential
        changed = key.changed
        custody = key.holding.isInTPM ? (key.isAttested ? .attestedTPM : .tpm) : .vault
        requiresPIN = key.holding.requiresPIN
    }
}

extension KeyState: Transferable {
    package func write(to output: FrameWriter) {
        output.append(server, credential, changed, custody, requiresPIN)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        server = try fields.value(bytes)
        credential = try fields.value(bytes)
        changed = try fields.value(bytes)
        custody = try fields.value(bytes)
        requiresPIN = try fields.value(bytes)
    }
}

extension KeyState.Custody: Transferable {}

/// A text for which an application requests the signature of a device key.
public struct KeyConfirmation: Sendable {
    /// The server's challenge.
    public let challenge: HelperResponse.KeyChallenge
    /// The text, which the device has shown.
    public let text: String

    /// The maximum size of a file with a confirmation in bytes.
    public static let largestFile = 4 << 10

    /// Parses the file that an application hands to the device.
    ///
    /// The first line is the challenge, the second one `expires_ms`, and the rest is the text. One
    /// line feed at the end is not part of the text.
    ///
    /// - Returns: `nil` if the lines have another form, or if the text is blank or has too many
    ///   lines.
    public init?(parsing file: String) {
        let parts = file.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let token = Token(String(parts[0])), token.text.hasPrefix("wwx_"),
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let expiry = UInt64(parts[1])
        else { return nil }
        challenge = HelperResponse.KeyChallenge(token: token, expiry: expiry)
        text = String(parts[2].hasSuffix("\n") ? parts[2].dropLast() : parts[2])
        guard challenge.bytes != nil, lines.count <= DeviceKeyTranscript.maximumLines,
            text.contains(where: { !$0.isWhitespace })
        else { return nil }
    }

    /// The content of the file, with a line feed at the end.
    var file: String { "\(challenge.token.text)\n\(challenge.expiry)\n\(text)\n" }

    /// The lines of the text.
    public var lines: [Substring] { DeviceKeyTranscript.lines(of: text) }
}
