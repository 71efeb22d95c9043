import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import PasskeyVerification
@testable import Verification

/// The trusted attestations, and the effect of each policy on attestations.
@Suite("Trust in the makers of passkeys")
struct PasskeyTrustTests {
    private let vectors: [AttestationVector]
    private let anchors: [String: TrustAnchors]

    init() throws {
        vectors = try AttestationVector.all()
        anchors = try AnchorVector.all().mapValues { try TrustAnchors([Certificate($0)]) }
    }

    /// The recorded facts about the vector's passkey with this trust, or the reason for a denial.
    private func result(
        _ vector: AttestationVector, _ trust: AttestationTrust,
        under policy: PasskeyPolicy.Attestation = .any
    ) async throws -> (text: String, leafDigest: [UInt8]?, event: Event.Reason?) {
        let fixture = try VerifierFixture()
        let passkeys = Passkeys(
            fixture.verifier,
            for: try RelyingParty(
                ids: ["login.example"], name: "Mill", origins: ["https://login.example"],
                algorithms: SignatureAlgorithm.allCases, trust: trust))
        let grant = try await passkeys.beginRegistration(
            PasskeyEnrolment(
                for: fixture.alice,
                policy: PasskeyPolicy(userVerification: .preferred, attestation: policy))
        ).granted()
        let clientData = Array(AttestationVector.clientData.utf8)
        let outcome = try await passkeys.finishRegistration(
            of: grant.credential,
            with: RegistrationResponse(
                credentialID: #require(vector.credentialID),
                clientData: ClientData(
                    type: "webauthn.create",
                    challenge: Base64URL.encode(grant.options.challenge.span),
                    origin: "https://login.example", isCrossOrigin: false, topOrigin: nil,
                    digest: sha256(clientData.span)),
                attestationObject: [UInt8](vector.object), transports: []))
        let event = try await fixture.events().last
        switch outcome {
        case .accepted(let facts):
            #expect(event?.kind == .enrolled)
            let passkey = try await fixture.registeredPasskey(grant.credential)
            return (facts.attestation, passkey.leafDigest, event?.reason)
        case .denied(let reason):
            #expect(event?.kind == .denied)
            return (reason.ceremonyName, nil, event?.reason)
        case nil: throw BenchError.refused
        }
    }

    /// The DER sequence that begins here; its length has two bytes.
    private static func certificate(in bytes: [UInt8], at start: Int) -> [UInt8]? {
        guard bytes[start...].starts(with: [0x30, 0x82]) else { return nil }
        let count = 4 + Int(bytes[start + 2]) << 8 + Int(bytes[start + 3])
        return start + count <= bytes.count ? Array(bytes[start..<(start + count)]) : nil
    }

    @Test(
        "N-41 K-57 K-58 K-59 K-60 K-61 K-62 K-63 K-64 K-65 the chain and the policy determine the result of each statement, and its leaf is recorded",
        arguments: PasskeyPolicy.Attestation.allCases)
    func policies(policy: PasskeyPolicy.Attestation) async throws {
        var results: [String: Int] = [:]
        for vector in vectors {
            let trust = AttestationTrust(anchors: anchors[vector.anchor ?? "root"], models: nil)
            let result = try await result(vector, trust, under: policy)
            #expect(result.text == vector.expectation(policy), "\(vector.name)")
            results[result.text, default: 0] += 1
            // An accepted passkey has a reason only if SHA-1 keeps it from being trusted.
            if ["none", "self", "unverified", "trusted"].contains(result.text) {
                #expect(
                    result.event == (vector.verdict == "weak" ? .attestationWeak : nil),
                    "\(vector.name)")
            } else {
                #expect(result.event != nil)
            }
            guard ["trusted", "unverified"].contains(result.text),
                ["certified", "weak"].contains(vector.verdict)
            else {
                #expect(result.leafDigest == nil, "\(vector.name)")
                continue
            }
            // The first element of x5c follows the name, the head of the list and the element's own
            // head.
            let object = [UInt8](vector.object)
            let list = try #require(object.firstRange(of: Array("x5c".utf8))).upperBound
            let leaf = try #require(Self.certificate(in: object, at: list + 4))
            let digest = sha256(leaf.span)
            #expect(result.leafDigest == digest, "\(vector.name)")
        }
        #expect((results["trusted"] ?? 0) > 15)
    }

    @Test("K-57 a model is trusted only if it is listed, and only by its own anchors if it has any")
    func models() async throws {
        let (root, another) = (anchors["root"], anchors["another root"])
        let packed = try #require(vectors.first { $0.name == "packed, certified" })
        let model = try AttestationObject([UInt8](packed.object)).registration.model
        let other = [UInt8](repeating: 9, count: 16)
        typealias Model = AttestationTrust.Model
        for (anchors, models, expected) in [
            (root, nil, "trusted"), (root, [], "unverified"),
            (root, [Model(id: other)], "unverified"),
            (root, [Model(id: other), Model(id: model)], "trusted"),
            (another, [Model(id: model)], "unverified"),
            (another, [Model(id: model, anchors: root)], "trusted"),
            (root, [Model(id: model, anchors: another)], "unverified"),
            (nil, nil, "unverified"), (nil, [Model(id: model)], "unverified"),
            (nil, [Model(id: model, anchors: root)], "trusted"),
            (another, [Model(id: other, anchors: root), Model(id: model)], "unverified"),
        ] as [(TrustAnchors?, [Model]?, String)] {
            let trust = AttestationTrust(anchors: anchors, models: models)
            let ids = models.map { $0.map { ($0.id == model, $0.anchors != nil) } }
            #expect(try await result(packed, trust).text == expected, "\(ids ?? [])")
        }
        // The model of a U2F key is not signed, so only the model of zeros represents it.
        let key = try #require(
            vectors.first { $0.name == "fido-u2f, another AAGUID, which is not signed" })
        let stated = try AttestationObject([UInt8](key.object)).registration.model
        let zeros = [UInt8](repeating: 0, count: 16)
        #expect(stated != zeros)
        for (id, expected) in [(stated, "unverified"), (zeros, "trusted")] {
            let trust = AttestationTrust(anchors: root, models: [Model(id: id)])
            #expect(try await result(key, trust).text == expected)
        }
    }
}

extension AttestationVector {
    /// The recorded facts about a passkey with this statement under this policy, if the vector's
    /// anchor is trusted; or the reason for a denial.
    fileprivate func expectation(_ policy: PasskeyPolicy.Attestation) -> String {
        let kind: String
        switch verdict {
        case "none", "self": kind = verdict
        case "certified":
            kind = chain == "anchored" && hardware != false ? "trusted" : "unverified"
        case "weak": return policy == .trusted ? "attestation-weak" : "unverified"
        case "unknown": return policy == .none ? "unverified" : "attestation-format"
        default: return verdict
        }
        return policy == .trusted && kind != "trusted" ? "attestation-untrusted" : kind
    }
}
