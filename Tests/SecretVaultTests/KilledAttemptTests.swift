import Foundation
import TestSupport
import Testing
import WatchwordSystem

@testable import SecretVault

/// Kills a program before each system call of an attempt, using `strace`, and examines what is
/// counted and left.
@Suite(.enabled(if: TestCapabilities.canTrace, "strace is missing or cannot trace here"))
struct KilledAttemptTests {
    /// The system calls on files.
    ///
    /// Nothing visible changes between two of these.
    private static let calls = [
        "flock", "openat", "fchmod", "write", "pwrite64", "fsync", "fdatasync", "linkat",
        "renameat", "renameat2", "unlinkat",
    ]
    private static let right = String(decoding: TestVault.passphrase.copied, as: UTF8.self)

    /// One program's run, with its system calls on files, from the first lock on.
    private struct Run {
        let verb: String
        let name: String
        var calls: [String] = []

        init(_ verb: String, _ name: String, on vault: TestVault) throws {
            (self.verb, self.name) = (verb, name)
            let log = try TemporaryFolder()
            let strace = try #require(ForeignProgram("strace"))
            _ = try strace.run(
                [
                    "-y", "-o", log.file("calls"), "-e",
                    "trace=\(KilledAttemptTests.calls.joined(separator: ","))",
                ]
                    + command(vault))
            let text = try log.bytes(of: "calls")
            calls = String(decoding: text, as: UTF8.self)
                .split(separator: "\n").map(String.init)
                .filter { !$0.hasPrefix("+++") && !$0.hasPrefix("---") }
            #expect(PowerFailure.omissions(in: text, below: vault.folder.path) == [])
        }

        private func command(_ vault: TestVault) -> [String] {
            [BuiltProgram.path("vault-writer"), verb, vault.path, name, "1"]
        }

        /// The index of the first `call` on the file with this name.
        func first(_ call: String, of name: String) -> Int? {
            calls.indices.first {
                calls[$0].hasPrefix(call + "(") && calls[$0].contains("\"\(name)\", ")
            }
        }

        /// The indices of the calls that write the attempts file.
        var counting: [Int] {
            calls.indices.filter {
                calls[$0].hasPrefix("pwrite64(") && calls[$0].contains("\"watchword-attempts ")
            }
        }

        var places: Range<Int> {
            (calls.firstIndex { $0.hasPrefix("flock(") } ?? calls.count)..<calls.count
        }

