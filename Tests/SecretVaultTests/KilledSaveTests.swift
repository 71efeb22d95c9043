import Foundation
import TestSupport
import Testing
import WatchwordSystem

@testable import SecretVault

/// Kills a writer before each system call of a save, using `strace`, and examines what is left.
@Suite(.enabled(if: TestCapabilities.canTrace, "strace is missing or cannot trace here"))
struct KilledSaveTests {
    /// A run of the writer: its command, and the entries before and after, with the devices to
    /// which they are bound.
    struct Run: Sendable, CustomTestStringConvertible {
        let verb: String
        let before: [String]
        let after: [String]
        var testDescription: String { verb }
    }

    static let runs = [
        Run(verb: "add", before: ["a-0", "a-1"], after: ["a-0", "a-1", "new-0"]),
        Run(verb: "purge", before: ["a-0", "a-1"], after: ["a-1"]),
        Run(verb: "rekey", before: ["a-0", "a-1"], after: ["a-0", "a-1"]),
        Run(verb: "undo", before: ["a-0", "a-1"], after: ["a-0"]),
        Run(
            verb: "merge", before: ["a-0", "a-1", "own-0", "own-1"],
            after: ["a-0 on old", "a-1 on old", "own-0", "own-1", "copy-0 on old"]),
        Run(verb: "bind", before: ["a-0", "a-1"], after: ["a-0 on new", "a-1 on new"]),
        Run(verb: "unbind", before: ["a-0 on old", "a-1 on old"], after: ["a-0", "a-1"]),
        Run(
            verb: "rebind", before: ["a-0 on old", "a-1 on old"],
            after: ["a-0 on new", "a-1 on new"]),
    ]

    @Test(
        "the old or the new vault remains if a save is killed at any system call", arguments: runs)
    func killed(run: Run) throws {
        let strace = try #require(ForeignProgram("strace"))
        let writer = BuiltProgram.path("vault-writer")
        let vault = try prepared(with: writer, for: run)
        let calls = try trace(strace, [writer, run.verb, vault.path, "new", "1"], vault.folder)
        let first = try start(of: calls)
        #expect(calls[first...].contains { $0.hasPrefix("rename") })
        var seen: Set<[String]> = []
        for call in first..<calls.count {
            let vault = try prepared(with: writer, for: run)
            let killed = try strace.run([
                "-f", "-o", "/dev/null", "-e", "trace=all",
                "-e", kill(before: call, of: calls),
                writer, run.verb, vault.path, "new", "1",
            ])
            #expect(killed.status != 0, "call \(call) of \(calls.count): \(calls[call])")
            seen.insert(try whatIsLeft(vault, run, "killed before \(calls[call])"))
        }
        #expect(seen == [run.before, run.after])
    }

    @Test("no vault or a complete one remains if its creation is killed at any system call")
    func killedMaking() throws {
        let strace = try #require(ForeignProgram("strace"))
        let writer = BuiltProgram.path("vault-writer")
        let traced = try TemporaryFolder()
        let calls = try trace(strace, [writer, "create", traced.file("vault"), "", "0"], traced)
        let first = try #require(calls.lastIndex { $0.hasPrefix("flock(") })
        for call in first..<calls.count {
            let folder = try TemporaryFolder()
            _ = try strace.run([
                "-f", "-o", "/dev/null", "-e", "trace=all",
                "-e", kill(before: call, of: calls),
                writer, "create", folder.file("vault"), "", "0",
            ])
            let made = try ForeignProgram(path: writer).run(
                ["create", folder.file("vault"), "", "0"])
            let exists = made.text.contains("alreadyExists")
            #expect(made.status == 0 || exists, "killed before \(calls[call])")
            let vault = try Vault.unlock(
                at: folder.file("vault"), with: .passphrase(TestVault.passphrase))
            #expect(vault.entries.isEmpty)
            // The next save removes a second name that the new file still has.
            try vault.update { changes throws(VaultError) in
                try changes.add(
                    .plainSecret(issuer: "next", account: "", value: secret("x")), now: 0)
            }
            #expect(!(try TestVault.files(in: folder).contains(TestVault.own("new"))))
        }
    }

