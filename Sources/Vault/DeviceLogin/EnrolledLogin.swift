public import Courier
public import SecretVault
public import WatchwordCryptography

/// A ticket that an application redeems, once, to learn who signed in.
public struct LoginTicket: Sendable {
    /// The text that the device hands to the application.
    public let text: SecretBytes
    /// When the ticket expires, as the server wrote it.
    public let expiresAt: String
    /// The ID of the verification in the server's audit log.
    public let verification: String
}

/// A sign-in with an open enrolled secret.
///
/// If it is interrupted between two steps, even by a power failure, the next sign-in resumes there:
/// the nonce is on disk before it is sent, and a secret is kept until its successor has worked.
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
    /// - Throws: ``DeviceLoginError``. ``DeviceLoginError/stale`` is thrown before anything is sent.
    ///   After ``DeviceLoginError/wiped(_:)`` the secret is gone;
    ///   after every other error the next sign-in resumes where this one stopped.
    public mutating func signIn(
        turn: borrowing LoginLock, over sender: inout some RequestSender, now: Int64
    ) throws(DeviceLoginError) -> LoginTicket {
        guard try !state.isStale(in: vault) else { throw .stale }
        var signIn = SignIn(
            state: state, entry: VaultEntry(id: id, vault: vault, next: state.next),
            nonces: EnrolledLogin.freshNonce, now: now)
        defer { state = signIn.state }
        return try signIn.run(over: &sender)
    }

    static func freshNonce() -> RotationNonce {
        RotationNonce.random()
    }
}

/// The vault entry with an enrolled secret or a device key.
struct VaultEntry: SecretEntry {
    let id: RecordID
    let vault: UnlockedVault
    /// The stored form of the device key that may have replaced it on the server.
    var next: SecretBytes?

    func keep(_ state: EnrolledSecret) throws(DeviceLoginError) { try keep(state.form()) }

    /// Replaces the stored form.
    func keep(_ form: SecretBytes) throws(DeviceLoginError) {
        do throws(VaultError) {
            try vault.update { changes throws(VaultError) in
                // The owner may have renamed or removed the entry in the meantime.
                let entry = try changes.entry(id)
                guard entry.tombstone == nil else { throw .wiped }
                try changes.advance(
                    id,
                    to: .enrolledSecret(
                        issuer: entry.issuer, account: entry.account, value: form))
            }
        } catch {
            throw .vault(error)
        }
    }

    func record(_ presented: PresentedSecret) throws(DeviceLoginError) {
        do { try vault.record(presented) } catch { throw .vault(error) }
    }

    func wipe(because reason: Tombstone.Reason, now: Int64) throws(DeviceLoginError) {
        if let next {
            // Repeating the enrolment finds out whether the server has registered the new key.
            try keep(next)
            throw .unregistered
        }
        do throws(VaultError) {
            try vault.update { changes throws(VaultError) in
                try changes.wipe(id, because: reason, now: now)
            }
        } catch {
            throw .vault(error)
        }
    }
}

extension EnrolledLogin {
    /// Sends a request, and repeats it once if the connection was lost.
    ///
    /// The server processes requests with the same idempotency key only once.
    static func send(
        _ request: HelperRequest, over sender: inout some RequestSender
    ) throws(DeviceLoginError) -> HelperResponse {
        do throws(HTTPHelperFailure) {
            return try sender.send(request)
        } catch .connectionLost {
            do { return try sender.send(request) } catch { throw .helper(error) }
        } catch {
            throw .helper(error)
        }
    }

    /// An idempotency key: a digest that is the same for each attempt at one request.
    ///
    /// It reveals neither the secret nor the nonce.
    static func key(of purpose: String, _ secret: SecretBytes, _ nonce: [UInt8]) -> String {
        let digest = digest(of: purpose, secret, nonce)
        return Base64URL.encode(digest.span)
    }

    /// A digest of a secret and a nonce, which is different for each purpose.
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
        do { try self.init(reading: value) } catch { throw .unreadable }
    }
}
