import StoreContract
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("Recovery codes")
struct RecoveryTests {
    private func codes(_ fixture: VerifierFixture) async throws -> (CredentialID, [PresentedCode]) {
        let grant = try await fixture.verifier.enrolRecoveryCodes(for: fixture.alice).granted()
        return (grant.credential, try grant.codes.map { try PresentedCode($0) })
    }

    @Test("N-35 a set has ten codes, and each is accepted once")
    func once() async throws {
        let fixture = try VerifierFixture()
        let (id, codes) = try await codes(fixture)
        #expect(codes.count == 10)
        #expect(Set(codes.map(\.characters.text)).count == 10)
        // Stored sets have hashes of this form.
        for code in codes {
            #expect(code.characters.text.split(separator: "-").map(\.count) == [4, 4, 4, 4])
        }
        for (index, code) in codes.reversed().enumerated() {
            let acceptance = try #require(try await fixture.verify(code).acceptance)
            #expect(acceptance.remaining == 9 - index)
            #expect(acceptance.kind == .recovery)
            #expect(acceptance.credential == id)
            #expect(try await fixture.verify(code).denial == .replayed)
        }
        #expect(try await fixture.verify(codes[0]).denial == .replayed)
        #expect(try await fixture.summary(id).failures == 0)
    }

    @Test("a spent code stays spent after its set is sealed under a different key")
    func resealed() async throws {
        let fixture = try VerifierFixture()
        let (id, codes) = try await codes(fixture)
        #expect(try await fixture.verify(codes[0]).acceptance != nil)
        try await fixture.keys.change { try $0.adding(makingCurrent: true) }
        #expect(try await fixture.verifier.rotateKeys().resealed == 1)
        #expect(try await fixture.verify(codes[0]).denial == .replayed)
        #expect(try await fixture.verify(codes[1]).acceptance?.remaining == 8)
        #expect(try await fixture.summary(id).failures == 0)
    }

