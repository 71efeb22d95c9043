public import Verification
public import WatchwordCoding
public import WatchwordCryptography

/// What a page passes to the browser to create a passkey.
public struct CreationOptions: Sendable {
    /// The relying party's ID and name.
    public let relyingParty: (id: String, name: String)
    /// The user handle, which names the subject to authenticators; it reveals nothing.
    public let userHandle: [UInt8]
    /// The random bytes to be signed.
    public let challenge: [UInt8]
    /// The permitted algorithms, the preferred one first.
    public let algorithms: [SignatureAlgorithm]
    /// The subject's passkeys, which their authenticators must not replace.
    public let excluded: [PasskeyDescriptor]
    /// What the registration requires.
    public let policy: PasskeyPolicy
    /// The browser's timeout in milliseconds: shorter than the server's.
    public let timeout: Int64
}

/// A passkey that may be registered until a deadline.
public struct PasskeyGrant: Sendable {
    /// The id of the pending credential.
    public let credential: CredentialID
    /// What the page passes to the browser.
    public let options: CreationOptions
    /// The deadline.
    public let expiresAt: UnixTime
}

/// A ticket with which a page registers a passkey, once.
public struct PasskeyTicket: Sendable {
    /// The id of the pending credential.
    public let credential: CredentialID
    /// The ticket, which is only for the person who creates the passkey.
    public let ticket: Token
    /// The deadline.
    public let expiresAt: UnixTime
}

/// What a page passes to the browser after it presented a ticket.
public struct PasskeyInvitation: Sendable {
    /// The options, with a challenge for one attempt.
    public let options: CreationOptions
    /// The account's names.
    public let account: PasskeyAccount
    /// The deadline.
    public let expiresAt: UnixTime
}

/// What a page passes to the browser to sign in.
public struct RequestOptions: Sendable {
    /// The relying party's ID.
    public let relyingPartyID: String
    /// The random bytes to be signed.
    public let challenge: [UInt8]
    /// The passkeys that may sign; empty if any may.
    public let allowed: [PasskeyDescriptor]
    /// Whether the user has to be verified.
    public let userVerification: PasskeyPolicy.UserVerification
    /// The browser's timeout in milliseconds: shorter than the server's.
    public let timeout: Int64
}

/// An open ceremony in which a passkey signs in.
public struct PasskeyCeremony: Sendable {
    /// Names the ceremony; the application keeps it in its session.
    public let token: Token
    /// What the page passes to the browser.
    public let options: RequestOptions
    /// The deadline.
    public let expiresAt: UnixTime
}

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

    /// The text of ``json(userName:displayName:)``, to be sent as `application/json`.
    ///
    /// It is on one line. Characters that are special in HTML are not escaped.
    public func jsonText(userName: String, displayName: String) -> String {
        json(userName: userName, displayName: displayName).renderedText
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

    /// The text of ``json``, to be sent as `application/json`.
    ///
    /// It is on one line. Characters that are special in HTML are not escaped.
    public var jsonText: String { json.renderedText }
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

    /// The text of ``json``; `nil` while a registration is pending.
    public var jsonText: String? { json?.renderedText }
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
    /// The value as JSON in a text; it contains no secret.
    fileprivate var renderedText: String {
        rendered().withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
    }

    /// Bytes in base64url.
    fileprivate static func encoded(_ bytes: [UInt8]) -> JSONValue {
        .text(Base64URL.encode(bytes.span))
    }
}
