package import WatchwordCryptography

/// An authenticator in software, and the browser in front of it; a test can change what both
/// return.
package struct TestPasskey: Sendable {
    package let key: SigningKey
    package var id = [UInt8](repeating: 7, count: 16)
    /// The id that the browser states, if it is not ``id``.
    package var statedID: [UInt8]?
    package var relyingPartyID = "mill.example"
    /// The flags UP and UV.
    package var flags: UInt8 = 0x05
    package var count: UInt32 = 0
    package var model = [UInt8](repeating: 0, count: 16)
    package var type: String?
    package var challenge: [UInt8]?
    package var origin = "https://mill.example"
    package var isCrossOrigin = false
    package var topOrigin: String?
    package var hasClientData = true
    package var userHandle: [UInt8]?
    package var format = "none"
    package var statement = EncodedCBOR.map([])
    package var algorithm: Int64 = -7
    /// Bytes after the authenticator data.
    package var rest: [UInt8] = []
    /// Whether the signature covers other client data.
    package var signsOtherData = false
    package var signature: [UInt8]?
    /// Changes the browser's JSON.
    package var editClientData: (@Sendable (String) -> [UInt8])?
    /// Changes the encoded public key.
    package var editKey: (@Sendable ([UInt8]) -> [UInt8])?
    /// Changes the authenticator data, before they are signed.
    package var editData: (@Sendable ([UInt8]) -> [UInt8])?
    /// Changes the encoded attestation object.
    package var editObject: (@Sendable ([UInt8]) -> [UInt8])?
    /// Changes the signature in the result.
    package var editSignature: (@Sendable ([UInt8]) throws -> [UInt8])?
    /// Signs in place of ``key``.
    package var signer: (@Sendable ([UInt8]) throws -> [UInt8])?
    /// Makes the attestation statement from the bytes that most formats sign.
    package var attester: (@Sendable ([UInt8]) throws -> EncodedCBOR)?

    /// The flag AT: attested credential data.
    package static let attested: UInt8 = 0x40

    package init(id: [UInt8]? = nil) throws {
        key = try SigningKey.make()
        if let id { self.id = id }
    }

    /// The attestation object for `navigator.credentials.create`, about the browser's JSON.
    package func attestationObject(_ clientData: [UInt8]) throws -> [UInt8] {
        let point = key.point
        let publicKey = EncodedCBOR.numbered([
            1: .integer(2), 3: .integer(algorithm), -1: .integer(1),
            -2: .bytes(Array(point[1..<33])), -3: .bytes(Array(point[33...])),
        ]).encoded
        var data = header(flags | Self.attested)
        data += model
        data += [UInt8(id.count >> 8), UInt8(id.count & 0xff)]
        data += id
        data += editKey?(publicKey) ?? publicKey
        data += rest
        data = editData?(data) ?? data
        let signed = data + sha256(clientData.span)
        let object = EncodedCBOR.named([
            "fmt": .text(format), "attStmt": try attester?(signed) ?? statement,
            "authData": .bytes(data),
        ]).encoded
        return editObject?(object) ?? object
    }

    /// The authenticator data for `navigator.credentials.get`.
    package func authenticatorData() -> [UInt8] {
        let data = header(flags) + rest
        return editData?(data) ?? data
    }

    /// The signature over authenticator data and the browser's JSON.
    package func sign(_ data: [UInt8], _ clientData: [UInt8]) throws -> [UInt8] {
        if let signature { return signature }
        let signed = signsOtherData ? Array("other".utf8) : clientData
        let message = data + sha256(signed.span)
        let made = try signer?(message) ?? key.sign(message.span)
        return try editSignature?(made) ?? made
    }

    /// The browser's JSON about a ceremony.
    package func clientData(_ type: String, _ challenge: [UInt8]) -> [UInt8] {
        guard hasClientData else { return Array("nonsense".utf8) }
        let bytes = self.challenge ?? challenge
        let encoded = Base64URL.encode(bytes.span)
        var text = #"{"type":"\#(self.type ?? type)","challenge":"\#(encoded)","#
        text += #""origin":"\#(origin)","crossOrigin":\#(isCrossOrigin)"#
        if let topOrigin { text += #","topOrigin":"\#(topOrigin)""# }
        text += "}"
        return editClientData?(text) ?? Array(text.utf8)
    }

    private func header(_ flags: UInt8) -> [UInt8] {
        var bytes = sha256(Array(relyingPartyID.utf8).span)
        bytes.append(flags)
        for shift: UInt32 in [24, 16, 8, 0] {
            bytes.append(UInt8(truncatingIfNeeded: count >> shift))
        }
        return bytes
    }
}

// The objects that `toJSON()` returns.
extension TestPasskey {
    /// The browser's result of `navigator.credentials.create`.
    package func createdJSON(_ challenge: [UInt8]) throws -> String {
        let clientData = clientData("webauthn.create", challenge)
        return try json(
            [
                ("clientDataJSON", clientData),
                ("attestationObject", try attestationObject(clientData)),
            ], #","transports":["internal","hybrid"]"#)
    }

    /// The browser's result of `navigator.credentials.get`.
    package func signedJSON(_ challenge: [UInt8]) throws -> String {
        let data = authenticatorData()
        let clientData = clientData("webauthn.get", challenge)
        var members = [
            ("clientDataJSON", clientData), ("authenticatorData", data),
            ("signature", try sign(data, clientData)),
        ]
        if let userHandle { members.append(("userHandle", userHandle)) }
        return try json(members)
    }

    private func json(_ members: [(String, [UInt8])], _ more: String = "") throws -> String {
        let stated = statedID ?? self.id
        let id = Base64URL.encode(stated.span)
        let texts = members.map { #""\#($0)":"\#(Base64URL.encode($1.span))""# }
        return #"{"id":"\#(id)","rawId":"\#(id)","type":"public-key","response":{"#
            + texts.joined(separator: ",") + more
            + #"},"authenticatorAttachment":"platform","clientExtensionResults":{}}"#
    }
}
