public import Verification
internal import WatchwordCryptography

/// Registers passkeys and verifies their signatures: the server's part of Web Authentication
/// (Level 3).
///
/// Each decision is one commit, as for ``Verifier``. Every decision spends the ceremony's
/// challenge, whatever the result.
public struct Passkeys: Sendable {
    let verifier: Verifier
    let relyingParty: RelyingParty

    /// The milliseconds by which the browser's timeout is shorter than the server's.
    static let grace: Int64 = 30_000

    /// Registers and verifies passkeys for a relying party.
    public init(_ verifier: Verifier, for relyingParty: RelyingParty) {
        self.verifier = verifier
        self.relyingParty = relyingParty
    }

    /// The same instance for a client that is limited to these subjects.
    package func limited(to subjects: SubjectPrefix) -> Passkeys {
        Passkeys(verifier.limited(to: subjects), for: relyingParty)
    }

    /// The ids of a subject's passkeys, for WebAuthn's signal methods.
    ///
    /// - Parameter relyingPartyID: one of the relying party's IDs; `nil` for the first one.
    public func signal(
        for subject: Subject, at relyingPartyID: String? = nil
    ) async throws(VerifierError) -> PasskeySignal {
        let id = relyingParty.checkedID(relyingPartyID)
        let context = await verifier.context(.unknown)
        let records = try await verifier.records(of: subject)
        let isPending = records.contains { record in
            record.kind == .passkey && record.state == .pending
                && !record.isLapsed(at: context.now)
        }
        guard !isPending else { return .pending }
        return .accepted(
            relyingPartyID: id, userHandle: handle(of: subject, context),
            ids: try descriptors(of: records, at: id, context).map(\.id))
    }

    func handle(of subject: Subject, _ context: DecisionContext) -> [UInt8] {
        context.keys.lookup.userHandle(of: subject)
    }

    /// The active passkeys among a subject's credentials.
    func descriptors(
        of records: [CredentialRecord], at relyingPartyID: String, _ context: DecisionContext
    ) throws(VerifierError) -> [PasskeyDescriptor] {
        var found: [PasskeyDescriptor] = []
        for record in records where record.state == .active {
            guard case .passkey(let state) = record.material else { continue }
            let passkey = try state.open(for: record.place, under: context.key(record.keyID))
            guard passkey.relyingParty == relyingPartyID else { continue }
            found.append(passkey.descriptor)
        }
        return found
    }
}

extension Passkeys {
    /// The lifetime of an open step-up, in milliseconds: ten minutes.
    static let stepUpLifetime: Int64 = 600_000

    /// Records that the application obtained the second proof that an assertion needed.
    ///
    /// This works once, for the credential's last assertion, within ten minutes. The changes that
    /// the assertion left open are then made: the device, the backup flags, and that the user was
    /// verified.
    public func completeStepUp(
        of credential: CredentialID, for verification: VerificationID, origin: Origin = .unknown,
        recorder: Recorder<ChangeOutcome>? = nil
    ) async throws(VerifierError) -> ChangeOutcome {
        try await verifier.decide(origin, recorder: recorder) { context throws(VerifierError) in
            let found = try await verifier.record(credential)
            func denied(_ outcome: ChangeOutcome, _ reason: Event.Reason) -> Decision<ChangeOutcome>
            {
                Decision(outcome: outcome, changes: []).counting(
                    context.unwritten(
                        .denied, reason, subject: found?.subject, credential: credential),
                    by: nil)
            }
            guard var record = found, record.state == .active,
                case .passkey(var state) = record.material
            else { return denied(.unknown, .unknown) }
            guard let use = state.stepUp, use.verification == verification else {
                return denied(.refused, .unknown)
            }
            guard context.now.milliseconds(since: use.time) < Self.stepUpLifetime else {
                return denied(.refused, .expired)
            }
            state.apply(use, at: context.now, verifies: true)
            record.material = .passkey(state)
            record.lastUsedAt = context.now
            return Decision(
                outcome: .done,
                changes: [
                    .updateCredential(record.row), context.event(.stepUpCompleted, of: record),
                ])
        }
    }
}

/// The outcome of a registration.
public enum RegistrationOutcome: Hashable, Sendable {
    /// The passkey was registered, and is active.
    case accepted(Acceptance)
    /// The passkey was denied, and the registration must begin again.
    case denied(DenialReason)

    /// The facts about a new passkey.
    public struct Acceptance: Hashable, Sendable {
        /// Whether the passkey cannot be copied to other devices, according to its authenticator.
        public let isDeviceBound: Bool
        /// Whether the passkey is backed up.
        public let isBackedUp: Bool
        /// Whether the authenticator verified the user.
        public let isUserVerified: Bool
        /// The trust in the authenticator's maker: `none`, `self`, `unverified` or `trusted`.
        public let attestation: String
        /// The authenticator's model (AAGUID): 16 bytes; `nil` if unknown.
        public let model: [UInt8]?
        /// Whether the subject has no other active credential, recovery codes aside.
        public let isOnlyCredential: Bool
    }
}

/// The outcome of an authentication with a passkey.
public struct AssertionOutcome: Sendable {
    /// The id of the decision.
    public let verification: VerificationID
    /// Whether the signature was accepted.
    public let result: Result
    /// The ticket with which the application learns who signed in; `nil` unless it was requested
    /// and the signature is valid.
    public var login: LoginTicket?
    /// The relying party's ID, if the browser should no longer offer the passkey, because it was
    /// never registered or has been revoked.
    public var forgottenAt: String?

    /// Whether the signature was accepted.
    public enum Result: Sendable {
        /// The signature is valid; a second proof is needed unless `stepUp` is empty.
        case signed(Signer, stepUp: [StepUpReason])
        /// The passkey was denied; the ceremony must begin again.
        case denied(DenialReason)
    }

    /// The owner of an accepted passkey, and the facts about the signature.
    public struct Signer: Sendable {
        /// The id of the passkey's credential.
        public let credential: CredentialID
        /// The subject that owns the credential.
        public let subject: Subject
        /// Whether the user was verified.
        public let isUserVerified: Bool
        /// Whether the passkey cannot be copied to other devices, and never could, according to its
        /// authenticator.
        public let isDeviceBound: Bool
        /// Whether the passkey is backed up.
        public let isBackedUp: Bool
        /// The result of checking the signature counter.
        public let counter: CounterFinding
        /// A token to keep in a browser in which the passkey is used for the first time; `nil`
        /// unless the policy needs a token.
        public let device: Token?
    }
}

/// The ids of a subject's passkeys, for WebAuthn's signal methods.
public enum PasskeySignal: Hashable, Sendable {
    /// All accepted ids.
    case accepted(relyingPartyID: String, userHandle: [UInt8], ids: [[UInt8]])
    /// A registration is pending. Authenticators hide passkeys whose ids are not listed, so nothing
    /// may be signalled now.
    case pending
}
