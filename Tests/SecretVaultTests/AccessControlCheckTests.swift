import Devices
import Foundation
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// A check with a fixed result, which first runs `meanwhile`.
struct Answering: PresenceCheck {
    typealias Grade = Advisory
    struct Broken: PresenceFailure, Equatable { let mayConcealAttempt: Bool }

    let answer: Result<Bool, Broken>
    var meanwhile: () throws -> Void = {}

    mutating func isPresent(for purpose: String) throws(Broken) -> Bool {
        do { try meanwhile() } catch { Issue.record(error) }
        return try answer.get()
    }
}

struct AccessControlCheckTests {
    typealias Refusal = NoProof<Answering.Broken>

    static let perUse = AccessControl(presence: .perUse(.any), onFailure: .lockOut)
    static let wiping = AccessControl(
        presence: .perUse(.any), onFailure: .wipe(after: .three))
    static var no: Answering { Answering(answer: .success(false)) }
    static var yes: Answering { Answering(answer: .success(true)) }
    /// The expected outcomes of the first failed check in a row, of the check that causes the first
    /// wait, and of an attempt during that wait.
    static let firstRefusal = Refusal.refused(.free(left: LockOutPolicy.failuresUntilWait - 2))
    static let firstWait = Refusal.refused(.wait(seconds: LockOutPolicy.firstWait))
    static let locked = Refusal.vault(.lockedOut(seconds: LockOutPolicy.firstWait))

    /// A vault whose first entry has this access control.
    func made(_ access: AccessControl = perUse) throws -> (TestVault, [RecordID]) {
        let vault = try TestVault(recoveryKey: true)
        let ids = try vault.fill()
        try vault.unlock().update { changes throws(VaultError) in
            try changes.setAccessControl(of: ids[0], to: access)
            try changes.setAccessControl(of: ids[3], to: .standard(for: .totp))
        }
        return (vault, ids)
    }

    /// Runs the check and, if it passes, opens the entry; returns the issuer or the reason for the
    /// refusal.
    func outcome(
        _ check: Answering, _ open: UnlockedVault, _ id: RecordID,
        at clock: TestClock = TestClock()
    ) throws -> String {
        var check = check
        do {
            let proof = try open.proof(&check, for: id, reading: clock.reading)
            return try open.open(id, proof: proof).issuer
        } catch let error as Refusal {
            return "\(error)"
        }
    }

    /// Runs `count` checks that fail.
    func refuse(
        _ count: Int, _ open: UnlockedVault, _ id: RecordID, at clock: TestClock = TestClock()
    ) throws {
        for _ in 0..<count { _ = try outcome(Self.no, open, id, at: clock) }
    }

