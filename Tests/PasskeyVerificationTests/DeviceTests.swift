import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import PasskeyVerification

@Suite("Registrations of devices")
struct DeviceTests {
    struct Vector: Codable, Sendable {
        let name: String
        let object: Data
        let clientData: String
        let relyingParty: String
    }

    @Test(
        "K-63 the attestations of an iPhone, an Android key and Windows Hello, which uses SHA-1, are verified, and anchored until they expire"
    )
    func registrations() throws {
        for vector in try VectorFile<Vector>("webauthn/devices.json").cases {
            let object = try AttestationObject([UInt8](vector.object))
            let relyingParty = Array(vector.relyingParty.utf8)
            #expect(
                object.registration.data.denial(
                    relyingPartyHash: sha256(relyingParty.span),
                    requiresUserVerification: false) == nil)
            let clientData = Array(vector.clientData.utf8)
            let hash = sha256(clientData.span)
            let outcome = try object.verify(clientDataHash: hash)
            let found = try #require(outcome.certificates, "\(vector.name)")
            if case .verified(.weaklyCertified) = outcome {
                #expect(vector.name == "tpm")
            } else {
                #expect(vector.name != "tpm")
            }
            #expect(found.isKeyInHardware)
            #expect(found.chain.count == 2)
            // The trust anchor is the intermediate certificate.
            let anchors = try TrustAnchors([found.chain[1]])
            let inSeptember2021: Int64 = 1_630_540_800
            let inNovember2026: Int64 = 1_795_000_000
            #expect(try anchors.check(found.chain, at: inSeptember2021) == .anchored)
            #expect(
                try anchors.check(found.chain, at: inNovember2026)
                    == (vector.name == "android-key" ? .anchored : .refused(.expired)))
            #expect(
                try TrustAnchors([]).check(found.chain, at: inSeptember2021)
                    == .refused(.notAnchored))
        }
    }
}
