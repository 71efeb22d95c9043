import Foundation
import TestSupport
import Testing
import Verification
import WatchwordCryptography

@testable import PasskeyVerification

@Suite("Attestation objects")
struct AttestationVectorTests {
    /// The time is in November 2026.
    private static let time: Int64 = 1_795_000_000

    private let vectors: [AttestationVector]
    private let anchors: [String: TrustAnchors]
    private let hash: [UInt8]

    init() throws {
        vectors = try AttestationVector.all()
        anchors = try AnchorVector.all().mapValues { try TrustAnchors([Certificate($0)]) }
        let clientData = Array(AttestationVector.clientData.utf8)
        hash = sha256(clientData.span)
    }

    @Test(
        "W-09 N-41 K-57, K-58, K-59, K-60, K-61, K-62, K-63, K-64 and K-65 each statement gets the expected verdict",
        arguments: ["none", "packed", "fido-u2f", "tpm", "android-key", "apple", "mill"])
    func verdicts(format: String) throws {
        var count = 0
        for vector in vectors {
            let object: AttestationObject
            do {
                object = try AttestationObject([UInt8](vector.object))
            } catch {
                // Objects that do not decode are counted with the format "none".
                if format == "none" {
                    #expect(error.ceremonyName == vector.verdict, "\(vector.name)")
                    count += 1
                }
                continue
            }
            guard object.format == format else { continue }
            count += 1
            let outcome = try object.verify(clientDataHash: hash)
            #expect(name(of: outcome) == vector.verdict, "\(vector.name)")
            guard let certificates = outcome.certificates else { continue }
            let anchor = try #require(anchors[vector.anchor ?? "root"])
            let chain = try anchor.check(certificates.chain, at: Self.time)
            #expect(name(of: chain) == vector.chain, "\(vector.name)")
            #expect(certificates.isKeyInHardware == (vector.hardware ?? true), "\(vector.name)")
            let model =
                format == "fido-u2f" ? .init(repeating: 0, count: 16) : object.registration.model
            #expect(certificates.model == model, "\(vector.name)")
        }
        #expect(count > 0)
    }

    @Test(
        "a valid object with any byte changed is refused",
        arguments: [
            "packed, self", "packed, certified", "tpm, a P-256 key", "tpm, an RSA key",
            "android-key, in the trusted environment", "apple", "fido-u2f",
            "apple, with alg, as in 2020", "K-63 tpm, RS1, signed with SHA-1",
        ])
    func changedByte(name: String) throws {
        let vector = try #require(vectors.first { $0.name == name })
        let good = [UInt8](vector.object)
        let anchor = vector.anchor ?? "root"
        #expect(try isAccepted(good, anchor))
        // A U2F signature covers neither flags, count nor AAGUID.
        let data = try AttestationObject(good).registration.data.encoded
        let start = try #require(good.firstRange(of: data)).lowerBound
        let unsigned = vector.name == "fido-u2f" ? (start + 32)..<(start + 53) : 0..<0
        var generator = SeededGenerator(seed: 28)
        var accepted: [Int] = []
        for index in good.indices where !unsigned.contains(index) {
            var changed = good
            changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            if try isAccepted(changed, anchor) { accepted.append(index) }
        }
        #expect(accepted.isEmpty)
    }

    @Test(
        "different client data is refused", arguments: ["packed, self", "apple", "tpm, an RSA key"])
    func otherClientData(name: String) throws {
        let vector = try #require(vectors.first { $0.name == name })
        let object = try AttestationObject([UInt8](vector.object))
        for index in hash.indices {
            var other = hash
            other[index] ^= 1
            guard case .denied(.attestation) = try object.verify(clientDataHash: other) else {
                Issue.record("byte \(index) of the hash")
                continue
            }
        }
    }

    /// Whether the object decodes, its statement is verified and, if it has certificates, they
    /// chain to an anchor.
    private func isAccepted(_ encoded: [UInt8], _ anchor: String) throws -> Bool {
        let object: AttestationObject
        do { object = try AttestationObject(encoded) } catch { return false }
        let outcome = try object.verify(clientDataHash: hash)
        if case .verified(.selfAttested) = outcome { return true }
        guard let certificates = outcome.certificates else { return false }
        return try anchors[anchor]?.check(certificates.chain, at: Self.time) == .anchored
    }

    private func name(of outcome: AttestationOutcome) -> String {
        switch outcome {
        case .denied(let reason): reason.ceremonyName
        case .verified(.none): "none"
        case .verified(.selfAttested): "self"
        case .verified(.certified): "certified"
        case .verified(.weaklyCertified): "weak"
        case .verified(.unknownFormat): "unknown"
        }
    }

    private func name(of outcome: ChainOutcome) -> String {
        switch outcome {
        case .anchored: "anchored"
        case .refused(let refusal): "\(refusal)"
        }
    }
}

extension AttestationOutcome {
    /// The certificates, if the statement is valid and has any.
    var certificates: AttestationCertificates? {
        switch self {
        case .verified(.certified(let found)), .verified(.weaklyCertified(let found)): found
        case .verified(.none), .verified(.selfAttested), .verified(.unknownFormat), .denied: nil
        }
    }
}
