public import Verification
public import WatchwordCoding
public import WatchwordCryptography

/// The options that a page passes to the browser to create a passkey.
public struct CreationOptions: Sendable {
    /// The relying party's ID and its name.
    public let relyingParty: (id: String, name: String)
    /// The user handle, which identifies the subject to authenticators and reveals nothing.
    public let userHandle: [UInt8]
    /// The random bytes to be signed.
    public let challenge: [UInt8]
    /// The permitted algorithms, the preferred one first.
    public let algorithms: [SignatureAlgorithm]
    /// The subject's passkeys, which an authenticator must not replace.
    public let excluded: [PasskeyDescriptor]
    /// The policy that the registration must satisfy.
    public let policy: PasskeyPolicy
    /// The browser's timeout in milliseconds: shorter than the server's.
    public let timeout: Int64
}

/// A passkey that may be registered until a deadline.
public struct PasskeyGrant: Sendable {
    /// The id of the pending credential.
    public let credential: CredentialID
    /// The options that the page passes to the browser.
    public let options: CreationOptions
    /// The time from which the registration is refused.
    public let expiresAt: UnixTime
}

/// A ticket with which a page registers a passkey, once.
public struct PasskeyTicket: Sendable {
    /// The id of the pending credential.
    public let credential: CredentialID
    /// The ticket, which is a secret of the person who creates the passkey.
    public let ticket: Token
    /// The time from which the ticket is refused.
    public let expiresAt: UnixTime
}

/// The options that a page gets for its ticket.
public struct PasskeyInvitation: Sendable {
    /// The options, with a challenge for one attempt.
    public let options: CreationOptions
    /// The names of the account, for the authenticator.
    public let account: PasskeyAccount
    /// The time from which the attempt is refused.
    public let expiresAt: UnixTime
}

/// The options that a page passes to the browser to sign in.
public struct RequestOptions: Sendable {
    /// The ID of the relying party that the passkey is for.
    public let relyingPartyID: String
    /// The random bytes to be signed.
    public let challenge: [UInt8]
    /// The passkeys that may sign; empty if any may.
    public let allowed: [PasskeyDescriptor]
    /// Whether the authenticator must verify the user.
    public let userVerification: PasskeyPolicy.UserVerification
    /// The browser's timeout in milliseconds: shorter than the server's.
    public let timeout: Int64
}

/// An open ceremony in which a passkey signs in.
public struct PasskeyCeremony: Sendable {
    /// The token that identifies the ceremony; the application keeps it in its session.
    public let token: Token
    /// The options that the page passes to the browser.
    public let options: RequestOptions
    /// The time from which an answer is refused.
    public let expiresAt: UnixTime
}

extension CreationOptions {
    /// The options for `PublicKeyCredential.parseCreationOptionsFromJSON`.
    ///
    /// - Parameters:
    ///   - userName: the name by which the user recognises the account; the authenticator stores
    ///     this name.
    ///   - displayName: a friendlier form of the user name.
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
    /// The options as JSON, for `PublicKeyCredential.parseRequestOptionsFromJSON`.
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
    /// The value as JSON text; the text contains no secret.
    fileprivate var renderedText: String {
        rendered().withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
    }

    /// The bytes as a JSON string in base64url.
    fileprivate static func encoded(_ bytes: [UInt8]) -> JSONValue {
        .text(Base64URL.encode(bytes.span))
    }
}
