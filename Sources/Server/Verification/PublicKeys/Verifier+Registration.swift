// What the registrations of passkeys and of device keys share.

extension Verifier {
    /// Why the subject's credential with this id cannot be replaced; `nil` if it can.
    ///
    /// - Parameter canManage: whether the client may revoke every credential.
    package func refusal(
        replacing id: CredentialID?, among records: [CredentialRecord], _ canManage: Bool,
        _ context: DecisionContext
    ) -> EnrolmentRefusal? {
        guard let id else { return nil }
        guard let old = records.first(where: { $0.id == id }) else { return .unknownCredential }
        // A pending credential can end at any time, and its row can be used for the next one.
        guard old.state != .pending else { return .pendingCredential }
        return old.isReplaceable(by: context, canManage) ? nil : .foreignCredential
    }

    /// The changes that revoke a credential, because another one replaces it.
    package func replacing(
        _ id: CredentialID?, _ context: DecisionContext
    ) async throws(VerifierError) -> [StoreChange] {
        guard let id, var old = try await record(id), old.state != .revoked else { return [] }
        old.end(as: .revoked, because: .replaced, at: context.now)
        return old.changesAtEnd + [context.event(.revoked, .replaced, of: old)]
    }
}

extension CredentialRecord {
    /// Whether the client that enrols a new credential may let it replace this one.
    func isReplaceable(by context: DecisionContext, _ canManage: Bool) -> Bool {
        canManage || state == .active && enroller == context.origin.client
    }

    /// The pending credential after its confirmation, without its material.
    ///
    /// - Parameter origin: the origin of its browser or device.
    package func confirmed(
        name: String?, from origin: Origin, _ context: DecisionContext
    ) -> CredentialRecord {
        CredentialRecord(
            id: id, subject: subject, kind: kind, createdAt: createdAt, origin: origin,
            version: version, state: .active, keyID: context.keys.current.id,
            name: (name ?? self.name).prefix(bytes: OneTimePasswordEnrolment.maximumTextCount),
            enroller: enroller, audience: audience, confirmedAt: context.now, material: .none)
    }

    /// The record with the id of another one, as the next version of that one.
    package func taking(rowOf other: CredentialRecord) -> CredentialRecord {
        CredentialRecord(
            id: other.id, subject: subject, kind: kind, createdAt: createdAt, origin: origin,
            version: other.version, state: state, lapsesAt: lapsesAt, name: name,
            enroller: enroller, material: material)
    }
}
