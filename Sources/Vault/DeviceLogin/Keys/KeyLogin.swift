public import Courier
public import Devices
public import SecretVault
public import WatchwordCryptography

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
    ///   - presence: how the presence of somebody was checked before it was opened.
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
    ///   - person: is asked for the key's PIN if it has one.
    public func signIn(
        turn: borrowing LoginLock, over sender: inout some RequestSender,
        asking person: inout some TokenHelper.Person, now: Int64
    ) throws(DeviceLoginError) -> LoginTicket {
        let request = request(.challenge(credential: credential), "challenge")
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
        let scope = try key.server.scope(presence)
        let transcript = DeviceKeyTranscript.confirmation(
            scope, credential: credential.text, challenge: challenge, text: confirmation.text)
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
        let signature = try key.signer(in: tpm).sign(transcript, asking: &person)
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
            let entry = VaultEntry(id: id, vault: vault, next: key.next)
            try entry.wipe(because: reason, now: now)
            throw .wiped(reason)
        case .problem(let problem): throw .problem(problem)
        default: throw .unexpectedResponse
        }
    }

    /// A request with a random idempotency key, which is repeated with it once if the connection is
    /// lost.
    private func request(_ operation: HelperRequest.Operation, _ purpose: String) -> HelperRequest {
        let nonce = EnrolledLogin.freshNonce()
        return HelperRequest(
            server: key.server, authorities: key.authorities,
            idempotencyKey: "\(purpose)-\(nonce.text)", operation: operation)
    }
}
