/// An event in the life of a credential, for notifications and the audit log.
///
/// An event contains no secret: no code, key, ticket or digest. Subject, address and user agent are
/// untrusted text that may contain line breaks. Escape them for output.
public struct Event: Hashable, Sendable {
    /// What happened.
    public let kind: Kind
    /// The reason; `nil` if the kind alone explains the event.
    public let reason: Reason?
    /// The time of the event.
    public let time: UnixTime
    /// The subject; `nil` if there is none or it is unknown.
    public let subject: Subject?
    /// The credential; `nil` if there is none or several.
    public let credential: CredentialID?
    /// The id of the decision.
    public let verification: VerificationID?
    /// Where the request came from.
    public let origin: Origin
    /// A number whose meaning depends on ``Kind``.
    public let number: Int64?

    /// Whether the subject should be notified at once (RFC 4226, section 7.2; NIST SP 800-63B-4,
    /// sections 3.1.4.2, 4.1.2.1, 4.2.3 and 4.6).
    public var isNotification: Bool {
        switch kind {
        case .enrolled, .imported, .locked, .guessing, .disabled, .replayed, .resynchronised,
            .wiped, .backupChanged, .counterRolledBack:
            true
        case .revoked: reason != .lapsed
        case .accepted: reason == .recoveryCode
        default: false
        }
    }

