internal import Attestation

extension Event.Reason {
    /// The reason why a public-key credential was denied.
    init(_ reason: DenialReason) {
        self =
            switch reason {
            case .clientData: .clientData
            case .type: .ceremonyType
            case .challenge: .challenge
            case .expired: .expired
            case .origin: .origin
            case .crossOrigin: .crossOrigin
            case .topOrigin: .topOrigin
            case .attestationObject: .attestationObject
            case .authenticatorData: .authenticatorData
            case .relyingParty: .relyingParty
            case .userPresence: .userPresence
            case .userVerification: .userVerification
            case .backupFlags: .backupFlags
            case .notDeviceBound: .notDeviceBound
            case .algorithm: .algorithm
            case .publicKey: .publicKey
            case .attestationFormat: .attestationFormat
            case .attestation: .attestation
            case .attestationUntrusted: .attestationUntrusted
            case .attestationWeak: .attestationWeak
            case .credentialID: .credentialID
            case .credentialKnown: .credentialKnown
            case .unknown: .unknown
            case .revoked: .revoked
            case .userHandle: .userHandle
            case .signature: .signature
            case .backupEligibilityChanged: .backupEligibilityChanged
            case .counter: .counter
            case .audience: .audience
            case .presence: .presence
            }
    }
}
