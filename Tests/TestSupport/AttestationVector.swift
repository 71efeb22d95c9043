package import Foundation

/// A registration with an attestation statement, of `Vectors/webauthn/attestations.json`.
package struct AttestationVector: Codable, Sendable {
    package let name: String
    /// The attestation object, encoded in CBOR.
    package let object: Data
    /// How the statement is verified: `none`, `self`, `certified`, `weak` (with SHA-1), `unknown`,
    /// or why it is denied.
    package let verdict: String
    /// How the certificates chain to the anchor; `anchored` if they do.
    package let chain: String?
    /// The name of the anchor; `nil` for `root`.
    package let anchor: String?
    /// Whether hardware holds the key; `nil` if the statement always implies this.
    package let hardware: Bool?

    /// The challenge of all vectors, in base64url.
    package static let challenge = "SIeaR8idBVnfcBJc64GIjtadkHmDZ_g8E8kCAsGel5w"
    /// The browser's JSON of all vectors.
    package static let clientData = """
        {"type":"webauthn.create","challenge":"\(challenge)",\
        "origin":"https://login.example","crossOrigin":false}
        """

    /// The credential's id: 32 bytes that are the same in all vectors.
    package var credentialID: [UInt8]? {
        let object = [UInt8](object)
        let start = object.firstRange(of: [0xd3, 0x51, 0x7d, 0x35])?.lowerBound
        return start.map { Array(object[$0..<($0 + 32)]) }
    }

    package static func all() throws -> [AttestationVector] {
        try VectorFile("webauthn/attestations.json").cases
    }
}

/// A trust anchor of `Vectors/webauthn/anchors.json`.
package struct AnchorVector: Codable, Sendable {
    package let name: String
    package let certificate: Data

    /// The certificates in DER, by their names.
    package static func all() throws -> [String: [UInt8]] {
        let anchors = try VectorFile<AnchorVector>("webauthn/anchors.json").cases
        return Dictionary(uniqueKeysWithValues: anchors.map { ($0.name, [UInt8]($0.certificate)) })
    }
}