    /// The kinds of events.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// A key, a set of codes or a ticket was issued.
        case enrolmentStarted
        /// A credential was activated.
        case enrolled
        /// An existing key was imported, and its first code has to confirm it.
        case importStarted
        /// An existing key was imported, and its credential is active.
        case imported
        /// A code or secret was accepted.
        ///
        /// The number is the offset from the expected step, or the number of recovery codes left.
        case accepted
        /// A code, secret or ticket was denied.
        ///
        /// The number is the count of such denials from the same sender since the last such event,
        /// if there was more than one.
        case denied
        /// A code was correct but already spent.
        case replayed
        /// A device repeated a request and received the same response again.
        case repeated
        /// The limit on consecutive failures was reached, so attempts have to wait.
        ///
        /// Reported once.
        case locked
        /// Many wrong codes were checked within a day, whatever successes lie between.
        ///
        /// Reported once a day. The number is their count.
        case guessing
        /// A credential was disabled and is no longer accepted.
        case disabled
        /// An administrator ended a wait.
        case unlocked
        /// The counter or the drift was reset with two consecutive codes.
        ///
        /// The number is the change.
        case resynchronised
        /// The credential's name was changed.
        case renamed
        /// The credential was revoked, and its secrets were deleted.
        case revoked
        /// A device was told to delete its secret.
        case wiped
        /// A passkey's signature was valid, but a second proof is needed.
        case stepUpRequired
        /// The application obtained that second proof.
        case stepUpCompleted
        /// Whether a passkey can be backed up, or is, differs from its last use.
        case backupChanged
        /// A passkey's signature counter did not increase, so there may be a copy of the passkey.
        ///
        /// The number is the counter.
        case counterRolledBack
        /// The application learned who signed in.
        case loginRedeemed
        /// Rows were sealed under another key.
        ///
        /// The number is their count.
        case keysRotated
        /// The database was restored from a backup.
        ///
        /// The number is the count of credentials that the restore revoked. If a credential is
        /// named, it stays active, but refuses all codes from before the restore.
        case restored
        /// An application was added; ``Origin/client`` names it.
        case clientAdded
        /// An application received a new API key that replaces the old one; ``Origin/client`` names
        /// it.
        case clientRenewed
        /// An application was revoked; ``Origin/client`` names it.
        case clientRevoked
    }

    /// The reasons of events.
    ///
    /// ``ofCeremonies`` lists those for which a ceremony of public-key credentials is denied.
    public enum Reason: String, CaseIterable, Error, Hashable, Sendable {
        /// The code or secret matched no expected one.
        case wrong
        /// The code or ticket was already spent.
        case spent
        /// The wait was not over.
        case throttled
        /// The credential is disabled.
        case disabled
        /// There is no such subject, credential, ticket or open step-up, or not for this ceremony.
        case unknown
        /// The request came too late, or the challenge has expired.
        case expired
        /// The login ticket is for other clients.
        case otherAudience
        /// The credential was revoked.
        case revoked
        /// An earlier secret was used, or two holders used the current one.
        ///
        /// Nobody can tell which of them is the thief (RFC 6819, section 5.2.2.3).
        case reuseDetected
        /// There were too many consecutive failures.
        case tooManyFailures
        /// The subject's account is closed.
        case accountClosed
        /// The secret has been unused for too long.
        case idle
        /// The secret reached its maximum age.
        case tooOld
        /// The counter reached its end.
        case counterExhausted
        /// A new set of recovery codes replaced this one.
        case replaced
        /// The enrolment was not confirmed in time.
        case lapsed
        /// The codes spent after the backup are unknown.
        case restored
        /// The code was a recovery code.
        case recoveryCode
        /// The imported key has fewer than 128 bits.
        case shortKey
        /// The client data is not valid JSON with members of the right types.
        case clientData
        /// The client data is for another type of ceremony.
        case ceremonyType
        /// The challenge is unknown, spent, or made for something else.
        case challenge
        /// The page's origin is not configured.
        case origin
        /// The page was in a frame of another origin, which is not configured.
        case crossOrigin
        /// The top-level page is not configured.
        case topOrigin
        /// The attestation object does not consist of format, statement and authenticator data, or
        /// a structure of a device key's TPM is malformed.
        case attestationObject
        /// The authenticator data is malformed.
        case authenticatorData
        /// The authenticator data is for another relying party.
        case relyingParty
        /// The authenticator did not check that a user is present.
        case userPresence
        /// The authenticator did not verify the user, although that is required.
        case userVerification
        /// The passkey is backed up, although it is not eligible for it.
        case backupFlags
        /// The passkey can be backed up, although it must be bound to a device.
        case notDeviceBound
        /// The key's algorithm was not offered, or is unknown.
        case algorithm
        /// The public key does not match its algorithm, or is not valid.
        case publicKey
        /// The attestation's format is unknown.
        case attestationFormat
        /// The attestation is not valid.
        case attestation
        /// The attestation does not chain to a trust anchor.
        case attestationUntrusted
        /// The attestation is signed with SHA-1.
        case attestationWeak
        /// The certificate is not an endorsement certificate of a TPM, or is for another key.
        case endorsementCertificate
        /// The TPM's attestation key could sign what the TPM did not generate, or can leave it.
        case attestationKey
        /// The device key can leave the TPM, was not made in it, or is not the one to be
        /// registered.
        case keyAttributes
        /// The TPM certified another key, or certified it for another enrolment.
        case certification
        /// The passkey's id is too long, or is not the one that the browser stated.
        case credentialID
        /// The passkey is or was registered already.
        case credentialKnown
        /// The user handle is that of another subject, or is missing.
        case userHandle
        /// The signature is not valid.
        case signature
        /// Whether the passkey can be backed up has changed.
        case backupEligibilityChanged
        /// The signature counter did not increase.
        case counter
        /// The device key signed for another address.
        case audience
        /// The device did not check that somebody is present as the policy requires.
        case presence
    }

    /// Creates an event.
    public init(
        _ kind: Kind, reason: Reason? = nil, time: UnixTime, subject: Subject? = nil,
        credential: CredentialID? = nil, verification: VerificationID? = nil,
        origin: Origin = .unknown, number: Int64? = nil
    ) {
        self.kind = kind
        self.reason = reason
        self.time = time
        self.subject = subject
        self.credential = credential
        self.verification = verification
        self.origin = origin
        self.number = number
    }
}

extension Event {
    /// Writes every field.
    ///
    /// Each event has exactly one encoding.
    func write(into writer: inout ByteWriter) {
        writer.write(kind.rawValue)
        writer.writeOptional(reason) { $0.write($1.rawValue) }
        writer.write(time)
        writer.writeOptional(subject) { $0.write($1.utf8) }
        writer.writeOptional(credential) { $0.write($1.bytes) }
        writer.writeOptional(verification) { $0.write($1.bytes) }
        writer.write(origin.address)
        writer.write(origin.userAgent)
        writer.writeOptional(origin.client) { $0.write($1.bytes) }
        writer.writeOptional(number) { $0.write($1) }
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        kind = try reader.readChoice()
        reason = try reader.readFlag() ? reader.readChoice() : nil
        time = try reader.readTime()
        subject = try reader.readFlag() ? reader.readSubject() : nil
        credential = try reader.readFlag() ? reader.readID() : nil
        verification = try reader.readFlag() ? reader.readID() : nil
        let (address, userAgent) = (try reader.readText(), try reader.readText())
        origin = Origin(
            address: address, userAgent: userAgent,
            client: try reader.readFlag() ? reader.readID() : nil)
        number = try reader.readFlag() ? reader.read() : nil
    }
}