    @Test("a vault is created even if the new file's other name cannot be removed")
    func otherNameStays() throws {
        let folder = try TemporaryFolder()
        let made = try #require(ForeignProgram("strace")).run([
            "-o", "/dev/null", "-e", "inject=unlinkat:error=EIO",
            BuiltProgram.path("vault-writer"), "create", folder.file("vault"), "", "0",
        ])
        #expect(made.status == 0 && made.text == "")
        #expect(try TestVault.files(in: folder).contains(TestVault.own("new")))
        let vault = try Vault.unlock(
            at: folder.file("vault"), with: .passphrase(TestVault.passphrase))
        try vault.update { changes throws(VaultError) in
            try changes.add(.plainSecret(issuer: "a", account: "", value: secret("x")), now: 0)
        }
        #expect(!(try TestVault.files(in: folder).contains(TestVault.own("new"))))
    }

    @Test(
        "a failed system call is reported, and the old or the new vault remains",
        arguments: runs)
    func failing(run: Run) throws {
        let strace = try #require(ForeignProgram("strace"))
        let writer = BuiltProgram.path("vault-writer")
        let vault = try prepared(with: writer, for: run)
        let calls = try trace(strace, [writer, run.verb, vault.path, "new", "1"], vault.folder)
        let first = try start(of: calls)
        let save = try #require(calls.lastIndex { $0.hasPrefix("flock(") })
        // The file of a new key is complete before it gets its name.
        let key = calls[first..<save].firstIndex { $0.contains("O_CREAT") } ?? save
        let named = calls[key..<save].firstIndex { $0.hasPrefix("linkat(") } ?? save
        let failing = [
            "openat", "fchmod", "write", "fsync", "linkat", "renameat", "renameat2", "unlinkat",
        ]
        var refusals = 0
        for call in first..<calls.count where failing.contains(String(name(of: calls[call]))) {
            // The last write call writes to standard output.
            guard !calls[call].hasPrefix("write(1,") else { continue }
            let vault = try prepared(with: writer, for: run)
            let fault = kill(before: call, of: calls)
                .replacing(":signal=KILL", with: ":error=EIO")
            let outcome = try strace.run([
                "-f", "-o", "/dev/null", "-e", "trace=all", "-e", fault,
                writer, run.verb, vault.path, "new", "1",
            ])
            let isMark = calls[call].contains("\"generation") || call > markStart(calls)
            #expect([0, 9].contains(outcome.status), "\(calls[call])")
            // A failure before the vault is replaced is an error; a failure to write the generation
            // record is only reported.
            let isRequired = call < save ? (key...named).contains(call) : !isMark
            if isRequired { #expect(outcome.status == 9, "\(calls[call])") }
            refusals += outcome.status == 9 ? 1 : 0
            let left = try whatIsLeft(vault, run, "failed at \(calls[call])")
            #expect(outcome.status == 9 || left == run.after, "\(calls[call])")
        }
        #expect(refusals >= 8)
    }

    @Test("a previous generation that cannot be erased is reported, and the change is saved")
    func failingErasure() throws {
        let strace = try #require(ForeignProgram("strace"))
        let vault = try prepared(with: BuiltProgram.path("vault-writer"))
        let command = [BuiltProgram.path("vault-writer"), "purge", vault.path, "new", "1"]
        let calls = try trace(strace, command, vault.folder)
        // The file that was replaced by the new one is erased last.
        let last = try #require(calls.lastIndex { $0.hasPrefix("unlinkat(") })
        let again = try prepared(with: BuiltProgram.path("vault-writer"))
        let fault = kill(before: last, of: calls).replacing(":signal=KILL", with: ":error=EIO")
        let outcome = try strace.run(
            ["-o", "/dev/null", "-e", fault, command[0], "purge", again.path, "new", "1"])
        #expect(outcome.status == 9)
        let failure = SystemCallFailure(call: "unlinkat", number: EIO)
        #expect(outcome.text == "\(VaultError.previousNotErased(failure))\n")
        #expect(try again.unlock().entries.map(\.issuer) == Self.runs[1].after)
        let left = try again.files()
        #expect(left.contains(TestVault.own("previous.new")))
        #expect(!left.contains(TestVault.own("previous")))
    }

    @Test(
        "a save that the disk does not confirm is reported, and a new vault is still created"
    )
    func notConfirmed() throws {
        let strace = try #require(ForeignProgram("strace"))
        let writer = BuiltProgram.path("vault-writer")
        func run(_ words: [String], failing place: Int) throws -> ForeignProgram.Outcome {
            try strace.run(
                ["-o", "/dev/null", "-e", "inject=fsync:error=EIO:when=\(place)", writer] + words)
        }
        let traced = try prepared(with: writer)
        let adding = try confirmation(
            trace(strace, [writer, "add", traced.path, "new", "1"], traced.folder))
        let vault = try prepared(with: writer)
        let added = try run(["add", vault.path, "new", "1"], failing: adding)
        #expect(added.status == 9)
        let failure = SystemCallFailure(call: "fsync", number: EIO)
        #expect(added.text == "\(VaultError.notConfirmed(failure))\n")
        #expect(try vault.unlock().entries.map(\.issuer) == Self.runs[0].after)
        func create(_ folder: TemporaryFolder) -> [String] {
            ["create", folder.file("vault"), "", "0"]
        }
        let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
        let making = try confirmation(trace(strace, [writer] + create(first), first))
        let made = try run(create(second), failing: making)
        #expect(made.status == 0)
        #expect(made.text == "\(VaultReport.notConfirmed(failure))\n")
    }

    /// The index of the sync that confirms the vault's name.
    private func confirmation(_ calls: [String]) throws -> Int {
        let named = try #require(
            calls.lastIndex { call in
                ["renameat2(", "linkat("].contains { call.hasPrefix($0) }
                    && call.contains("\"vault\"")
            })
        return calls[..<named].count { $0.hasPrefix("fsync(") } + 1
    }

    @Test("the previous generation is a copy where files cannot have two names")
    func withoutLinks() throws {
        let strace = try #require(ForeignProgram("strace"))
        let writer = BuiltProgram.path("vault-writer")
        for error in ["EPERM", "EOPNOTSUPP", "ENOSYS", "EMLINK"] {
            let vault = try prepared(with: writer)
            let old = try vault.bytes()
            let outcome = try strace.run([
                "-o", "/dev/null", "-e", "inject=linkat:error=\(error)",
                writer, "add", vault.path, "new", "1",
            ])
            #expect(outcome.status == 0)
            #expect(try vault.folder.bytes(of: TestVault.own("previous")) == old)
            #expect(try mode(of: vault.folder.file(TestVault.own("previous"))) == 0o600)
            #expect(try vault.unlock().entries.map(\.issuer) == Self.runs[0].after)
        }
    }

    @Test("the vault is compared and replaced where files cannot be exchanged")
    func withoutExchange() throws {
        let strace = try #require(ForeignProgram("strace"))
        let writer = BuiltProgram.path("vault-writer")
        for error in ["EINVAL", "ENOSYS", "EPERM", "EOPNOTSUPP"] {
            let vault = try prepared(with: writer)
            let old = try vault.bytes()
            let outcome = try strace.run([
                "-o", "/dev/null", "-e", "inject=renameat2:error=\(error)",
                writer, "add", vault.path, "new", "1",
            ])
            #expect(outcome.status == 0)
            #expect(try vault.folder.bytes(of: TestVault.own("previous")) == old)
            #expect(try vault.unlock().entries.map(\.issuer) == Self.runs[0].after)
            #expect(try vault.files() == TestVault.files)
        }
    }

    @Test(
        "a file is synced before a rename, its name before an overwrite, and everything at the end",
        arguments: runs, [[], ["-e", "inject=linkat:error=EPERM"]])
    func powerFailure(run: Run, options: [String]) throws {
        let strace = try #require(ForeignProgram("strace"))
        let writer = BuiltProgram.path("vault-writer")
        let vault = try prepared(with: writer, for: run)
        try omitsNothing(strace, options, [run.verb, vault.path, "new", "1"], vault.folder)
    }

    @Test("a new vault and its folders are on disk at the end")
    func powerFailureMaking() throws {
        let strace = try #require(ForeignProgram("strace"))
        let folder = try TemporaryFolder()
        try omitsNothing(strace, [], ["create", folder.file("vault"), "", "0"], folder)
    }

    @Test("a trace shows which file or folder a power failure would damage")
    func omissions() {
        let calls = [
            "openat(5</d>, \"new\", O_WRONLY|O_CREAT|O_EXCL, 0600) = 6</d/new>",
            "fsync(5</d>) = 0", "write(6</d/new>, \"x\", 1) = 1", "fsync(6</d/new>) = 0",
            "linkat(5</d>, \"old\", 5</d>, \"previous\", 0) = 0",
            "renameat(5</d>, \"new\", 5</d>, \"old\") = 0", "fsync(5</d>) = 0",
            "pwrite64(6</d/previous>, \"\\0\", 1, 0) = 1", "fdatasync(6</d/previous>) = 0",
            "unlinkat(5</d>, \"previous\", 0) = 0",
        ]
        func omissions(without left: Int?) -> [String] {
            let rest = calls.enumerated().filter { $0.offset != left }.map(\.element)
            return PowerFailure.omissions(
                in: Array(rest.joined(separator: "\n").utf8), below: "/d")
        }
        #expect(omissions(without: nil) == [])
        #expect(omissions(without: 3) == ["renameat: /d/new", "at the end: /d/new"])
        #expect(omissions(without: 6) == ["pwrite64: /d/previous", "at the end: /d"])
        #expect(omissions(without: 8) == ["unlinkat: /d/previous", "at the end: /d/previous"])
        let made = PowerFailure.omissions(in: Array(calls[0].utf8), below: "/d")
        #expect(made == ["at the end: /d"])
    }

    private func omitsNothing(
        _ strace: ForeignProgram, _ options: [String], _ words: [String], _ folder: TemporaryFolder
    ) throws {
        let log = try TemporaryFolder()
        let outcome = try strace.run(
            options + PowerFailure.options + [
                log.file("calls"), BuiltProgram.path("vault-writer"),
            ] + words)
        #expect(outcome.status == 0)
        let calls = try log.bytes(of: "calls")
        #expect(PowerFailure.omissions(in: calls, below: folder.path) == [])
    }

    // A save begins when the writer makes a key to bind entries to or, without a binding, when it
    // takes the vault's lock; all earlier calls belong to unlocking.
    private func start(of calls: [String]) throws -> Int {
        try #require(
            calls.firstIndex { $0.hasPrefix("mkdir") && $0.contains(Self.keys) }
                ?? calls.lastIndex { $0.hasPrefix("flock(") })
    }

    private func name(of call: String) -> Substring { call.prefix { $0 != "(" } }

    // The vault is saved once the folder is synced for the first time.
    private func markStart(_ calls: [String]) -> Int {
        let renamed = calls.firstIndex { $0.hasPrefix("renameat2(") }
        return calls.indices.first { $0 > renamed ?? 0 && calls[$0].hasPrefix("fsync(") } ?? 0
    }

    private func prepared(with writer: String, for run: Run? = nil) throws -> TestVault {
        let vault = try TestVault()
        func write(_ verb: String, _ name: String, _ count: Int) throws {
            let written = try ForeignProgram(path: writer).run(
                [verb, vault.path, name, String(count)])
            try #require(written.status == 0)
        }
        func add(_ name: String, _ count: Int) throws { try write("add", name, count) }
        try add("a", 2)
        if let run, ["unbind", "rebind"].contains(run.verb) { try write("bind", "old", 1) }
        if run?.verb == "merge" {
            // The vault and a copy of it, each with its own entries; those of the copy are bound.
            let common = try vault.bytes()
            try add("copy", 1)
            try write("bind", "old", 1)
            try vault.put(vault.bytes(), as: Self.copy)
            try vault.put(common)
            try add("own", 2)
        }
        return vault
    }

    private static let copy = "vault-copy"
    private static let keys = "vault-keys"

    // strace counts each kind of call separately.
    private func kill(before call: Int, of calls: [String]) -> String {
        let name = calls[call].prefix { $0 != "(" }
        let count = calls[...call].filter { $0.hasPrefix(name + "(") }.count
        return "inject=\(name):signal=KILL:when=\(count)"
    }

    /// The system calls of an undisturbed run, in order.
    private func trace(
        _ strace: ForeignProgram, _ command: [String], _ folder: TemporaryFolder
    ) throws -> [String] {
        let log = try TemporaryFolder()
        let outcome = try strace.run(
            ["-o", log.file("calls"), "-s", "256", "-e", "trace=all"] + command)
        try #require(outcome.status == 0)
        return String(decoding: try log.bytes(of: "calls"), as: UTF8.self)
            .split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("+++") && !$0.hasPrefix("---") }
    }

    private func whatIsLeft(_ vault: TestVault, _ run: Run, _ when: String) throws -> [String] {
        let open = try opened(vault)
        let left = Self.labels(of: open)
        #expect(left == run.before || left == run.after, "\(when)")
        #expect(open.reports.isEmpty, "\(when)")
        let check = try open.check()
        #expect(check.opened == left.count && check.damages.isEmpty, "\(when)")
        if case .unusable(let error) = check.previous {
            Issue.record("\(when), the previous generation is unusable: \(error)")
        }
        // The next save works, and removes leftovers of the killed one.
        try open.update { changes throws(VaultError) in
            try changes.add(
                .plainSecret(issuer: "next", account: "", value: secret("x")), now: 0)
        }
        #expect(try Self.labels(of: vault.unlock()) == left + ["next"], "\(when)")
        let files = try vault.files().filter { $0 != Self.copy && !$0.hasPrefix(Self.keys) }
        #expect(files == TestVault.files, "\(when)")
        guard run.verb.hasSuffix("bind") else { return left }
        // The same command also works again.
        let again = try ForeignProgram(path: BuiltProgram.path("vault-writer")).run(
            [run.verb, vault.path, "new", "1"])
        #expect(again.status == 0, "\(when)")
        let bound = try opened(vault)
        let next = run.verb == "bind" ? "next on new" : "next"
        #expect(Self.labels(of: bound) == run.after + [next], "\(when)")
        #expect(try bound.check().opened == left.count + 1, "\(when)")
        return left
    }

    /// Opens a vault with the keys of this device.
    private func opened(_ vault: TestVault) throws -> UnlockedVault {
        let open = try vault.unlock()
        let store = DeviceKeyStore(folder: vault.folder.file(Self.keys), bindings: [.file])
        for id in store.homes(of: open) {
            try store.load(id, for: open) { (_) throws(VaultError) in throw .busy }
        }
        return open
    }

    private static func labels(of vault: UnlockedVault) -> [String] {
        vault.entries.map { entry in
            entry.issuer + (entry.binding.map { " on " + $0.name } ?? "")
        }
    }
}
