/// The stored state of a passkey that is being registered.
///
/// Its challenge is not in a row of its own: confirming the registration changes this row, so that
/// it happens once, and closing the account ends it.
package struct PendingPasskey: Hashable, Sendable {
    /// The random bytes that the client data has to contain: ``Challenge/byteCount``.
    package var challenge: [UInt8]
    /// The ID of the relying party that the passkey will be for.
    package let relyingParty: String
    /// What the registration requires.
    package let policy: PasskeyPolicy
    /// The credential to be revoked once the passkey is confirmed.
    package let replaces: CredentialID?
    /// The account's names; `nil` unless the registration has a ticket, because the server's own
    /// page needs them later.
    package var account: PasskeyAccount?

    func write(into writer: inout ByteWriter) {
        writer.write(challenge)
        writer.write(relyingParty)
        policy.write(into: &writer)
        writer.writeOptional(replaces) { $0.write($1.bytes) }
        writer.writeOptional(account) { writer, account in
            writer.write(account.userName)
            writer.write(account.displayName)
        }
    }

    init(from reader: inout ByteReader) throws(ByteReaderError) {
        challenge = try reader.readBytes()
        relyingParty = try reader.readText()
        policy = try PasskeyPolicy(from: &reader)
        replaces = try reader.readOptional { reader throws(ByteReaderError) in
            guard let id = CredentialID(bytes: try reader.readBytes()) else { throw .malformed }
            return id
        }
        account = try reader.readOptional { reader throws(ByteReaderError) in
            PasskeyAccount(
                userName: try reader.readText(), displayName: try reader.readText())
        }
        guard challenge.count == Challenge.byteCount else { throw .malformed }
    }

    package init(
        challenge: [UInt8], relyingParty: String, policy: PasskeyPolicy, replaces: CredentialID?,
        account: PasskeyAccount? = nil
    ) {
        self.challenge = challenge
        self.relyingParty = relyingParty
        self.policy = policy
        self.replaces = replaces
        self.account = account
    }
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