        /// Repeats the run, and kills the program before the call at this index.
        func killed(at place: Int, on vault: TestVault) throws -> String {
            let name = calls[place].prefix { $0 != "(" }
            let count = calls[...place].count { $0.hasPrefix(name + "(") }
            let killed = try #require(ForeignProgram("strace")).run(
                ["-o", "/dev/null", "-e", "inject=\(name):signal=KILL:when=\(count)"]
                    + command(vault))
            #expect(killed.status != 0, "\(calls[place])")
            return killed.text
        }
    }

    @Test("a failing attempt that is killed at any step is counted, or its outcome was never known")
    func failing() throws {
        let run = try Run("try", "wrong", on: TestVault())
        // The first write begins the attempt, the second records the refusal.
        let counting = run.counting
        try #require(counting.count == 2)
        let answered = try #require(run.calls.lastIndex { $0.hasPrefix("write(1<") })
        #expect(counting[1] + 1 < answered)
        for place in run.places {
            let vault = try TestVault()
            let before = try vault.bytes()
            let said = try run.killed(at: place, on: vault)
            let failures = try vault.attempts().vault
            #expect(failures?.count ?? 0 == (place > counting[0] ? 1 : 0), "\(run.calls[place])")
            let refused = failures?.refused ?? 0
            #expect(refused == (place > counting[1] ? 1 : 0), "\(run.calls[place])")
            #expect(said.isEmpty || refused == 1, "\(run.calls[place])")
            #expect(try vault.bytes() == before, "\(run.calls[place])")
            #expect(try vault.unlock().reports.isEmpty, "\(run.calls[place])")
            #expect(try vault.attempts().isEmpty)
            #expect(!(try vault.files().contains { $0.hasSuffix("new") }))
        }
    }

    @Test("a successful attempt that is killed at any step is at most undecided, never refused")
    func opening() throws {
        func prepared() throws -> TestVault {
            let vault = try TestVault()
            for _ in 0..<2 {
                #expect(throws: VaultError.wrongPassphrase) {
                    try Vault.unlock(at: vault.path, with: .passphrase(secret("wrong")))
                }
            }
            return vault
        }
        let run = try Run("try", Self.right, on: prepared())
        for place in run.places {
            let vault = try prepared()
            let said = try run.killed(at: place, on: vault)
            let count = try vault.attempts().vault?.count ?? 0
            #expect([0, 2, 3].contains(count), "\(run.calls[place])")
            let refused = try vault.attempts().vault?.refused ?? 2
            #expect(refused == 2, "\(run.calls[place])")
            #expect(said.isEmpty || count == 0, "\(run.calls[place])")
            #expect(throws: Never.self, "\(run.calls[place])") { try vault.unlock() }
        }
    }

    @Test(
        "a wipe that is killed at any step is completed at the next start, and loses nothing else")
    func wiping() throws {
        func prepared() throws -> (TestVault, RecordID, [String]) {
            let vault = try TestVault()
            let ids = try vault.fill()
            let once = AccessControl(
                presence: .perUnlock, onFailure: .wipe(after: try #require(FailureCount(1))))
            try vault.unlock().update { changes throws(VaultError) in
                try changes.setAccessControl(of: ids[0], to: once)
                try changes.setAccessControl(of: ids[3], to: .standard(for: .totp))
            }
            // Save once more, so that the previous generation contains the same box.
            let box = try vault.box(of: ids[0])
            try vault.unlock().change { try $0.rename(ids[1], issuer: "b", account: "") }
            #expect(try vault.holders(of: box) == [TestVault.own("previous"), "vault"])
            return (vault, ids[0], [box])
        }
        let run = try Run("try", "wrong", on: prepared().0)
        try #require(run.counting.count == 2)
        let counted = run.counting[1]
        let changed = try #require(run.first("renameat2", of: "displaced"))
        #expect(counted < changed)
        for place in run.places {
            let (vault, id, boxes) = try prepared()
            let said = try run.killed(at: place, on: vault)
            let isHOTP = place > counted
            #expect(said.isEmpty || isHOTP, "\(run.calls[place])")
            // The next start with the passphrase finds the entry wiped, or the attempt not begun.
            let open = try vault.unlock()
            #expect(open.entries.map { $0.tombstone != nil } == [isHOTP, false, false, false])
            #expect(open.reports.count == (isHOTP ? 1 : 0), "\(run.calls[place])")
            #expect(try open.check().opened == (isHOTP ? 3 : 4), "\(run.calls[place])")
            #expect(try open.check().damages.isEmpty)
            let holders = try vault.holders(of: boxes[0])
            #expect(
                holders == (isHOTP ? [] : [TestVault.own("previous"), "vault"]),
                "\(run.calls[place])")
            if isHOTP { #expect(throws: VaultError.wiped) { try open.open(id) } }
            #expect(try vault.attempts().isEmpty)
        }
    }

    @Test("a failing check that is killed at any step is counted, or never ran")
    func asking() throws {
        func prepared() throws -> (TestVault, RecordID) {
            let vault = try TestVault()
            return (vault, try vault.fill()[0])
        }
        let run = try Run("ask", "no", on: prepared().0)
        // The first two writes belong to unlocking.
        try #require(run.counting.count == 4)
        let (counted, refused) = (run.counting[2], run.counting[3])
        let first = try #require(run.calls[..<counted].lastIndex { $0.hasPrefix("flock(") })
        for place in first..<run.calls.count {
            let (vault, id) = try prepared()
            let said = try run.killed(at: place, on: vault)
            let failures = try vault.attempts().records[id]?.failures
            #expect(failures?.count ?? 0 == (place > counted ? 1 : 0), "\(run.calls[place])")
            #expect(failures?.refused ?? 0 == (place > refused ? 1 : 0), "\(run.calls[place])")
            #expect(said.isEmpty || failures?.refused == 1, "\(run.calls[place])")
        }
    }
}
