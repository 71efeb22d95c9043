public import Verification
internal import WatchwordCryptography

/// Registers passkeys and verifies their signatures: the server's part of Web Authentication
/// (Level 3).
///
/// Each decision is one commit, as for ``Verifier``. It spends the ceremony's challenge, whatever
/// its result.
public struct Passkeys: Sendable {
    let verifier: Verifier
    let relyingParty: RelyingParty

    /// How much shorter the browser's timeout is than the server's, in milliseconds.
    static let grace: Int64 = 30_000

    /// Registers and verifies passkeys for a relying party.
    public init(_ verifier: Verifier, for relyingParty: RelyingParty) {
        self.verifier = verifier
        self.relyingParty = relyingParty
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
    /// It works once, for the credential's last assertion, within ten minutes. What that assertion
    /// left open is then recorded: the device, the backup flags, and that the user was verified.
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
