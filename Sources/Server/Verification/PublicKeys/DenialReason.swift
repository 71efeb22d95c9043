/// Why a ceremony of public-key credentials is denied: the reason of the event that records it.
public typealias DenialReason = Event.Reason

extension Event.Reason {
    /// The reasons for which a ceremony of public-key credentials is denied.
    ///
    /// The checks are those of Web Authentication Level 3, sections 7.1 (registration) and 7.2
    /// (authentication).
    public static let ofCeremonies: [Event.Reason] = [
        .clientData, .ceremonyType, .challenge, .expired, .origin, .crossOrigin, .topOrigin,
        .attestationObject, .authenticatorData, .relyingParty, .userPresence, .userVerification,
        .backupFlags, .notDeviceBound, .algorithm, .publicKey, .attestationFormat, .attestation,
        .attestationUntrusted, .attestationWeak, .credentialID, .credentialKnown, .unknown,
        .revoked, .userHandle, .signature, .backupEligibilityChanged, .counter, .audience,
        .presence,
    ]

    /// The name in responses to a ceremony: ``rawValue`` with hyphens, for example `client-data`.
    public var ceremonyName: String {
        assert(Self.ofCeremonies.contains(self), "the API does not document this reason")
        if self == .ceremonyType { return "type" }
        var name = ""
        var isAfterCapital = false
        for letter in rawValue {
            // The name of "credentialID" is "credential-id".
            if letter.isUppercase, !isAfterCapital { name.append("-") }
            name.append(letter.lowercased())
            isAfterCapital = letter.isUppercase
        }
        return name
    }

    /// Whether a registration refused the authenticator's data, so that another attempt with the
    /// same authenticator would also be denied.
    ///
    /// False for a reason that is not listed here: a page then permits another attempt, and keeps
    /// the passkey.
    public var isAboutAuthenticator: Bool {
        switch self {
        case .attestationObject, .authenticatorData, .userPresence, .userVerification,
            .backupFlags, .notDeviceBound, .algorithm, .publicKey, .attestationFormat,
            .attestation, .attestationUntrusted, .attestationWeak, .credentialID,
            .credentialKnown:
            true
        default: false
        }
    }
}
