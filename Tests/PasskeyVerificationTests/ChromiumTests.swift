import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import PasskeyVerification

@Suite("Ceremonies in Chromium")
struct ChromiumTests {
    struct Vector: Codable, Sendable {
        let name: String
        let object: Data
        let clientData: String
        let verdict: String
        let assertion: Assertion
    }

    struct Assertion: Codable, Sendable {
        let authenticatorData: Data
        let clientData: String
        let signature: Data
    }

    private let vectors: [Vector]
    private let relyingParty: [UInt8]

    init() throws {
        vectors = try VectorFile<Vector>("webauthn/chromium.json").cases
        let name = Array("localhost".utf8)
        relyingParty = sha256(name.span)
    }

    @Test("registrations and signatures of Chromium's authenticators are accepted")
    func ceremonies() throws {
        for vector in vectors {
            let object = try AttestationObject([UInt8](vector.object))
            let hash = digest(vector.clientData)
            switch try object.verify(clientDataHash: hash) {
            case .verified(.none): #expect(vector.verdict == "none")
            case .verified(.certified(let certificates)):
                #expect(vector.verdict == "certified")
                // The certificate is self-signed.
                let anchors = try TrustAnchors(certificates.chain)
                #expect(certificates.chain.count == 1)
                #expect(anchors.count == 1)
            default: Issue.record("\(vector.name) is not verified")
            }
            let isVerified = object.registration.data.flags.isUserVerified
            #expect(
                object.registration.data.denial(
                    relyingPartyHash: relyingParty, requiresUserVerification: isVerified) == nil)
            let data = try AuthenticatorData(assertion: [UInt8](vector.assertion.authenticatorData))
            let key = try COSEKey.read(object.registration.encodedKey)
            #expect(
                try data.isSigned(
                    [UInt8](vector.assertion.signature), by: key,
                    clientDataHash: digest(vector.assertion.clientData)), "\(vector.name)")
            #expect(
                data.flags.isBackupEligible == object.registration.data.flags.isBackupEligible)
        }
        #expect(vectors.contains { $0.name.contains("backed up") })
    }

    @Test("the signature of a different credential is refused")
    func anotherCredential() throws {
        let keys = try vectors.map { vector in
            try AttestationObject([UInt8](vector.object)).registration.key
        }
        for (index, vector) in vectors.enumerated() {
            let data = try AuthenticatorData(assertion: [UInt8](vector.assertion.authenticatorData))
            for (other, key) in keys.enumerated() where other != index {
                #expect(
                    try !data.isSigned(
                        [UInt8](vector.assertion.signature), by: key,
                        clientDataHash: digest(vector.assertion.clientData)))
            }
        }
    }

    private func digest(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return sha256(bytes.span)
    }
}