    @Test("a set without the hashes of its spent codes, as older versions wrote it, still opens")
    func older() async throws {
        let fixture = try VerifierFixture()
        let (id, codes) = try await codes(fixture)
        for code in codes[..<2] { #expect(try await fixture.verify(code).acceptance != nil) }
        var record = try CredentialRecord(try #require(await fixture.store.credential(id)))
        guard case .recovery(let set) = record.material else { throw BenchError.refused }
        let key = await fixture.keys.ring.current
        let hashes = try set.open(for: record.place, under: key)
        #expect(hashes.spent.count == 2)
        record.material = .recovery(
            RecoverySet(
                sealing: RecoverySet.Hashes(left: hashes.left), salt: set.salt, logN: set.logN,
                for: record.place, under: key))
        #expect(try await fixture.store.commit([.updateCredential(record.row)]) == .done)
        #expect(try await fixture.verify(codes[0]).denial == .wrong)
        #expect(try await fixture.verify(codes[2]).acceptance?.remaining == 7)
        #expect(try await fixture.verify(codes[2]).denial == .replayed)
    }

    @Test("N-18 a code is accepted once, even in lower case, without dashes or with spaces")
    func spellings() async throws {
        let fixture = try VerifierFixture()
        let (_, codes) = try await codes(fixture)
        let spellings: [(String) -> String] = [
            { $0.lowercased() }, { $0.filter { $0 != "-" } },
            { $0.map { $0 == "-" ? " " : $0.lowercased() }.joined() },
            { $0.map { "\($0)" }.joined(separator: " ") },
            { String($0.prefix(9)) + $0.dropFirst(9).lowercased() },
        ]
        for (index, spelling) in spellings.enumerated() {
            let shown = codes[index].characters.text
            let typed = try PresentedCode(text: spelling(shown))
            #expect(try await fixture.verify(typed).acceptance?.remaining == 9 - index)
            let again = try PresentedCode(text: spellings[(index + 1) % spellings.count](shown))
            #expect(try await fixture.verify(again).denial == .replayed)
            #expect(try await fixture.verify(codes[index]).denial == .replayed)
        }
    }

    @Test("N-20 V-10 codes are hashed with scrypt and a 128-bit salt, and then sealed")
    func hashed() async throws {
        let fixture = try VerifierFixture()
        let (id, codes) = try await codes(fixture)
        let row = try #require(await fixture.store.credential(id))
        guard case .recovery(let set) = try CredentialRecord(row).material else {
            throw BenchError.refused
        }
        #expect(set.salt.count == 16)
        for code in codes { #expect(!row.body.contains(code.characters.known[...])) }
        let key = await fixture.keys.ring.current
        let hashes = try set.open(for: CredentialRecord(row).place, under: key).left
        let expected = try scrypt(
            passphrase: codes[3].characters, salt: set.salt.span, cost: .lowest,
            count: 32)
        #expect(hashes[3] == expected)
        #expect(hashes.count == 10)
    }

    @Test("H-16 a set of codes opens only for its own row, salt, cost and count")
    func bound() throws {
        let ring = try KeyRing.make().adding(makingCurrent: true)
        let (old, new) = (ring.versions[0], ring.versions[1])
        let alice = try #require(Subject("alice"))
        let bob = try #require(Subject("bob"))
        let place = SealingContext(id: .sample(1), subject: alice, kind: .recovery)
        let hashes = [try SecretBytes(hex: String(repeating: "5a", count: 32))]
        let salt = [UInt8](repeating: 7, count: RecoverySet.saltCount)
        let set = RecoverySet(
            sealing: RecoverySet.Hashes(left: hashes), salt: salt, logN: 10, for: place, under: old)
        #expect(try set.open(for: place, under: old).left.map(\.known) == hashes.map(\.known))
        for other in [
            SealingContext(id: .sample(2), subject: alice, kind: .recovery),
            SealingContext(id: .sample(1), subject: bob, kind: .recovery),
            SealingContext(id: .sample(1), subject: alice, kind: .totp),
        ] {
            #expect(throws: VerifierError.self) { try set.open(for: other, under: old) }
        }
        #expect(throws: VerifierError.self) { try set.open(for: place, under: new) }
        // The fields outside the box are also authenticated: the salt, the cost and the count.
        var writer = ByteWriter()
        set.write(into: &writer)
        let cost = try #require(writer.bytes.firstIndex(of: 7)) + salt.count
        #expect(writer.bytes[cost...].starts(with: [10, 1]))
        for index in cost - 2...cost + 1 {
            var bytes = writer.bytes
            bytes[index] += 1
            var reader = ByteReader(bytes)
            let changed = try RecoverySet(from: &reader)
            #expect(throws: VerifierError.self, "byte \(index)") {
                try changed.open(for: place, under: old)
            }
        }
    }

    @Test("H-16 no code of a set is accepted after the set is moved to another subject's row")
    func swappedRows() async throws {
        let fixture = try VerifierFixture()
        let mallory = try #require(Subject("mallory"))
        let (id, _) = try await codes(fixture)
        let own = try await fixture.verifier.enrolRecoveryCodes(for: mallory).granted()
        let stolen = try #require(await fixture.store.credential(own.credential))
        let target = try #require(await fixture.store.credential(id))
        let swapped = target.next(body: stolen.body)
        #expect(try await fixture.store.commit([.updateCredential(swapped)]) == .done)
        await #expect(throws: VerifierError.self) {
            try await fixture.verify(PresentedCode(own.codes[0]))
        }
    }

    @Test("N-21 wrong recovery codes impose a wait")
    func throttled() async throws {
        let fixture = try VerifierFixture()
        let (id, codes) = try await codes(fixture)
        let wrong = try PresentedCode(text: "AAAA-AAAA-AAAA-AAAA")
        for _ in 0..<Policy.failuresUntilWait {
            #expect(try await fixture.verify(wrong).denial == .wrong)
        }
        let denial = try await fixture.verify(codes[0]).denial
        #expect(denial == .throttled(retryAfter: Policy.firstWait))
        fixture.clock.now = fixture.clock.now.adding(milliseconds: Policy.firstWait)
        #expect(try await fixture.verify(codes[0]).acceptance != nil)
        #expect(try await fixture.summary(id).failures == 0)
    }

    @Test("N-21 N-35 wrong recovery codes never disable a set, and never extend the first wait")
    func attacked() async throws {
        let fixture = try VerifierFixture()
        let (id, codes) = try await codes(fixture)
        let wrong = try PresentedCode(text: "AAAA-AAAA-AAAA-AAAA")
        for _ in 1..<Policy.failuresUntilWait {
            #expect(try await fixture.verify(wrong).denial == .wrong)
        }
        for _ in 0..<200 {
            #expect(try await fixture.verify(wrong).denial == .wrong)
            let denial = try await fixture.verify(codes[0]).denial
            #expect(denial == .throttled(retryAfter: Policy.firstWait))
            fixture.clock.now = fixture.clock.now.adding(milliseconds: Policy.firstWait)
        }
        #expect(
            try await fixture.summary(id).failures == Policy.failuresUntilWait - 1 + 200
        )
        #expect(try await fixture.verify(codes[0]).acceptance != nil)
    }

