/// The part of a passkey that never changes after its registration.
package struct RegisteredPasskey: Hashable, Sendable {
    /// What is known about the authenticator's maker.
    package enum Attestation: String, Hashable, Sendable {
        /// There was no statement.
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
    package let publicKey: [UInt8]
    /// The authenticator's model (AAGUID): 16 bytes.
    let model: [UInt8]
    /// The flags at the registration.
    package let flags: PasskeyFlags
    /// How the browser reaches the authenticator, in the browser's own words.
    let transports: [String]
    /// What is known about the authenticator's maker.
    package let attestation: Attestation
    /// SHA-256 of the certificate of the statement's signer, if it has one.
    let leafDigest: [UInt8]?

    /// The authenticator's model; `nil` if it is not stated.
    package var knownModel: [UInt8]? { model.contains { $0 != 0 } ? model : nil }

    /// What a browser needs to find the passkey.
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

    init(from reader: inout ByteReader) throws(ByteReaderError) {
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
            throw .malformed
        }
    }

    package init(
        relyingParty: String, credentialID: [UInt8], publicKey: [UInt8], model: [UInt8],
        flags: PasskeyFlags, transports: [String], attestation: Attestation, leafDigest: [UInt8]?
    ) {
        self.relyingParty = relyingParty
        self.credentialID = credentialID
        self.publicKey = publicKey
        self.model = model
        self.flags = flags
        self.transports = transports
        self.attestation = attestation
        self.leafDigest = leafDigest
    }
}

/// What a browser needs to find a passkey.
public struct PasskeyDescriptor: Hashable, Sendable {
    /// The passkey's id.
    public let id: [UInt8]
    /// How the browser reaches its authenticator.
    public let transports: [String]
}
