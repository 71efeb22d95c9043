public import Courier
public import Cryptography
public import SecretVault

/// What an application redeems, once, to know who signed in.
public struct LoginTicket: Sendable {
    /// The ticket's text.
    public let text: SecretBytes
    /// Until when it is good, as the server wrote it.
    public let expiresAt: String
    /// The decision's name in the server's books.
    public let verification: String
}

/// An enrolled secret that is open, to sign in with.
///
/// Whatever happens between two of its steps, a kill or a power cut included, the next sign-in takes up
/// where this one was: the nonce is on the disk before it is sent, and no secret goes before the one
/// after it has worked.
public struct DeviceLogin {
    private let id: RecordID
    private let vault: UnlockedVault
    private var state: EnrolledSecret

    /// Takes up the entry `id`, whose content was opened after the turn was taken.
    ///
    /// - Throws: ``DeviceLoginError/otherKind``, ``DeviceLoginError/unreadable``.
    public init(
        _ content: EntryContent, of id: RecordID, in vault: UnlockedVault
    ) throws(DeviceLoginError) {
        state = try EnrolledSecret(content)
        self.id = id
        self.vault = vault
    }

    /// Signs in.
    ///
    /// - Parameters:
    ///   - turn: Proves that no other process signs in meanwhile; it was taken before the entry was opened.
    ///   - sender: Asks the server; whatever it brings back must have come from the server itself (TLS, or
    ///     this machine).
    ///   - now: Unix seconds, kept with the secret.
    /// - Throws: ``DeviceLoginError``; after ``DeviceLoginError/wiped(_:)`` the secret is gone, in every
    ///   other case the next try takes up where this one was.
    public mutating func signIn(
        turn: borrowing LoginTurn, over sender: inout some RequestSender, now: Int64
    ) throws(DeviceLoginError) -> LoginTicket {
        var signIn = SignIn(
            state: state, entry: VaultEntry(id: id, vault: vault), nonces: DeviceLogin.freshNonce,
            now: now)
        defer { state = signIn.state }
        return try signIn.run(over: &sender)
    }

    private static func freshNonce() throws(DeviceLoginError) -> RotationNonce {
        do { return try RotationNonce.random() } catch { throw .cryptography(error) }
    }
}

/// The vault's entry with the enrolled secret.
private struct VaultEntry: SecretEntry {
    let id: RecordID
    let vault: UnlockedVault

    func keep(_ state: EnrolledSecret) throws(DeviceLoginError) {
        do throws(VaultError) {
            try vault.update { changes throws(VaultError) in
                // Its owner may have given it another name meanwhile, or taken it away.
                let entry = try changes.entry(id)
                guard entry.tombstone == nil else { throw .wiped }
                try changes.replace(
                    id,
                    with: .enrolledSecret(
                        issuer: entry.issuer, account: entry.account, value: state.form()))
            }
        } catch {
            throw .vault(error)
        }
    }

    func wipe(because reason: Tombstone.Reason, now: Int64) throws(DeviceLoginError) {
        do throws(VaultError) {
            try vault.update { changes throws(VaultError) in
                try changes.wipe(id, because: reason, now: now)
            }
        } catch {
            throw .vault(error)
        }
    }
}

extension DeviceLogin {
    /// Asks, and once more when the connection broke: the server does the same request once.
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

    /// A name for one request, the same each time, from which what it is made of can't be had.
    static func key(
        of purpose: String, _ secret: SecretBytes, _ nonce: [UInt8]
    ) throws(DeviceLoginError) -> String {
        do {
            let text = secret.withBytes { bytes in
                SecretBytes(capacity: purpose.utf8.count + 1 + bytes.count + nonce.count) {
                    output in
                    for byte in purpose.utf8 { output.append(byte) }
                    output.append(0)
                    output.append(copying: bytes)
                    for byte in nonce { output.append(byte) }
                }
            }
            let digest = try text.withBytes { bytes throws(CryptographyFailure) in
                try sha256(bytes)
            }
            return Base64URL.encode(digest.span)
        } catch {
            throw .cryptography(error)
        }
    }
}

extension EnrolledSecret {
    /// Reads what the vault has of an enrolment.
    ///
    /// - Throws: ``DeviceLoginError/otherKind``, ``DeviceLoginError/unreadable``.
    public init(_ content: EntryContent) throws(DeviceLoginError) {
        guard case .enrolledSecret(_, _, let value) = content else { throw .otherKind }
        do { try self.init(reading: value) } catch { throw .unreadable }
    }
}
