/// An event in the life of a credential, for notifications and the audit log.
///
/// An event contains no secret: no code, key, ticket or digest. Subject, address and user agent are
/// untrusted text that may contain line breaks. Escape them for output.
public struct Event: Hashable, Sendable {
    /// The kind of event.
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

    /// Whether the application should notify the subject at once (RFC 4226, section 7.2; NIST SP
    /// 800-63B-4, sections 3.1.4.2, 4.1.2.1, 4.2.3 and 4.6).
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

    /// The kinds of events, with their names as raw values.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// A key, a set of codes or a ticket was issued.
        case enrolmentStarted
        /// A credential was confirmed and is active.
        case enrolled
        /// An existing key was imported; a first code must confirm it.
        case importStarted
        /// An existing key was imported, and its credential is active.
        case imported
        /// A code or secret was accepted.
        ///
        /// The event's number is the offset from the expected step, or the number of recovery codes
        /// left.
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
        /// Many wrong codes were checked within a day, regardless of successes in between.
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
        /// A device was ordered to delete its secret.
        case wiped
        /// A passkey's signature was valid, but a second proof is needed.
        case stepUpRequired
        /// The application obtained the second proof after such a signature.
        case stepUpCompleted
        /// A passkey's backup flags differ from those of its last use.
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
        /// The number is the count of credentials that the restore revoked. An event with a
        /// credential means that this credential stays active, but refuses all codes from before
        /// the restore.
        case restored
        /// An application was added; ``Origin/client`` identifies it.
        case clientAdded
        /// An application received a new API key, which replaces the old key; ``Origin/client``
        /// identifies the application.
        case clientRenewed
        /// An application was revoked; ``Origin/client`` identifies it.
        case clientRevoked
    }

    /// The reasons of events.
    ///
    /// ``ofCeremonies`` lists the reasons for denying a ceremony of public-key credentials.
    public enum Reason: String, CaseIterable, Error, Hashable, Sendable {
        /// The code or secret does not match.
        case wrong
        /// The code or ticket was already spent.
        case spent
        /// The wait had not ended.
        case throttled
        /// The credential is disabled.
        case disabled
        /// The subject, credential, ticket or open step-up does not exist, or is not for this
        /// ceremony.
        case unknown
        /// The request came too late, or the challenge has expired.
        case expired
        /// The login ticket is for different clients.
        case otherAudience
        /// The credential was revoked.
        case revoked
        /// An earlier secret was used, or two holders used the current one.
        ///
        /// The server cannot determine which holder is the thief (RFC 6819, section 5.2.2.3).
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
        /// A new set of recovery codes replaced this set.
        case replaced
        /// The enrolment was not confirmed in time.
        case lapsed
        /// The codes that were spent after the backup are unknown.
        case restored
        /// The code was a recovery code.
        case recoveryCode
        /// The imported key has fewer than 128 bits.
        case shortKey
        /// The client data is not valid JSON with members of the right types.
        case clientData
        /// The client data is for a different type of ceremony.
        case ceremonyType
        /// The challenge is unknown or spent, or was made for a different purpose.
        case challenge
        /// The page's origin is not configured.
        case origin
        /// The page was in a frame with a different origin, which is not configured.
        case crossOrigin
        /// The origin of the top-level page is not configured.
        case topOrigin
        /// The attestation object does not consist of format, statement and authenticator data, or
        /// a structure of a device key's TPM is malformed.
        case attestationObject
        /// The authenticator data is malformed.
        case authenticatorData
        /// The authenticator data is for a different relying party.
        case relyingParty
        /// The authenticator did not check that a user is present.
        case userPresence
        /// The authenticator did not verify the user, although that is required.
        case userVerification
        /// The passkey is backed up, although it is not eligible for backup.
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
        /// The certificate is not an endorsement certificate of a TPM, or is for a different key.
        case endorsementCertificate
        /// The TPM's attestation key could sign data that the TPM did not generate, or can leave
        /// the TPM.
        case attestationKey
        /// The device key can leave the TPM, was not generated in the TPM, or is not the key to be
        /// registered.
        case keyAttributes
        /// The TPM certified a different key, or certified the key for a different enrolment.
        case certification
        /// The passkey's id is too long, or differs from the id that the browser stated.
        case credentialID
        /// The passkey is or was registered already.
        case credentialKnown
        /// The user handle belongs to a different subject, or is missing.
        case userHandle
        /// The signature is not valid.
        case signature
        /// The passkey's backup eligibility has changed.
        case backupEligibilityChanged
        /// The signature counter did not increase.
        case counter
        /// The device key signed for a different server address.
        case audience
        /// The device's presence check is weaker than the policy requires.
        case presence
    }

    /// Takes the fields of an event, without any check.
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
