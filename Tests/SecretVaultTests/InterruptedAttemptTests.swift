import Foundation
import TestSupport
import Testing
import WatchwordSystem

@testable import SecretVault

/// Interrupts a program at each step of an attempt with the right passphrase, using `strace`.
@Suite(.enabled(if: TestCapabilities.canTrace, "strace is missing or cannot trace here"))
struct InterruptedAttemptTests {
    private static let calls = [
        "flock", "openat", "fchmod", "read", "write", "pread64", "pwrite64", "fsync", "fdatasync",
        "linkat",
        "renameat", "renameat2", "unlinkat", "rt_sigprocmask", "mmap", "munmap",
    ]
    private static let right = String(decoding: TestVault.passphrase.copied, as: UTF8.self)

    /// A vault whose first entry is wiped at the first failure.
    private func prepared() throws -> TestVault {
        let vault = try TestVault()
        let id = try vault.fill()[0]
        let once = AccessControl(
            presence: .perUse(.any), onFailure: .wipe(after: try #require(FailureCount(1))))
        try vault.unlock().change { try $0.setAccessControl(of: id, to: once) }
        return vault
    }

    private func command(_ words: [String], _ vault: TestVault) -> [String] {
        [BuiltProgram.path("vault-writer"), words[0], vault.path, words[1], "1"]
    }

    /// The system calls of an uninterrupted run, from the first lock on.
    private func steps(_ words: [String]) throws -> [(name: String, count: Int)] {
        let vault = try prepared()
        let log = try TemporaryFolder()
        _ = try #require(ForeignProgram("strace")).run(
            ["-o", log.file("calls"), "-e", "trace=\(Self.calls.joined(separator: ","))"]
                + command(words, vault))
        let lines = String(decoding: try log.bytes(of: "calls"), as: UTF8.self)
            .split(separator: "\n").filter { !$0.hasPrefix("+++") && !$0.hasPrefix("---") }
        let names = lines.map { String($0.prefix { $0 != "(" }) }
        let first = try #require(names.firstIndex(of: "flock"))
        return names.indices[first...].map { place in
            (names[place], names[...place].count { $0 == names[place] })
        }
    }

    @Test(
        "an outcome that cannot be recorded is not reported; the attempt costs a wait, never a secret",
        arguments: [["try", "wrong"], ["ask", "no"], ["ask", "yes"]])
    func outcomeNotRecorded(words: [String]) throws {
        let vault = try prepared()
        // Each attempt is written when it begins, and again with its outcome.
        let write = words[0] == "try" ? 2 : 4
        let outcome = try #require(ForeignProgram("strace")).run(
            ["-o", "/dev/null", "-e", "inject=pwrite64:error=EIO:when=\(write)"]
                + command(words, vault))
        let failure = SystemCallFailure(call: "pwrite", number: EIO)
        #expect(outcome.text.contains("\(VaultError.outcomeNotRecorded(failure))"))
        let attempts = try vault.attempts()
        let counted = [attempts.vault] + attempts.records.values.map(\.failures)
        #expect(counted.compactMap { $0 }.map(\.undecided) == [1])
        #expect(counted.compactMap { $0 }.map(\.refused) == [0])
        #expect(try vault.unlock().entries.allSatisfy { $0.tombstone == nil })
    }

    @Test("an error after the refusal was recorded does not claim that no attempt was made")
    func notReadAgain() throws {
        let strace = try #require(ForeignProgram("strace"))
        let words = ["try", "wrong"]
        let log = try TemporaryFolder()
        let traced = try prepared()
        _ = try strace.run(
            ["-o", log.file("calls"), "-e", "trace=openat,pwrite64"] + command(words, traced))
        #expect(try traced.attempts().vault?.refused == 1)
        let calls = String(decoding: try log.bytes(of: "calls"), as: UTF8.self)
            .split(separator: "\n").map(String.init)
        let writes = calls.indices.filter { calls[$0].hasPrefix("pwrite64") }
        try #require(writes.count > 1)
        // The second write, which fails, records the outcome.
        let next = try #require(calls[writes[1]...].firstIndex { $0.contains("\"attempts\"") })
        let last = calls[...next].count { $0.hasPrefix("openat") }
        let vault = try prepared()
        let outcome = try strace.run(
            ["-o", "/dev/null", "-e", "inject=openat:error=EIO:when=\(last)"]
                + command(words, vault))
        let failure = SystemCallFailure(call: "openat", number: EIO)
        #expect(outcome.text.contains("\(VaultError.outcomeNotRecorded(failure))"))
        #expect(try vault.attempts().vault?.refused == 1)
    }

    @Test(
        "O-11 interrupting a successful attempt at any step costs at most a wait, never a secret",
        arguments: ["INT", "TERM", "HUP", "QUIT", "KILL"], [["try", right], ["ask", "yes"]])
    func interrupted(signal: String, words: [String]) throws {
        let steps = try steps(words)
        #expect(steps.count > 10)
        for step in steps {
            let vault = try prepared()
            let outcome = try #require(ForeignProgram("strace")).run(
                [
                    "-o", "/dev/null", "-e",
                    "inject=\(step.name):signal=\(signal):when=\(step.count)",
                ]
                    + command(words, vault))
            let place = "\(signal) at \(step)"
            #expect(outcome.status != 0, "\(place)")
            // Two interruptions in a row also cost at most a wait.
            _ = try #require(ForeignProgram("strace")).run(
                [
                    "-o", "/dev/null", "-e",
                    "inject=\(step.name):signal=\(signal):when=\(step.count)",
                ]
                    + command(words, vault))
            let open = try vault.unlock()
            #expect(open.entries.allSatisfy { $0.tombstone == nil }, "\(place)")
            #expect(open.reports.isEmpty, "\(place)")
            #expect(try open.check().opened == 4, "\(place)")
        }
    }
}
