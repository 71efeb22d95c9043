internal import Verification
internal import WatchwordCryptography
internal import WatchwordSystem

/// A response to an authentication, and the values that it must match (WebAuthn Level 3, section
/// 7.2).
struct AssertionCheck {
    let response: AssertionResponse
    /// The challenge's random bytes, relying party and policy.
    let challenge: (bytes: [UInt8], relyingParty: String, policy: PasskeyPolicy)
    let relyingParty: RelyingParty
    let meter: WorkMeter?
    /// The key, in COSE, that checks the signature of an unknown passkey.
    let dummyKey: [UInt8]

    /// A response whose signature is valid.
    struct Signed {
        let flags: PasskeyFlags
        let count: UInt32
    }

    /// Checks everything that does not depend on the passkey's state.
    ///
    /// - Parameter publicKey: the passkey's key in COSE; `nil` if there is no such passkey. A dummy
    ///   key then checks the signature, so that the timing is the same.
    func verdict(
        by publicKey: [UInt8]?
    ) throws(VerifierError) -> Result<Signed, DenialReason> {
        guard let clientData = response.clientData else { return .failure(.clientData) }
        if let reason = clientData.denial(
            type: "webauthn.get", challenge: challenge.bytes, at: relyingParty)
        {
            return .failure(reason)
        }
        guard relyingParty.ids.contains(challenge.relyingParty) else {
            return .failure(.relyingParty)
        }
        let data: AuthenticatorData
        do throws(DenialReason) {
            data = try AuthenticatorData(assertion: response.authenticatorData)
        } catch { return .failure(error) }
        let hash = sha256(Array(challenge.relyingParty.utf8).span)
        if let reason = data.denial(
            relyingPartyHash: hash,
            requiresUserVerification: challenge.policy.userVerification == .required)
        {
            return .failure(reason)
        }
        let key = try Self.key(publicKey ?? dummyKey)
        meter?.count(.signatures)
        let isSigned = try VerifierError.cryptography(
            in: data.isSigned(response.signature, by: key, clientDataHash: clientData.digest))
        guard isSigned, publicKey != nil else { return .failure(.signature) }
        return .success(Signed(flags: PasskeyFlags(data.flags), count: data.signatureCount))
    }

    /// The key, with the algorithm that was stored with the key and checked at the registration.
    private static func key(_ stored: [UInt8]) throws(VerifierError) -> VerificationKey {
        try replacingErrors(
            of: COSEKey.read(alreadyChecked: stored), with: VerifierError.damagedRow)
    }
}

/// The public keys that check the signatures of passkeys that do not exist, in COSE.
///
/// With a single key, the time of the check would reveal a passkey with a different algorithm.
enum DummyPasskeyKey {
    /// The algorithm of a passkey that does not exist: mostly ES256, as for real passkeys.
    ///
    /// - Parameter choice: a number that is always the same for an id
    ///   (``LookupKey/dummyChoice(of:)``).
    static func algorithm(
        for choice: UInt8, among offered: [SignatureAlgorithm]
    ) -> SignatureAlgorithm {
        let others = offered.filter { $0 != .es256 }
        guard !others.isEmpty else { return .es256 }
        guard offered.contains(.es256) else { return others[Int(choice) % others.count] }
        // Each of the other algorithms, at most four, gets one id in sixteen.
        let index = Int(choice) / 16
        return index < others.count ? others[index] : .es256
    }

    /// A dummy key for this algorithm.
    static func encoded(_ algorithm: SignatureAlgorithm) -> [UInt8] {
        switch algorithm {
        case .es256: DummyPublicKeys.nobody
        case .es384:
            [0xa5, 0x01, 0x02, 0x03, 0x38, 0x22, 0x20, 0x02, 0x21, 0x58, 0x30] + p384[..<48]
                + [0x22, 0x58, 0x30] + p384[48...]
        case .es512:
            [0xa5, 0x01, 0x02, 0x03, 0x38, 0x23, 0x20, 0x03, 0x21, 0x58, 0x42] + p521[..<66]
                + [0x22, 0x58, 0x42] + p521[66...]
        case .rs256:
            [0xa4, 0x01, 0x03, 0x03, 0x39, 0x01, 0x00, 0x20, 0x59, 0x01, 0x00]
                + [UInt8](repeating: 0xff, count: 256) + [0x21, 0x43, 0x01, 0x00, 0x01]
        case .ed25519:
            // The base point (RFC 8032, section 5.1).
            [0xa4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20, 0x58]
                + [UInt8](repeating: 0x66, count: 31)
        }
    }

    /// The base point of P-384 (FIPS 186-4, appendix D.1.2.4).
    private static let p384: [UInt8] = [
        0xaa, 0x87, 0xca, 0x22, 0xbe, 0x8b, 0x05, 0x37, 0x8e, 0xb1, 0xc7, 0x1e, 0xf3, 0x20, 0xad,
        0x74, 0x6e, 0x1d, 0x3b, 0x62, 0x8b, 0xa7, 0x9b, 0x98, 0x59, 0xf7, 0x41, 0xe0, 0x82, 0x54,
        0x2a, 0x38, 0x55, 0x02, 0xf2, 0x5d, 0xbf, 0x55, 0x29, 0x6c, 0x3a, 0x54, 0x5e, 0x38, 0x72,
        0x76, 0x0a, 0xb7, 0x36, 0x17, 0xde, 0x4a, 0x96, 0x26, 0x2c, 0x6f, 0x5d, 0x9e, 0x98, 0xbf,
        0x92, 0x92, 0xdc, 0x29, 0xf8, 0xf4, 0x1d, 0xbd, 0x28, 0x9a, 0x14, 0x7c, 0xe9, 0xda, 0x31,
        0x13, 0xb5, 0xf0, 0xb8, 0xc0, 0x0a, 0x60, 0xb1, 0xce, 0x1d, 0x7e, 0x81, 0x9d, 0x7a, 0x43,
        0x1d, 0x7c, 0x90, 0xea, 0x0e, 0x5f,
    ]

