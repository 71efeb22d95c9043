public import Courier
public import SecretVault
package import WatchwordSystem

/// What a device knows about an enrolment, without the secret.
public struct LoginState: Sendable {
    /// What the next sign-in does.
    public enum Progress: String, CaseIterable, Sendable {
        /// It presents the secret.
        case ready
        /// It requests a lost response again.
        case unanswered
        /// Nothing: the secret is older than one that was already presented.
        case stale
    }

    /// The server to sign in to.
    public let server: ServerAddress
    /// The credential's public name.
    public let credential: Token
    /// When the state last changed, in Unix seconds.
    public let changed: Int64
    /// How many secrets preceded the one in use.
    public let generation: UInt64
    /// What the next sign-in does.
    public let progress: Progress

    /// The state of `secret`, which was opened from `vault`.
    ///
    /// - Throws: ``DeviceLoginError/vault(_:)``, ``DeviceLoginError/cryptography(_:)``.
    public init(of secret: EnrolledSecret, in vault: UnlockedVault) throws(DeviceLoginError) {
        server = secret.server
        credential = secret.credential
        changed = secret.changed
        generation = secret.generation
        let isStale = try secret.isStale(in: vault)
        progress = isStale ? .stale : secret.isUnanswered ? .unanswered : .ready
    }
}

extension LoginState: Transferable {
    package func write(to output: FrameWriter) {
        output.append(server, credential, changed, generation, progress)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        server = try fields.value(bytes)
        credential = try fields.value(bytes)
        changed = try fields.value(bytes)
        generation = try fields.value(bytes)
        progress = try fields.value(bytes)
    }
}

extension LoginState.Progress: Transferable {}

extension EntrySummary {
    /// Refuses an entry without an enrolled secret.
    ///
    /// - Throws: ``DeviceLoginError/otherKind``, ``DeviceLoginError/wiped(_:)``,
    ///   ``VaultError/vanished``.
    package func requireEnrolledSecret() throws(DeviceLoginError) {
        guard kind == .enrolled else { throw .otherKind }
        guard !hasVanished else { throw .vault(.vanished) }
        if let tombstone { throw .wiped(tombstone.reason) }
    }
}