    @Test("a wrong recovery code does not count against a one-time password")
    func separate() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        _ = try await codes(fixture)
        _ = try await fixture.verify(PresentedCode(text: "AAAA-AAAA-AAAA-AAAA"))
        #expect(try await fixture.summary(authenticator.credential).failures == 0)
    }

    @Test("N-35 a new set replaces the old set, whose codes are denied")
    func replaced() async throws {
        let fixture = try VerifierFixture()
        let (old, oldCodes) = try await codes(fixture)
        let (_, newCodes) = try await codes(fixture)
        #expect(try await fixture.summary(old).endReason == .replaced)
        #expect(try await fixture.verify(oldCodes[0]).denial == .wrong)
        #expect(try await fixture.verify(newCodes[0]).acceptance != nil)
    }

    @Test("a client replaces its own set, and other clients' sets if it can manage credentials")
    func replacedByClients() async throws {
        let fixture = try VerifierFixture()
        let (shop, other) = (Origin(client: 1), Origin(client: 2))
        func enrol(_ origin: Origin, canManage: Bool = false) async throws -> Bool {
            let outcome = try await fixture.verifier.enrolRecoveryCodes(
                for: fixture.alice, canManage: canManage, origin: origin)
            switch outcome {
            case .granted: return true
            case .refused(let refusal):
                #expect(refusal == .foreignCredential)
                return false
            }
        }
        // A set from an older version does not record its client.
        let (old, _) = try await codes(fixture)
        #expect(try await enrol(shop))
        #expect(try await fixture.summary(old).state == .revoked)
        #expect(try await enrol(shop))
        #expect(try await !enrol(other))
        #expect(try await enrol(other, canManage: true))
        #expect(try await !enrol(shop))
    }

    @Test("N-36 the use of a recovery code notifies the subject")
    func notification() async throws {
        let fixture = try VerifierFixture()
        let (_, codes) = try await codes(fixture)
        _ = try await fixture.verify(codes[0])
        let event = try #require(try await fixture.events().last)
        #expect(event.kind == .accepted)
        #expect(event.reason == .recoveryCode)
        #expect(event.number == 9)
        #expect(event.isNotification)
    }

    @Test("the queue of recovery-code hashes is limited")
    func overloaded() async throws {
        let hashing = RecoveryHashing(limit: 0)
        let code = SecretBytes(text: "AAAA-AAAA-AAAA-AAAA")
        // With a limit of 0, even the first request is refused.
        await #expect(throws: VerifierError.self) {
            try await hashing.hash(
                code, salt: [UInt8](repeating: 0, count: 16), logN: 10, for: nil, meter: nil)
        }
        let roomy = RecoveryHashing(limit: 1)
        for _ in 0..<2 {
            _ = try await roomy.hash(
                code, salt: [UInt8](repeating: 0, count: 16), logN: 10, for: nil, meter: nil)
        }
    }

    @Test("one client fills at most half of the queue of recovery-code hashes")
    func shares() throws {
        let hashing = RecoveryHashing(limit: 6)
        let clients = (1...3).map { ClientID(bytes: [UInt8](repeating: $0, count: 16)) }
        #expect((0..<5).map { _ in hashing.enter(clients[0]) } == [true, true, true, false, false])
        #expect((0..<4).map { _ in hashing.enter(clients[1]) } == [true, true, true, false])
        #expect(!hashing.enter(clients[2]))
    }
}