    /// The base point of P-521 (FIPS 186-4, appendix D.1.2.5).
    private static let p521: [UInt8] = [
        0x00, 0xc6, 0x85, 0x8e, 0x06, 0xb7, 0x04, 0x04, 0xe9, 0xcd, 0x9e, 0x3e, 0xcb, 0x66, 0x23,
        0x95, 0xb4, 0x42, 0x9c, 0x64, 0x81, 0x39, 0x05, 0x3f, 0xb5, 0x21, 0xf8, 0x28, 0xaf, 0x60,
        0x6b, 0x4d, 0x3d, 0xba, 0xa1, 0x4b, 0x5e, 0x77, 0xef, 0xe7, 0x59, 0x28, 0xfe, 0x1d, 0xc1,
        0x27, 0xa2, 0xff, 0xa8, 0xde, 0x33, 0x48, 0xb3, 0xc1, 0x85, 0x6a, 0x42, 0x9b, 0xf9, 0x7e,
        0x7e, 0x31, 0xc2, 0xe5, 0xbd, 0x66, 0x01, 0x18, 0x39, 0x29, 0x6a, 0x78, 0x9a, 0x3b, 0xc0,
        0x04, 0x5c, 0x8a, 0x5f, 0xb4, 0x2c, 0x7d, 0x1b, 0xd9, 0x98, 0xf5, 0x44, 0x49, 0x57, 0x9b,
        0x44, 0x68, 0x17, 0xaf, 0xbd, 0x17, 0x27, 0x3e, 0x66, 0x2c, 0x97, 0xee, 0x72, 0x99, 0x5e,
        0xf4, 0x26, 0x40, 0xc5, 0x50, 0xb9, 0x01, 0x3f, 0xad, 0x07, 0x61, 0x35, 0x3c, 0x70, 0x86,
        0xa2, 0x72, 0xc2, 0x40, 0x88, 0xbe, 0x94, 0x76, 0x9f, 0xd1, 0x66, 0x50,
    ]
}

/// The result of comparing a signature counter with the stored one.
public enum CounterFinding: String, CaseIterable, Hashable, Sendable {
    /// The authenticator does not count.
    case none
    /// The counter increased.
    case ok
    /// The counter did not increase: there may be a copy of the passkey.
    case rollback
}

/// The facts that decide on a correct signature under the ceremony's policy.
struct AssertionPolicy: Hashable, Sendable {
    let policy: PasskeyPolicy
    /// Whether the passkey could be copied when it was registered, or in an accepted ceremony
    /// since.
    let wasEverBackupEligible: Bool
    /// The flags of the last accepted ceremony.
    let stored: PasskeyFlags
    /// The flags of this ceremony.
    let flags: PasskeyFlags
    /// The highest accepted signature counter.
    let storedCount: UInt32
    /// The signature counter of this ceremony.
    let count: UInt32
    /// Whether a ceremony that verified the user was ever accepted.
    let wasUserVerified: Bool
    /// Whether the passkey was accepted in this browser before.
    let isKnownDevice: Bool

    enum Verdict: Hashable, Sendable {
        /// The signature is accepted, unless it needs a second proof.
        case accepted(stepUp: [StepUpReason])
        case denied(DenialReason)
    }

    var counter: CounterFinding {
        if storedCount == 0, count == 0 { return .none }
        return count > storedCount ? .ok : .rollback
    }

    /// Whether the passkey's backup flags differ from those of the last accepted ceremony.
    var hasBackupChanged: Bool {
        stored.isBackupEligible != flags.isBackupEligible || stored.isBackedUp != flags.isBackedUp
    }

    /// Decides; a denial takes precedence over a step-up.
    var verdict: Verdict {
        if let denial { return .denied(denial) }
        var stepUp: [StepUpReason] = []
        if policy.backup == .stepUp {
            switch (stored.isBackupEligible, flags.isBackupEligible) {
            case (false, false):
                // The passkey can no longer be copied, but there may be a copy.
                if wasEverBackupEligible, !isKnownDevice { stepUp.append(.newDevice) }
            case (true, true): if !isKnownDevice { stepUp.append(.newDevice) }
            case (false, true): stepUp.append(.becameSyncable)
            case (true, false): stepUp.append(.backupFlags)
            }
        }
        if policy.userVerification != .discouraged, flags.isUserVerified, !wasUserVerified {
            stepUp.append(.firstVerification)
        }
        if policy.counter == .stepUp, counter == .rollback { stepUp.append(.counter) }
        return .accepted(stepUp: stepUp)
    }

    private var denial: DenialReason? {
        if policy.userVerification == .required, !flags.isUserVerified { return .userVerification }
        if policy.backup == .deviceBound {
            switch (stored.isBackupEligible, flags.isBackupEligible) {
            case (false, false):
                if wasEverBackupEligible { return .backupEligibilityChanged }
            case (true, true): return .notDeviceBound
            case (false, true), (true, false): return .backupEligibilityChanged
            }
        }
        return policy.counter == .deny && counter == .rollback ? .counter : nil
    }
}