    @Test("a passed check opens the entry and clears its failures")
    func yes() throws {
        let (vault, ids) = try made()
        let open = try vault.unlock()
        for count in (0..<LockOutPolicy.failuresUntilWait - 1).reversed() {
            #expect(
                try outcome(Self.no, open, ids[0])
                    == "\(Refusal.refused(.free(left: count)))")
        }
        let line = try VaultDocument(parsing: vault.bytes()).records[0]
        let subject = Attempts.Subject.record(ids[0], revision: line.revision)
        #expect(try vault.attempts()[subject]?.count == LockOutPolicy.firstFailureWithWait - 1)
        #expect(try outcome(Self.yes, open, ids[0]) == "GitHub")
        #expect(try vault.attempts().isEmpty)
    }

    @Test("failed checks lock out only that entry, not other entries or the vault")
    func wait() throws {
        let (vault, ids) = try made()
        let open = try vault.unlock()
        var clock = TestClock()
        try refuse(LockOutPolicy.failuresUntilWait - 1, open, ids[0], at: clock)
        #expect(try outcome(Self.no, open, ids[0], at: clock) == "\(Self.firstWait)")
        clock.pass(LockOutPolicy.firstWait - 1)
        let refusal = "\(Refusal.vault(.lockedOut(seconds: 1)))"
        #expect(try outcome(Self.yes, open, ids[0], at: clock) == refusal)
        #expect(try open.lockOut(of: ids[0], reading: clock.reading).seconds == 1)
        #expect(throws: VaultError.lockedOut(seconds: 1)) {
            _ = try open.proofOfUnlocking(for: ids[0], reading: clock.reading)
        }
        #expect(try outcome(Self.yes, open, ids[2], at: clock) == "Wi-Fi")
        #expect(throws: Never.self) { try vault.unlock() }
        clock.pass(1)
        let secondWait = LockOutPolicy.secondWait
        #expect(
            try outcome(Self.no, open, ids[0], at: clock)
                == "\(Refusal.refused(.wait(seconds: secondWait)))")
        clock.pass(secondWait)
        #expect(try outcome(Self.yes, open, ids[0], at: clock) == "GitHub")
    }

    @Test("after a reboot, a refused check measures the rest of the wait on the boot clock")
    func waitAfterReboot() throws {
        let (vault, ids) = try made()
        let open = try vault.unlock()
        var clock = TestClock()
        try refuse(LockOutPolicy.failuresUntilWait, open, ids[0], at: clock)
        clock.reboot(off: 30)
        let refusal = "\(Refusal.vault(.lockedOut(seconds: LockOutPolicy.firstWait - 30)))"
        #expect(try outcome(Self.yes, open, ids[0], at: clock) == refusal)
        // From here on, setting the wall clock has no effect.
        clock.wall += 3600
        #expect(try outcome(Self.yes, open, ids[0], at: clock) == refusal)
    }

    @Test("a check without a result is not counted, unless it may conceal an attempt")
    func broken() throws {
        let (vault, ids) = try made()
        let open = try vault.unlock()
        let deaf = Answering.Broken(mayConcealAttempt: false)
        let sly = Answering.Broken(mayConcealAttempt: true)
        for _ in 0..<7 {
            #expect(
                try outcome(Answering(answer: .failure(deaf)), open, ids[0])
                    == "\(Refusal.check(deaf))")
        }
        #expect(try vault.attempts().isEmpty)
        for _ in 0..<LockOutPolicy.failuresUntilWait {
            #expect(
                try outcome(Answering(answer: .failure(sly)), open, ids[0])
                    == "\(Refusal.check(sly))")
        }
        #expect(try outcome(Self.yes, open, ids[0]) == "\(Self.locked)")
    }

    @Test("O-11 a check without a result never wipes an entry, even if it may conceal an attempt")
    func brokenNeverWipes() throws {
        let once = AccessControl(
            presence: .perUse(.any), onFailure: .wipe(after: try #require(FailureCount(1))))
        let (vault, ids) = try made(once)
        let open = try vault.unlock()
        let sly = Answering.Broken(mayConcealAttempt: true)
        for _ in 0..<4 {
            let said = try outcome(Answering(answer: .failure(sly)), open, ids[0])
            #expect(said == "\(Refusal.check(sly))")
        }
        #expect(try vault.unlock().reports.isEmpty)
        #expect(try outcome(Self.yes, open, ids[0]) == "GitHub")
        #expect(try vault.attempts().isEmpty)
        #expect(try outcome(Self.no, open, ids[0]) == "\(Refusal.refused(.wiped))")
    }

    @Test("a passed check does not open an entry that was wiped while the check ran")
    func wipedMeanwhile() throws {
        let (vault, ids) = try made(Self.wiping)
        let open = try vault.unlock()
        let late = Answering(answer: .success(true)) {
            for _ in 0..<3 {
                #expect(throws: VaultError.wrongPassphrase) {
                    try Vault.unlock(
                        at: vault.path, with: .passphrase(secret("wrong")),
                        reading: TestClock().reading)
                }
            }
        }
        #expect(try outcome(late, open, ids[0]) == "\(Refusal.vault(.wiped))")
        #expect(try vault.unlock().entries[0].tombstone != nil)
    }

    @Test("a passed check does not clear the failures that require another entry to be wiped")
    func dueMeanwhile() throws {
        let (vault, ids) = try made()
        let open = try vault.unlock()
        try open.change { try $0.setAccessControl(of: ids[1], to: Self.wiping) }
        let reading = TestClock().reading
        let tried = try open.begin(
            ids[0], checkedBy: Cryptographic.self, isGuess: true, at: reading)
        // Another process counts the failures, and is killed before it can wipe the entry.
        func fail() throws {
            let document = try VaultDocument(parsing: vault.bytes())
            let counter = try AttemptCounter(VaultLocation(vault.path), of: document.vaultID)
            var attempts = try counter.read()
            for _ in 1...3 {
                attempts = attempts.deciding(
                    .vault, .refused(by: document.slotsDigest), at: reading)
            }
            try counter.save(attempts)
        }
        try fail()
        try open.accept(tried)
        #expect(try vault.unlock().entries[1].tombstone != nil)
    }

    @Test("the attempt is on the disk before the check runs")
    func countedFirst() throws {
        let (vault, ids) = try made()
        let open = try vault.unlock()
        let looking = Answering(answer: .success(true)) {
            let counted = try vault.attempts().records[ids[0]]
            #expect(counted?.failures.count == 1)
        }
        #expect(try outcome(looking, open, ids[0]) == "GitHub")
    }

    @Test("the last failure wipes only that entry, in every file, and the next unlock reports it")
    func wiped() throws {
        let (vault, ids) = try made(Self.wiping)
        let box = try vault.box(of: ids[0])
        #expect(try vault.holders(of: box).contains("vault"))
        let open = try vault.unlock()
        for left in [1, 0] {
            #expect(try outcome(Self.no, open, ids[0]) == "\(Refusal.refused(.free(left: left)))")
        }
        #expect(try outcome(Self.no, open, ids[0]) == "\(Refusal.refused(.wiped))")
        #expect(try outcome(Self.yes, open, ids[0]) == "\(Refusal.vault(.wiped))")
        #expect(try vault.holders(of: box) == [])
        let again = try vault.unlock()
        #expect(try vault.attempts().isEmpty)
        let tombstone = Tombstone(time: TestClock().wall, reason: .failures)
        #expect(again.reports == [.wiped(ids[0], tombstone)])
        #expect(try again.check().opened == 3)
        // Unlocking saved the vault once, to record the wipe in the manifest.
        #expect(again.generation == open.generation + 1)
    }

    @Test("O-12 the content of a wiped entry cannot be replaced, so its record stays wiped")
    func notReplaced() throws {
        let (vault, ids) = try made(Self.wiping)
        let open = try vault.unlock()
        let content = try open.open(ids[0])
        for _ in 0..<3 { _ = try outcome(Self.no, open, ids[0]) }
        #expect(throws: VaultError.wiped) {
            try open.change { try $0.replace(ids[0], with: content) }
        }
        #expect(try vault.unlock().entries[0].tombstone != nil)
    }

    @Test("wrong passphrases and an entry's own failures together count towards its wipe")
    func wipedByPassphrases() throws {
        let (vault, ids) = try made(Self.wiping)
        let (box, other) = (try vault.box(of: ids[0]), try vault.box(of: ids[1]))
        _ = try outcome(Self.no, vault.unlock(), ids[0])
        for isLast in [false, true] {
            #expect(throws: VaultError.wrongPassphrase) {
                try Vault.unlock(
                    at: vault.path, with: .passphrase(secret("wrong")),
                    reading: TestClock().reading)
            }
            #expect(try vault.holders(of: box).isEmpty == isLast)
        }
        // The other entries stay, even in the previous generation.
        #expect(try vault.holders(of: other).sorted() == [TestVault.own("previous"), "vault"])
        let tombstone = Tombstone(time: TestClock().wall, reason: .failures)
        #expect(try vault.unlock().reports == [.wiped(ids[0], tombstone)])
    }

    @Test("no other process wipes an entry while its last attempt runs")
    func meanwhile() throws {
        let (vault, ids) = try made(Self.wiping)
        let open = try vault.unlock()
        for _ in 0..<2 { _ = try outcome(Self.no, open, ids[0]) }
        let last = Answering(answer: .success(true)) {
            let other = try vault.unlock()
            #expect(other.reports.isEmpty)
            // A fourth check does not run, either.
            let said = try self.outcome(Self.no, other, ids[0])
            #expect(said == "\(Refusal.vault(.busy))")
        }
        #expect(try outcome(last, open, ids[0]) == "GitHub")
        #expect(try vault.attempts().isEmpty)
    }

    @Test("unlocking the vault drops the failures of an entry that was removed")
    func removed() throws {
        let (vault, ids) = try made()
        let open = try vault.unlock()
        _ = try outcome(Self.no, open, ids[0])
        try open.change { try $0.remove(ids[0], purge: false) }
        _ = try vault.unlock()
        #expect(try vault.attempts().isEmpty)
    }

    @Test("renaming an entry keeps its failures, and replacing its content clears them")
    func replaced() throws {
        let (vault, ids) = try made()
        let open = try vault.unlock()
        try refuse(LockOutPolicy.failuresUntilWait, open, ids[0])
        try open.change { try $0.rename(ids[0], issuer: "renamed", account: "") }
        #expect(try outcome(Self.yes, open, ids[0]) == "\(Self.locked)")
        try open.update { changes throws(VaultError) in
            try changes.replace(
                ids[0], with: .plainSecret(issuer: "new", account: "", value: secret("key")))
        }
        #expect(try outcome(Self.yes, open, ids[0]) == "new")
    }

    @Test("a proof opens only its own entry, in the open vault that made it, within its lifetime")
    func proofs() throws {
        let (vault, ids) = try made()
        let (open, other) = (try vault.unlock(), try vault.unlock())
        func proof(_ id: RecordID, at now: Moment = .now) throws(VaultError)
            -> PresenceProof<Advisory>
        {
            var check = Self.yes
            do {
                return try open.proof(&check, for: id, now: now)
            } catch {
                throw .presenceNeeded
            }
        }
        let foreign = VaultError.proofRefused(.otherPurpose)
        #expect(throws: foreign) { _ = try open.open(ids[1], proof: proof(ids[0])) }
        #expect(throws: foreign) { _ = try other.open(ids[0], proof: proof(ids[0])) }
        #expect(throws: foreign) { _ = try open.nextHOTP(ids[1], proof: proof(ids[0])) }
        #expect(throws: foreign) {
            let first = try proof(ids[2])
            _ = try proof(ids[2])
            _ = try open.open(ids[2], proof: first)
        }
        let now = Moment.now
        #expect(throws: VaultError.proofRefused(.expired)) {
            _ = try open.open(ids[2], proof: proof(ids[2], at: now), now: now + .seconds(30))
        }
        let timely = try open.open(
            ids[2], proof: proof(ids[2], at: now), now: now + .seconds(29))
        #expect(timely.issuer == "Wi-Fi")
    }

    @Test("wrong passphrases at several entries lock the vault out, and wipe no other entry")
    func guesses() throws {
        let (vault, ids) = try made()
        let open = try vault.unlock()
        try open.change { try $0.setAccessControl(of: ids[1], to: Self.wiping) }
        var clock = TestClock()
        typealias Refusal = NoProof<OpenerCheck.Failure>
        func guess(_ id: RecordID, _ passphrase: SecretBytes = secret("guess")) throws -> String {
            var check = OpenerCheck(.passphrase(passphrase), of: open)
            do {
                let proof = try open.proof(&check, for: id, reading: clock.reading)
                let entry = try open.open(id, proof: proof)
                return entry.issuer
            } catch let error as Refusal {
                return "\(error)"
            }
        }
        // Adding an entry requires no check.
        let wait = LockOutPolicy.firstWait
        let free = (0..<LockOutPolicy.failuresUntilWait - 1).reversed().map {
            Refusal.refused(.free(left: $0))
        }
        for expected in free + [.refused(.wait(seconds: wait)), .vault(.lockedOut(seconds: wait))] {
            let id = try open.update { changes throws(VaultError) in
                try changes.add(
                    .plainSecret(issuer: "new", account: "", value: secret("x")),
                    accessControl: Self.perUse, now: TestVault.now)
            }
            #expect(try guess(id) == "\(expected)")
            try open.change { try $0.remove(id, purge: false) }
        }
        let locked = "\(Refusal.vault(.lockedOut(seconds: wait)))"
        #expect(try guess(ids[0], TestVault.passphrase) == locked)
        #expect(
            try open.lockOut(of: ids[0], isGuess: true, reading: clock.reading).seconds == wait)
        #expect(throws: VaultError.lockedOut(seconds: wait)) {
            try Vault.unlock(
                at: vault.path, with: .passphrase(TestVault.passphrase), reading: clock.reading)
        }
        // A check without a passphrase is not a guess at the passphrase.
        #expect(try outcome(Self.yes, open, ids[0], at: clock) == "GitHub")
        #expect(try !vault.holders(of: vault.box(of: ids[1])).isEmpty)
        clock.pass(wait)
        #expect(try guess(ids[0], TestVault.passphrase) == "GitHub")
        #expect(try vault.attempts().isEmpty)
    }

    @Test("failed checks by concurrent programs are counted individually")
    func races() throws {
        let (vault, ids) = try made()
        let said = try atOnce(7, "ask", vault, "no", "2").text.split(separator: "\n")
        #expect(said.count == 14)
        #expect(said.count { $0.contains("refused(") } == LockOutPolicy.failuresUntilWait)
        #expect(said.count { $0.contains("lockedOut(") } == 14 - LockOutPolicy.failuresUntilWait)
        #expect(
            try vault.attempts().records[ids[0]]?.failures.count
                == LockOutPolicy.firstFailureWithWait)
    }
}
