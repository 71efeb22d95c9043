import Foundation
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

struct LockOutTests {
    private let right = TestVault.passphrase
    private let wrong = secret("wrong")

    private func unlock(_ vault: TestVault, _ passphrase: SecretBytes, at clock: TestClock)
        throws(VaultError) -> UnlockedVault
    {
        try Vault.unlock(
            at: vault.path, with: .passphrase(passphrase), reading: clock.reading)
    }

    /// Tries wrong passphrases until the next attempt must wait.
    private func lock(_ vault: TestVault, at clock: TestClock) throws {
        for _ in 0..<LockOutPolicy.failuresUntilWait {
            #expect(throws: VaultError.wrongPassphrase) { try unlock(vault, wrong, at: clock) }
        }
    }

    @Test("nothing is tried or counted during a wait, not even in its last second")
    func steps() throws {
        let vault = try TestVault()
        var clock = TestClock()
        for count in 1...11 {
            #expect(throws: VaultError.wrongPassphrase) { try unlock(vault, wrong, at: clock) }
            let wait = Int64(LockOutPolicy.wait(after: UInt64(count)))
            #expect(try vault.attempts().vault?.count == UInt64(count))
            #expect(try Vault.lockOut(at: vault.path, reading: clock.reading).seconds == wait)
            guard wait > 0 else { continue }
            for passphrase in [wrong, right] {
                #expect(throws: VaultError.lockedOut(seconds: wait)) {
                    try unlock(vault, passphrase, at: clock)
                }
            }
            clock.pass(wait - 1)
            #expect(throws: VaultError.lockedOut(seconds: 1)) {
                try unlock(vault, right, at: clock)
            }
            #expect(try vault.attempts().vault?.count == UInt64(count))
            clock.pass(1)
        }
        #expect(try unlock(vault, right, at: clock).reports.isEmpty)
        #expect(try vault.attempts().isEmpty)
        #expect(throws: VaultError.wrongPassphrase) { try unlock(vault, wrong, at: clock) }
        #expect(try vault.attempts().vault?.count == 1)
    }

    @Test("querying the wait completes a wipe that was interrupted")
    func waitingWipes() throws {
        let vault = try TestVault()
        let id = try vault.fill()[0]
        let limit = try #require(FailureCount(LockOutPolicy.failuresUntilWait))
        let wiping = AccessControl(presence: .perUnlock, onFailure: .wipe(after: limit))
        try vault.unlock().change { try $0.setAccessControl(of: id, to: wiping) }
        let clock = TestClock()
        func killedAfter(_ count: Int) throws {
            var attempts = try vault.attempts()
            for _ in 0..<count {
                try attempts.addRefusal(
                    of: .vault, by: VaultDocument(parsing: vault.bytes()).slotsDigest,
                    at: clock.reading)
            }
            let counter = try AttemptCounter(VaultLocation(vault.path), of: attempts.vaultID)
            try counter.save(attempts)
        }
        let box = try vault.box(of: id)
        try killedAfter(limit.value - 1)
        #expect(try Vault.lockOut(at: vault.path, reading: clock.reading).seconds == 0)
        #expect(try !vault.holders(of: box).isEmpty)
        try killedAfter(1)
        let lockOut = try Vault.lockOut(at: vault.path, reading: clock.reading)
        #expect(lockOut == LockOut(failures: Int64(limit.value), seconds: LockOutPolicy.firstWait))
        #expect(try vault.holders(of: box) == [])
        #expect(try vault.attempts().vault?.count == UInt64(limit.value))
    }

    @Test("neither setting a clock nor a reboot shortens a wait")
    func clocks() throws {
        let vault = try TestVault()
        var clock = TestClock()
        try lock(vault, at: clock)
        let wait = VaultError.lockedOut(seconds: LockOutPolicy.firstWait)
        clock.wall += 86_400
        #expect(throws: wait) { try unlock(vault, right, at: clock) }
        clock.wall -= 2 * 86_400
        #expect(throws: wait) { try unlock(vault, right, at: clock) }
        clock.reboot()
        #expect(throws: wait) { try unlock(vault, right, at: clock) }
        // The remaining wait was recorded; this boot continues the wait, regardless of the wall
        // clock.
        clock.uptime += LockOutPolicy.firstWait - 1
        clock.wall = 0
        #expect(throws: VaultError.lockedOut(seconds: 1)) { try unlock(vault, right, at: clock) }
        clock.uptime += 1
        #expect(throws: Never.self) { try unlock(vault, right, at: clock) }
    }

    @Test("the recovery key opens the vault during a wait and sets a passphrase; no data are lost")
    func recovery() throws {
        let vault = try TestVault(recoveryKey: true)
        let ids = try vault.fill()
        let clock = TestClock()
        let key = try #require(vault.recoveryKey)
        let before = try vault.unlock()
        let secrets = try ids.map { Facts(try before.open($0)) }
        // Make only two failures: three would wipe the fourth entry.
        for _ in 0..<2 { #expect(throws: VaultError.self) { try unlock(vault, wrong, at: clock) } }
        let wrongKey = RecoveryKey.make()
        for _ in 0..<9 {
            #expect(throws: VaultError.wrongRecoveryKey) {
                try Vault.unlock(at: vault.path, with: .recoveryKey(wrongKey))
            }
        }
        #expect(try vault.attempts().vault?.count == 2)
        try vault.unlock().change { try $0.setAccessControl(of: ids[3], to: .standard(for: .totp)) }
        try lock(vault, at: clock)
        #expect(throws: VaultError.lockedOut(seconds: LockOutPolicy.firstWait)) {
            try unlock(vault, right, at: clock)
        }
        let open = try Vault.unlock(
            at: vault.path, with: .recoveryKey(key), reading: clock.reading)
        #expect(try vault.attempts().isEmpty)
        let slot = try #require(open.slots.first)
        let (new, cost) = (secret("a new passphrase"), ScryptCost.lowest)
        try open.change { try $0.changePassphrase(of: slot, to: new, cost: cost, now: 9) }
        let after = try unlock(vault, new, at: clock)
        #expect(try ids.map { Facts(try after.open($0)) } == secrets)
        #expect(after.reports.isEmpty)
    }

    @Test("the recovery key opens the vault even if a due wipe fails, and the wipe stays due")
    func recoveryBeforeWipe() throws {
        let vault = try TestVault(recoveryKey: true)
        let id = try vault.fill()[3]
        let key = try #require(vault.recoveryKey)
        let obstacle = TestVault.own("new")
        try vault.put(Array("my notes".utf8), as: obstacle)
        let inTheWay = VaultError.inTheWay(name: obstacle)
        for refusal in [VaultError.wrongPassphrase, .wrongPassphrase, inTheWay] {
            #expect(throws: refusal) {
                try Vault.unlock(at: vault.path, with: .passphrase(wrong))
            }
        }
        let open = try Vault.unlock(at: vault.path, with: .recoveryKey(key))
        #expect(open.reports == [.failuresNotCleared(inTheWay)])
        #expect(try vault.attempts().vault?.refused == 3)
        #expect(throws: inTheWay) { try vault.unlock() }
        try removeFile(vault.folder.file(obstacle))
        #expect(try Vault.lockOut(at: vault.path).failures == 3)
        let after = try Vault.unlock(at: vault.path, with: .recoveryKey(key))
        #expect(after.entries.filter { $0.tombstone != nil }.map(\.id) == [id])
        #expect(after.reports.count == 1)
        #expect(try vault.attempts().isEmpty)
    }

    @Test("a new passphrase reseals everything, and the old one opens none of the remaining files")
    func changedPassphrase() throws {
        let vault = try TestVault(recoveryKey: true)
        _ = try vault.fill()
        let old = try vault.bytes()
        let open = try vault.unlock()
        let (new, cost) = (secret("a new passphrase"), ScryptCost.lowest)
        try open.update { changes throws(VaultError) in
            try changes.changePassphrase(of: changes.slots[0], to: new, cost: cost, now: 9)
        }
        func lines(_ bytes: [UInt8]) -> [Substring] {
            String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        }
        let (before, after) = (lines(old), lines(try vault.bytes()))
        let changed = zip(before, after).filter { $0 != $1 }.map { $0.0.prefix { $0 != " " } }
        #expect(before.count == after.count)
        let sealed = [Substring](repeating: "sealed", count: 4)
        #expect(
            changed == ["generation", "slot", "slot", "mac"] + sealed + ["manifest", "end"])
        let slot = try #require(before.first { $0.hasPrefix("slot 1 ") })
        for name in try vault.files().filter({ !$0.contains("/ID/") }) {
            let bytes = try vault.folder.bytes(of: name)
            #expect(!String(decoding: bytes, as: UTF8.self).contains(slot), "\(name)")
            guard bytes.starts(with: VaultEnvelope.magic) else { continue }
            #expect(throws: VaultError.wrongPassphrase) {
                try VaultDocument(parsing: bytes).opened(with: .passphrase(right), ceiling: 24)
            }
        }
    }

    @Test("an attempt does not write the vault, whether it succeeds or fails")
    func cheap() throws {
        let vault = try TestVault()
        _ = try vault.fill()
        let before = try FileManager.default.attributesOfItem(atPath: vault.path)
        let previous = try vault.folder.bytes(of: TestVault.own("previous"))
        #expect(throws: VaultError.wrongPassphrase) { try unlock(vault, wrong, at: TestClock()) }
        #expect(try mode(of: vault.folder.file(vault.counted("attempts"))) == 0o600)
        _ = try unlock(vault, right, at: TestClock())
        let after = try FileManager.default.attributesOfItem(atPath: vault.path)
        #expect(
            before[.systemFileNumber] as? UInt64 == after[.systemFileNumber] as? UInt64
                && before[.modificationDate] as? Date == after[.modificationDate] as? Date)
        #expect(try vault.folder.bytes(of: TestVault.own("previous")) == previous)
        #expect(try vault.files() == TestVault.files)
    }

    @Test("of many concurrent attempts, all correct ones are checked, and wrong ones until a wait")
    func races() throws {
        let vault = try TestVault()
        let rights = try atOnce(12, "try", vault, "correct horse battery staple", "1")
        #expect(rights.text == String(repeating: "open\n", count: 12))
        #expect(try vault.attempts().isEmpty)
        let wrongs = try atOnce(12, "try", vault, "wrong", "2")
        let said = wrongs.text.split(separator: "\n")
        #expect(said.count == 24)
        #expect(said.count { $0 == "wrongPassphrase" } == LockOutPolicy.failuresUntilWait)
        #expect(
            said.count { $0.hasPrefix("lockedOut(") } == 24 - LockOutPolicy.failuresUntilWait)
        #expect(try vault.attempts().vault?.count == LockOutPolicy.firstFailureWithWait)
    }

    @Test(
        "an attempt that cannot be counted is not made; the recovery key opens the vault",
        arguments: [0, 64])
    func noRoomToGrow(blocks: Int) throws {
        let vault = try TestVault(recoveryKey: true)
        _ = try vault.fill()
        // Files cannot exceed this many blocks of 512 bytes; the output goes through a pipe.
        let shell = ForeignProgram(path: "/bin/sh")
        let limit = "trap '' XFSZ; (ulimit -f \(blocks); exec \"$@\") | cat"
        let said = try shell.run([
            "-c", limit, "sh", BuiltProgram.path("vault-writer"), "try", vault.path,
            "correct horse battery staple", "2",
        ])
        let refusal = VaultError.notCounted(SystemCallFailure(call: "pwrite", number: EFBIG))
        #expect(said.text == (blocks == 0 ? "\(refusal)\n\(refusal)\n" : "open\nopen\n"))
        #expect(try vault.attempts().isEmpty)
        #expect(try vault.files() == TestVault.files)
        let key = try #require(vault.recoveryKey)
        #expect(throws: Never.self) {
            try Vault.unlock(at: vault.path, with: .recoveryKey(key))
        }
    }

    @Test("an unrelated file with a reserved name is not changed, and no passphrase is tried")
    func bystanders() throws {
        let notes = Array("my notes".utf8)
        for file in ["attempts", "attempts.new"] {
            let vault = try TestVault(recoveryKey: true)
            let name = try vault.counted(file)
            let key = try #require(vault.recoveryKey)
            // A new file is needed only if no existing file can be overwritten.
            try removeFile(vault.folder.file(vault.counted("attempts")))
            try vault.put(notes, as: name)
            #expect(throws: VaultError.inTheWay(name: name)) { try vault.unlock() }
            #expect(try vault.folder.bytes(of: name) == notes)
            let open = try Vault.unlock(at: vault.path, with: .recoveryKey(key))
            #expect(open.reports.isEmpty)
            try removeFile(vault.folder.file(name))
            try makeFolder(vault.folder.file(name))
            #expect(throws: VaultError.inTheWay(name: name)) { try vault.unlock() }
            try removeFile(vault.folder.file(name))
            try linkSymbolically("/dev/null", to: vault.folder.file(name))
            #expect(throws: VaultError.inTheWay(name: name)) { try vault.unlock() }
        }
    }

    @Test("if the attempts file has a second name, attempts are counted in a new file")
    func secondName() throws {
        let vault = try TestVault()
        let (path, name) = (vault.folder.file("snapshot"), try vault.counted("attempts"))
        try linkFile(vault.folder.file(name), to: path)
        let before = try vault.folder.bytes(of: name)
        #expect(throws: VaultError.wrongPassphrase) { try unlock(vault, wrong, at: TestClock()) }
        #expect(try vault.attempts().vault?.refused == 1)
        #expect(throws: Never.self) { try unlock(vault, right, at: TestClock()) }
        #expect(try vault.attempts().isEmpty)
        #expect(try vault.folder.bytes(of: "snapshot") == before)
    }

    @Test(
        "an immutable attempts file prevents attempts with a passphrase",
        .enabled(if: geteuid() == 0 && TestCapabilities.canMakeReadOnly, "needs root and chattr"))
    func immutable() throws {
        let vault = try TestVault(recoveryKey: true)
        let clock = TestClock()
        #expect(throws: VaultError.self) { try unlock(vault, wrong, at: clock) }
        let chattr = try #require(ForeignProgram("chattr"))
        let file = try vault.folder.file(vault.counted("attempts"))
        try #require(try chattr.run(["+i", file]).status == 0)
        let refusal = SystemCallFailure(call: "openat", number: EPERM)
        #expect(throws: VaultError.notCounted(refusal)) { try unlock(vault, right, at: clock) }
        let key = try #require(vault.recoveryKey)
        let open = try Vault.unlock(at: vault.path, with: .recoveryKey(key))
        #expect(
            open.reports == [
                .failuresNotCleared(.notCounted(SystemCallFailure(call: "openat", number: EPERM)))
            ])
        try #require(try chattr.run(["-i", file]).status == 0)
        #expect(throws: Never.self) { try unlock(vault, right, at: clock) }
    }

    @Test("a damaged attempts file is ignored; one of another vault or a newer version is reported")
    func otherFiles() throws {
        let vault = try TestVault()
        let name = try vault.counted("attempts")
        func counting(_ vaultID: [UInt8]) -> [UInt8] {
            var attempts = Attempts(of: vaultID)
            for _ in 0..<9 {
                attempts.vault = .adding(to: attempts.vault, at: ClockReading.now())
            }
            return AttemptsFile.holding(attempts)
        }
        try vault.put(counting([UInt8](repeating: 1, count: 16)), as: name)
        #expect(throws: VaultError.inTheWay(name: name)) { try vault.unlock() }
        var spoiled = try counting(VaultDocument(parsing: vault.bytes()).vaultID)
        try vault.put(spoiled, as: name)
        #expect(throws: VaultError.self) { try vault.unlock() }
        for slot in 0..<2 { spoiled[slot * AttemptsFile.slotCount + 70] ^= 1 }
        for bytes in [spoiled, Array(spoiled.dropLast(9))] {
            try vault.put(bytes, as: name)
            #expect(throws: Never.self) { try vault.unlock() }
            #expect(try vault.folder.bytes(of: name).count == 2 * AttemptsFile.slotCount)
        }
        try vault.put(Array("watchword-attempts 2\n".utf8), as: name)
        #expect(throws: VaultError.newerAttempts(2)) { try vault.unlock() }
    }

    @Test("the attempts file is recreated at the end of its sequence, and counting continues")
    func endOfSequence() throws {
        let vault = try TestVault()
        let name = try vault.counted("attempts")
        for slot in 0..<2 {
            _ = try vault.unlock()
            var bytes = try vault.folder.bytes(of: name)
            let last = try vault.attempts().text(sequence: VaultLimits.number)
            let start = slot * AttemptsFile.slotCount
            bytes.replaceSubrange(start..<start + last.count, with: last)
            try vault.put(bytes, as: name)
            let clock = TestClock()
            for count in 1...LockOutPolicy.firstFailureWithWait {
                #expect(throws: VaultError.wrongPassphrase) { try unlock(vault, wrong, at: clock) }
                #expect(try vault.attempts().vault?.refused == count)
            }
            #expect(throws: VaultError.lockedOut(seconds: LockOutPolicy.firstWait)) {
                try unlock(vault, right, at: clock)
            }
            try vault.put([], as: name)
        }
    }

    @Test("skipping a slot over the ceiling is not an attempt; trying a cheaper one is")
    func slotsOverTheCeiling() throws {
        let vault = try TestVault()
        for _ in 0..<7 {
            #expect(throws: VaultError.costOverCeiling(logN: 10, ceiling: 9)) {
                try Vault.unlock(at: vault.path, with: .passphrase(wrong), ceiling: 9)
            }
        }
        #expect(try vault.attempts().isEmpty)
        let dear = try #require(ScryptCost(logN: 11))
        try vault.unlock().update { changes throws(VaultError) in
            try changes.addPassphrase(secret("dear"), cost: dear, now: 0)
        }
        for count in 1...LockOutPolicy.firstFailureWithWait {
            #expect(throws: VaultError.costOverCeiling(logN: 12, ceiling: 10)) {
                try Vault.unlock(at: vault.path, with: .passphrase(wrong), ceiling: 10)
            }
            #expect(try vault.attempts().vault?.count == count)
        }
        let reading = try vault.readingOfFailure()
        #expect(throws: VaultError.lockedOut(seconds: LockOutPolicy.firstWait)) {
            try Vault.unlock(
                at: vault.path, with: .passphrase(wrong), reading: reading)
        }
    }
}

/// Runs several writers concurrently.
func atOnce(_ count: Int, _ verb: String, _ vault: TestVault, _ name: String, _ rounds: String)
    throws -> ForeignProgram.Outcome
{
    let lines = (0..<count).map { "\($0)\n" }.joined()
    return try #require(ForeignProgram("xargs")).run(
        [
            "-P", "\(count)", "-I{}", BuiltProgram.path("vault-writer"), verb, vault.path, name,
            rounds,
        ],
        input: Array(lines.utf8))
}
