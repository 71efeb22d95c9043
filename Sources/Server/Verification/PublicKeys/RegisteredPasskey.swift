/// The part of a passkey that never changes after its registration.
package struct RegisteredPasskey: Hashable, Sendable {
    /// The facts about the authenticator's maker.
    package enum Attestation: String, Hashable, Sendable {
        /// There was no attestation statement.
        case none
        /// The passkey's own key signed the statement.
        case selfAttested = "self"
        /// The statement does not chain to a trust anchor.
        case unverified
        /// The statement chains to a trust anchor.
        case trusted
    }

    /// The ID of the relying party that the passkey is for.
    package let relyingParty: String
    /// The id that the authenticator chose: 1 to ``maximumIDCount`` bytes.
    package let credentialID: [UInt8]
    /// The public key, as the authenticator encoded it (COSE).
    package internal(set) var publicKey: [UInt8]
    /// The authenticator's model (AAGUID): 16 bytes.
    let model: [UInt8]
    /// The flags at the registration.
    package let flags: PasskeyFlags
    /// The transports by which the browser reaches the authenticator, as the browser names them.
    package var transports: [String]
    /// The facts about the authenticator's maker.
    package var attestation: Attestation
    /// SHA-256 of the certificate of the statement's signer, if the signer has a certificate.
    package var leafDigest: [UInt8]?

    /// The authenticator's model; `nil` if the model is not stated.
    package var knownModel: [UInt8]? { model.contains { $0 != 0 } ? model : nil }

    /// The id and the transports, with which a browser finds the passkey.
    package var descriptor: PasskeyDescriptor {
        PasskeyDescriptor(id: credentialID, transports: transports)
    }

    /// The maximum length of an id in bytes.
    static let maximumIDCount = 1_023
    /// The maximum number of transports, and the maximum length of each in bytes.
    package static let maximumTransports = 8
    package static let maximumTransportCount = 32

    func write(into writer: inout ByteWriter) {
        writer.write(relyingParty)
        writer.write(credentialID)
        writer.write(publicKey)
        writer.write(model)
        flags.write(into: &writer)
        writer.write(UInt8(transports.count))
        for transport in transports { writer.write(transport) }
        writer.write(attestation.rawValue)
        writer.writeOptional(leafDigest) { $0.write($1) }
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        relyingParty = try reader.readText()
        credentialID = try reader.readBytes()
        publicKey = try reader.readBytes()
        model = try reader.readBytes()
        flags = try PasskeyFlags(from: &reader)
        var transports: [String] = []
        for _ in 0..<(try reader.read(UInt8.self)) { transports.append(try reader.readText()) }
        self.transports = transports
        attestation = try reader.readChoice()
        leafDigest = try reader.readOptionalBytes()
        guard (1...Self.maximumIDCount).contains(credentialID.count), model.count == 16 else {
            throw .damagedRow
        }
    }

    package init(
        relyingParty: String, credentialID: [UInt8], publicKey: [UInt8], model: [UInt8],
        flags: PasskeyFlags
    ) {
        self.relyingParty = relyingParty
        self.credentialID = credentialID
        self.publicKey = publicKey
        self.model = model
        self.flags = flags
        transports = []
        attestation = .none
    }
}

/// The data with which a browser finds a passkey.
public struct PasskeyDescriptor: Hashable, Sendable {
    /// The id that the authenticator chose.
    public let id: [UInt8]
    /// The transports by which the browser reaches the authenticator.
    public let transports: [String]
}

/// The flags of one ceremony.
package struct PasskeyFlags: Hashable, Sendable {
    /// The user was verified (UV).
    package let isUserVerified: Bool
    /// The passkey may be backed up (BE).
    package let isBackupEligible: Bool
    /// The passkey is backed up (BS).
    package let isBackedUp: Bool

    package init(isUserVerified: Bool, isBackupEligible: Bool, isBackedUp: Bool) {
        self.isUserVerified = isUserVerified
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
    }

    func write(into writer: inout ByteWriter) {
        writer.write(isUserVerified)
        writer.write(isBackupEligible)
        writer.write(isBackedUp)
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        isUserVerified = try reader.readFlag()
        isBackupEligible = try reader.readFlag()
        isBackedUp = try reader.readFlag()
        guard isBackupEligible || !isBackedUp else { throw .damagedRow }
    }
}

/// The stored state of a passkey that is being registered.
///
/// The challenge has no separate row: confirming the registration changes this row, so that a
/// registration is confirmed only once, and closing the account ends the registration.
package struct PendingPasskey: Hashable, Sendable {
    /// The random bytes that the client data must contain: ``Challenge/byteCount``.
    package var challenge: [UInt8]
    /// The ID of the relying party that the passkey will be for.
    package let relyingParty: String
    package let policy: PasskeyPolicy
    /// The credential that is revoked once the passkey is confirmed.
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

    init(from reader: inout ByteReader) throws(VerifierError) {
        challenge = try reader.readBytes()
        relyingParty = try reader.readText()
        policy = try PasskeyPolicy(from: &reader)
        replaces = try reader.readFlag() ? reader.readID() : nil
        account =
            try reader.readFlag()
            ? PasskeyAccount(userName: reader.readText(), displayName: reader.readText()) : nil
        guard challenge.count == Challenge.byteCount else { throw .damagedRow }
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
    /// A friendlier form of the user name.
    public let displayName: String

    /// Takes both names, which are not secret.
    public init(userName: String, displayName: String) {
        self.userName = userName
        self.displayName = displayName
    }
}
