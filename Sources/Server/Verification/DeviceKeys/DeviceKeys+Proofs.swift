internal import Attestation
internal import WatchwordCryptography

// How a device proves that it has the key that it registers.
extension DeviceKeys {
    /// The key with this point; `nil` if the point is not valid.
    static func key(_ point: [UInt8]) -> VerificationKey? {
        guard point.count == RegisteredDeviceKey.pointCount else { return nil }
        do throws(PublicKeyError) {
            return try VerificationKey(.ellipticCurve(.p256, point: point), algorithm: .es256)
        } catch { return nil }
    }

    /// The enrolment that the device signed, for one of the server's addresses; `nil` if it did not.
    func enrolment(
        signedBy signature: [UInt8], _ key: VerificationKey, of point: [UInt8],
        with ticket: Token, presence: DeviceKeyTranscript.Presence
    ) throws(VerifierError) -> DeviceKeyTranscript? {
        guard signature.count <= Self.maximumSignatureCount else { return nil }
        for audience in audiences {
            guard let scope = DeviceKeyTranscript.Scope(audience: audience, presence: presence)
            else { continue }
            let transcript = try deciding { () throws(CryptographyFailure) in
                let transcript = DeviceKeyTranscript.enrolment(
                    scope, ticket: ticket.text, point: point)
                return try key.isValid(signature.span, of: transcript.bytes.span)
                    ? transcript : nil
            }
            if let transcript { return transcript }
        }
        return nil
    }

    /// The fingerprint under which a key's credential is found.
    func fingerprint(of point: [UInt8], _ context: DecisionContext) -> [UInt8] {
        context.keys.lookup.fingerprint(ofDeviceKey: point)
    }

    /// The decision on a registration whose ticket does not exist, or no longer exists.
    ///
    /// Only a device that signed with an active key learns of its credential. For everybody else,
    /// including the holder of a revoked key, the ticket is simply unknown.
    func repeated(
        _ ticket: Token, _ point: [UInt8], _ signature: [UInt8],
        _ presence: DeviceKeyTranscript.Presence, _ context: DecisionContext
    ) async throws(VerifierError) -> Decision<DeviceKeyRegistration> {
        let unknown = denied(nil, .unknown, context)
        guard let key = Self.key(point) else { return unknown }
        let transcript = try enrolment(
            signedBy: signature, key, of: point, with: ticket, presence: presence)
        guard transcript != nil else { return unknown }
        let fingerprint = fingerprint(of: point, context)
        guard let record = try await verifier.record(fingerprint: fingerprint),
            record.state == .active, case .deviceKey(let state) = record.material
        else { return unknown }
        let registered = try state.open(for: record.place, under: context.key(record.keyID))
        guard registered.point == point else { throw .damagedRow }
        // The response is not recorded, because the credential may be revoked at any time.
        return Decision(
            outcome: .repeated(record.id, registered.custody), changes: [],
            recordsResponse: false)
    }
}
