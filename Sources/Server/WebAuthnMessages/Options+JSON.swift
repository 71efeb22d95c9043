public import Verification
public import WatchwordCoding
internal import WatchwordCryptography

extension CreationOptions {
    /// The options for `PublicKeyCredential.parseCreationOptionsFromJSON`.
    ///
    /// - Parameters:
    ///   - userName: the name by which the user recognises the account, which the authenticator
    ///     stores.
    ///   - displayName: a friendlier form of it.
    public func json(userName: String, displayName: String) -> JSONValue {
        .object([
            (
                "rp",
                .object([("id", .text(relyingParty.id)), ("name", .text(relyingParty.name))])
            ),
            (
                "user",
                .object([
                    ("id", .encoded(userHandle)), ("name", .text(userName)),
                    ("displayName", .text(displayName)),
                ])
            ),
            ("challenge", .encoded(challenge)),
            (
                "pubKeyCredParams",
                .list(
                    algorithms.map { algorithm in
                        .object([
                            ("type", .text("public-key")), ("alg", .number(algorithm.rawValue)),
                        ])
                    })
            ),
            ("timeout", .number(timeout)), ("excludeCredentials", .list(excluded.map(\.json))),
            (
                "authenticatorSelection",
                .object([
                    ("residentKey", .text(policy.discoverable.rawValue)),
                    ("requireResidentKey", .flag(policy.discoverable == .required)),
                    ("userVerification", .text(policy.userVerification.rawValue)),
                ])
            ),
            ("attestation", .text(policy.attestation == .none ? "none" : "direct")),
        ])
    }
}

extension RequestOptions {
    /// The options for `PublicKeyCredential.parseRequestOptionsFromJSON`.
    public var json: JSONValue {
        .object([
            ("challenge", .encoded(challenge)), ("rpId", .text(relyingPartyID)),
            ("allowCredentials", .list(allowed.map(\.json))), ("timeout", .number(timeout)),
            ("userVerification", .text(userVerification.rawValue)),
        ])
    }
}

extension PasskeySignal {
    /// The options for `PublicKeyCredential.signalAllAcceptedCredentials`; `nil` while a
    /// registration is pending.
    public var json: JSONValue? {
        guard case .accepted(let relyingPartyID, let userHandle, let ids) = self else {
            return nil
        }
        return .object([
            ("rpId", .text(relyingPartyID)), ("userId", .encoded(userHandle)),
            ("allAcceptedCredentialIds", .list(ids.map { .encoded($0) })),
        ])
    }
}

extension PasskeyDescriptor {
    fileprivate var json: JSONValue {
        .object([
            ("type", .text("public-key")), ("id", .encoded(id)),
            ("transports", .list(transports.map { .text($0) })),
        ])
    }
}

extension JSONValue {
    /// Bytes in base64url.
    fileprivate static func encoded(_ bytes: [UInt8]) -> JSONValue {
        .text(Base64URL.encode(bytes.span))
    }
}
