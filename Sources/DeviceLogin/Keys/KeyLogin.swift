public import Courier
public import Cryptography
public import HardwareTokens
public import SecretVault

/// A text that an application asks a device key to sign.
public struct KeyConfirmation: Sendable {
    /// The server's challenge.
    public let challenge: HelperResponse.KeyChallenge
    /// The text, which the device has shown.
    public let text: String

    /// The maximum size of a file with a confirmation in bytes.
    public static let largestFile = 4 << 10

    /// Parses what an application hands to the device.
    ///
    /// The first line is the challenge, the second one `expires_ms`, and the rest is the text. One
    /// line feed at the end is not part of the text.
    ///
    /// - Returns: `nil` if the lines have another form, or if the text is blank or has too many lines.
    public init?(parsing file: String) {
        let parts = file.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let token = Token(String(parts[0])), token.text.hasPrefix("wwx_"),
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let expiry = UInt64(parts[1])
        else { return nil }
        challenge = HelperResponse.KeyChallenge(token: token, expiry: expiry)
        text = String(parts[2].hasSuffix("\n") ? parts[2].dropLast() : parts[2])
        // More lines could scroll the first ones away before somebody answers.
        guard challenge.bytes != nil, lines.count <= KeyConfirmation.mostLines,
            text.contains(where: { !$0.isWhitespace })
        else { return nil }
    }

    /// The maximum number of lines of a text.
    public static let mostLines = 20

    /// The lines of the text.
    public var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
}

/// The use of an open device key.
public struct KeyLogin {
    private let id: RecordID
    private let vault: UnlockedVault
    private let key: EnrolledKey
    private let credential: Token
    private let presence: DeviceKeyTranscript.Presence
    private let address: TPMAddress

    /// Uses the entry `id`, whose content was opened after the ``LoginLock`` was acquired.
    ///
    /// - Parameters:
    ///   - presence: how the presence of somebody was checked before it was opened.
    ///   - address: the TPM, for a key in a TPM.
    /// - Throws: ``DeviceLoginError/otherKind``, ``DeviceLoginError/unreadable``,
    ///   ``DeviceLoginError/unregistered``.
    public init(
        _ content: EntryContent, of id: RecordID, in vault: UnlockedVault,
        presence: DeviceKeyTranscript.Presence, tpm address: TPMAddress
    ) throws(DeviceLoginError) {
        key = try EnrolledKey(content)
        guard let credential = key.credential else { throw .unregistered }
        self.credential = credential
        self.id = id
        self.vault = vault
        self.presence = presence
        self.address = address
    }

    /// Gets a challenge, signs it, and returns the ticket for the application.
    ///
    /// - Parameters:
    ///   - turn: proves that no other process uses or replaces the key.
    ///   - person: is asked for the key's PIN if it has one.
    public func signIn(
        turn: borrowing LoginLock, over sender: inout some RequestSender,
        asking person: inout some TokenHelper.Person, now: Int64
    ) throws(DeviceLoginError) -> LoginTicket {
        let request = try request(.challenge(credential: credential), "challenge")
        let challenge: HelperResponse.KeyChallenge
        switch try EnrolledLogin.send(request, over: &sender) {
        case .challenge(let sent): challenge = sent
        case .problem(let problem): throw .problem(problem)
        default: throw .unexpectedResponse
        }
        let transcript = DeviceKeyTranscript.signIn(
            try key.server.scope(presence), credential: credential.text,
            challenge: try signed(challenge))
        return try present(
            transcript, challenge, confirmsText: false, over: &sender, asking: &person, now)
    }

    /// Signs a text that was shown, and returns the ticket for the application.
    public func confirm(
        _ confirmation: KeyConfirmation, turn: borrowing LoginLock,
        over sender: inout some RequestSender, asking person: inout some TokenHelper.Person,
        now: Int64
    ) throws(DeviceLoginError) -> LoginTicket {
        let challenge = try signed(confirmation.challenge)
        let transcript: DeviceKeyTranscript
        let scope = try key.server.scope(presence)
        do {
            transcript = try DeviceKeyTranscript.confirmation(
                scope, credential: credential.text, challenge: challenge, text: confirmation.text)
        } catch {
            throw .cryptography(error)
        }
        return try present(
            transcript, confirmation.challenge, confirmsText: true, over: &sender,
            asking: &person, now)
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

    private func present(
        _ transcript: DeviceKeyTranscript, _ challenge: HelperResponse.KeyChallenge,
        confirmsText: Bool, over sender: inout some RequestSender,
        asking person: inout some TokenHelper.Person, _ now: Int64
    ) throws(DeviceLoginError) -> LoginTicket {
        let signature = try key.signer(in: address).sign(transcript, asking: &person)
        let answer = HelperRequest.KeySignature(
            credential: credential, challenge: challenge.token, confirmsText: confirmsText,
            presence: presence, signature: signature)
        switch try EnrolledLogin.send(request(.signature(answer), "signature"), over: &sender) {
        case .signed(let accepted):
            return LoginTicket(
                text: accepted.login, expiresAt: accepted.expiresAt.text,
                verification: accepted.verification.text)
        case .denied(wipe: nil): throw .denied
        case .denied(wipe: let order?):
            guard let reason = Tombstone.Reason(order) else { throw .wipeNotObeyed }
            if let next = key.next {
                // The new key may have replaced this one on the server. Repeating the enrolment finds out.
                try VaultEntry(id: id, vault: vault).keep(next)
                throw .unregistered
            }
            try VaultEntry(id: id, vault: vault).wipe(because: reason, now: now)
            throw .wiped(reason)
        case .problem(let problem): throw .problem(problem)
        default: throw .unexpectedResponse
        }
    }

    /// A request with a random idempotency key, which is repeated with it once if the connection is
    /// lost.
    private func request(
        _ operation: HelperRequest.Operation, _ purpose: String
    ) throws(DeviceLoginError) -> HelperRequest {
        let nonce = try EnrolledLogin.freshNonce()
        return HelperRequest(
            server: key.server, authorities: key.authorities,
            idempotencyKey: "\(purpose)-\(nonce.text)", operation: operation)
    }
}
