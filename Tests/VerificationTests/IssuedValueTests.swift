import OneTimePassword
import Synchronization
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

/// Values issued by the verifier that must be unguessable.
@Suite("Issued values")
struct IssuedValueTests {
    /// The kinds of value that the verifier issues.
    enum Kind: CaseIterable {
        case keySHA1, keySHA256, keySHA512, recoveryCode, enrolmentTicket, firstSecret, clientKey
        case nextSecret, loginTicket

        /// The required number of random bytes.
        var count: Int {
            switch self {
            case .keySHA1: 20
            case .recoveryCode: 10
            case .keySHA512: 64
            default: 32
            }
        }

        /// Whether the value is derived, so that a repeated request returns the same value again.
        var isDerived: Bool { self == .nextSecret || self == .loginTicket }

        /// Issues one value of this kind.
        func issue(_ fixture: VerifierFixture) async throws -> [UInt8] {
            switch self {
            case .keySHA1: return try await fixture.enrol(algorithm: .sha1).entry.key.known
            case .keySHA256: return try await fixture.enrol(algorithm: .sha256).entry.key.known
            case .keySHA512: return try await fixture.enrol(algorithm: .sha512).entry.key.known
            case .recoveryCode:
                let grant = try await fixture.verifier.enrolRecoveryCodes(for: fixture.alice)
                    .granted()
                let characters = grant.codes[9].text.filter { $0 != "-" }
                return try Base32.decode(Array(characters.utf8).span).known
            case .enrolmentTicket: return try await fixture.ticket().ticket.bytes.known
            case .firstSecret: return try await fixture.enrolledDevice().secret.secretPart
            case .clientKey:
                let name = "shop \(UInt64.random(in: 0 ... .max))"
                let added = try #require(
                    try await fixture.verifier.addClient(named: name, scopes: []))
                // The mark that follows is derived from these bytes.
                return Array(added.key.bytes.known.prefix(32))
            case .nextSecret: return try await login(fixture).secret.secretPart
            case .loginTicket: return try await login(fixture).login.bytes.known
            }
        }

        private func login(_ fixture: VerifierFixture) async throws -> LoginOutcome.Acceptance {
            let device = try await fixture.enrolledDevice()
            return try #require(try await fixture.login(device, nonce: 1).acceptance)
        }
    }

    @Test(
        "H-18 V-11 V-25 N-17 N-30 an issued value is the unchanged output of the random source",
        arguments: Kind.allCases.filter { !$0.isDerived })
    func source(kind: Kind) async throws {
        let recorded = RecordedRandomness()
        let fixture = try VerifierFixture(randomness: recorded.source)
        let issued = try await kind.issue(fixture)
        #expect(issued.count == kind.count)
        #expect(recorded.secrets.contains { $0 == issued })
    }

    @Test(
        "V-25 N-17 N-30 N-34 every bit of an issued value varies, and no byte repeats another byte",
        arguments: Kind.allCases)
    func variation(kind: Kind) async throws {
        let fixture = try VerifierFixture(policy: Policy(maximumCredentials: 100))
        var values: [[UInt8]] = []
        for _ in 0..<BitVariation.valueCount { values.append(try await kind.issue(fixture)) }
        #expect(Set(values.map(\.count)) == [kind.count])
        let variation = BitVariation(values)
        #expect(variation.constantBytes == [])
        #expect(variation.repeatedBytes == [])
    }

    @Test("V-25 N-30 ids and salts have 128 random bits and are not UUIDs")
    func identifiers() async throws {
        let fixture = try VerifierFixture()
        var ids: [String: [[UInt8]]] = [:]
        for number in 0..<BitVariation.valueCount {
            let subject = try #require(Subject("subject \(number)"))
            let grant = try await fixture.verifier.enrolRecoveryCodes(for: subject).granted()
            let row = try #require(await fixture.store.credential(grant.credential))
            guard case .recovery(let set) = try CredentialRecord(row).material else {
                throw BenchError.refused
            }
            let name = "shop \(number)"
            let client = try #require(
                try await fixture.verifier.addClient(named: name, scopes: [])
            ).client
            let verification = try #require(try await fixture.events().last?.verification)
            ids["credential", default: []].append(grant.credential.bytes)
            ids["salt", default: []].append(set.salt)
            ids["client", default: []].append(client.id)
            ids["verification", default: []].append(verification.bytes)
        }
        #expect(ids.count == 4)
        for (name, values) in ids {
            #expect(Set(values.map(\.count)) == [16], "\(name)")
            let variation = BitVariation(values)
            #expect(variation.constantBytes == [], "\(name)")
            #expect(variation.repeatedBytes == [], "\(name)")
        }
    }

    @Test("H-18 V-11 N-30 each key of the key ring is 32 bytes from the random source")
    func keys() throws {
        let recorded = RecordedRandomness()
        let ring = try KeyRing.make(randomness: recorded.source)
            .adding(makingCurrent: true, randomness: recorded.source)
        let made = ring.versions.map(\.secret.known) + [ring.lookupSecret.known]
        #expect(made.map(\.count) == [32, 32, 32])
        #expect(Set(made) == Set(recorded.secrets))
        #expect(Set(made).count == 3)
    }

    @Test("V-25 a ticket or API key with any byte changed is refused")
    func everyByte() async throws {
        let fixture = try VerifierFixture()
        let grant = try await fixture.ticket()
        let key = try #require(
            try await fixture.verifier.addClient(named: "shop", scopes: [])
        ).key
        for index in 0..<32 {
            let ticket = try await fixture.verifier.redeemEnrolment(grant.ticket.changed(at: index))
            #expect(ticket.value == nil, "byte \(index) of an enrolment ticket")
            let client = try await fixture.verifier.client(presenting: key.changed(at: index))
            #expect(client == nil, "byte \(index) of an API key")
        }
        #expect(try await fixture.verifier.client(presenting: key) != nil)
        let secret = try #require(try await fixture.verifier.redeemEnrolment(grant.ticket).value)
        let device = TestDevice(credential: secret.credential, secret: secret.secret)
        let login = try #require(try await fixture.login(device, nonce: 1).acceptance).login
        for index in 0..<32 {
            let signedIn = try await fixture.verifier.redeemLogin(login.changed(at: index))
            #expect(signedIn.value == nil, "byte \(index) of a login ticket")
        }
        #expect(try await fixture.verifier.redeemLogin(login).value != nil)
    }
}

/// A random source that records the secrets it returns.
final class RecordedRandomness: Sendable {
    private let given = Mutex<[[UInt8]]>([])

    /// All secrets that the source has returned.
    var secrets: [[UInt8]] { given.withLock { $0 } }

    var source: RandomSource {
        RandomSource(
            bytes: { count in Randomness.bytes(count: count) },
            secret: { count in
                let secret = Randomness.secret(count: count)
                self.given.withLock { $0.append(secret.known) }
                return secret
            })
    }
}

extension Token {
    /// The bytes that only the holder of an enrolled secret knows.
    fileprivate var secretPart: [UInt8] { Array(bytes.known.prefix(SecretParts.secretCount)) }

    /// The same token with one bit changed.
    fileprivate func changed(at index: Int) -> Token {
        var changed = bytes.known
        changed[index] ^= 1
        return Token(kind, SecretBytes(copying: changed.span))
    }
}
