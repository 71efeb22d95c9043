public import WatchwordCryptography

/// What a browser needs to find a passkey.
public struct PasskeyDescriptor: Hashable, Sendable {
    /// The passkey's id.
    public let id: [UInt8]
    /// How the browser reaches its authenticator.
    public let transports: [String]
}

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

/// The names of an account, which authenticators store and browsers show.
public struct PasskeyAccount: Hashable, Sendable {
    /// The name by which the user recognises the account.
    public let userName: String
    /// A friendlier form of it.
    public let displayName: String

    /// Names an account.
    public init(userName: String, displayName: String) {
        self.userName = userName
        self.displayName = displayName
    }
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
