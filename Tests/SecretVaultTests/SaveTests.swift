import Foundation
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

struct SaveTests {
    @Test("no entry is lost when two concurrent processes add fifty each")
    func twoWriters() throws {
        let vault = try TestVault()
        let writer = BuiltProgram.path("vault-writer")
        let processes = ["left", "right"].map { name in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: writer)
            process.arguments = ["add", vault.path, name, "50"]
            return process
        }
        for process in processes { try process.start() }
        for process in processes { process.waitUntilExit() }
        #expect(processes.map(\.terminationStatus) == [0, 0])
        let open = try vault.unlock()
        for name in ["left", "right"] {
            let added = open.entries.map(\.issuer).filter { $0.hasPrefix(name) }
            #expect(added == (0..<50).map { "\(name)-\($0)" })
        }
        #expect(open.entries.count == 100)
        #expect(open.generation == 101)
        #expect(try open.check().damages.isEmpty)
    }

    @Test("a second writer is refused as busy while the lock is held, and admitted afterwards")
    func busy() throws {
        let vault = try TestVault()
        let location = try VaultLocation(vault.path)
        func hold() throws(VaultError) {
            let first = try VaultWriter(location)
            do throws(VaultError) {
                _ = try VaultWriter(location, timeout: .zero)
                Issue.record("two writers held one lock")
            } catch {
                #expect(error == .busy)
            }
            _ = try first.read()
        }
        try hold()
        _ = try VaultWriter(location, timeout: .zero)
    }

    @Test("a folder or a symbolic link in place of a lock is named in the error, and not changed")
    func lockInTheWay() throws {
        for isFolder in [true, false] {
            let vault = try TestVault()
            let open = try vault.unlock()
            let own = ["lock", "login.lock"].map { TestVault.own($0) }
            let counted = try ["presence.lock", "attempts.lock"].map { try vault.counted($0) }
            for name in own + counted {
                let path = vault.folder.file(name)
                if FileManager.default.fileExists(atPath: path) { try removeFile(path) }
                if isFolder { try makeFolder(path) } else { try linkSymbolically("x", to: path) }
            }
            #expect(throws: VaultError.inTheWay(name: own[0])) { try open.update(adding("a")) }
            #expect(throws: VaultError.inTheWay(name: own[1])) { _ = try open.takeLoginLock() }
            #expect(throws: VaultError.inTheWay(name: counted[1])) { try vault.unlock() }
            for name in own + counted {
                let kind = try FileKind(at: vault.folder.file(name), following: false)
                #expect(kind == (isFolder ? .folder : .symbolicLink))
            }
        }
    }

    @Test("a vault can be read while a writer holds the lock")
    func readingIsFree() throws {
        let vault = try TestVault()
        let writer = try VaultWriter(VaultLocation(vault.path))
        #expect(throws: Never.self) { try vault.unlock() }
        _ = try writer.read()
    }

    @Test("the old vault stays unchanged where files cannot grow, and saving works again later")
    func fileTooLarge() throws {
        let vault = try TestVault()
        let writer = BuiltProgram.path("vault-writer")
        let before = try vault.bytes()
        // The limit is one block of 512 bytes, and every vault is larger.
        let shell = ForeignProgram(path: "/bin/sh")
        let outcome = try shell.run([
            "-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\" > /dev/null", "sh",
            writer, "add", vault.path, "a", "20",
        ])
        #expect(outcome.status == 9)
        #expect(try vault.unlock().entries.count < 20)
        #expect(try vault.unlock().check().damages.isEmpty)
        #expect(try vault.bytes().starts(with: before.prefix(20)))
        #expect(try ForeignProgram(path: writer).run(["add", vault.path, "b", "1"]).status == 0)
        #expect(try vault.files() == TestVault.files)
    }

    @Test(
        "a full disk leaves the last saved vault intact, and saving works once there is space",
        .enabled(if: TestCapabilities.canMount, "a small disk cannot be mounted here"))
    func fullDisk() throws {
        let folder = try TemporaryFolder()
        let mount = try #require(ForeignProgram("mount"))
        let options = ["-t", "tmpfs", "-o", "size=128k,mode=700", "tmpfs", folder.path]
        try #require(try mount.run(options).status == 0, "a container may forbid mounting")
        defer {
            #expect(throws: Never.self) {
                _ = try #require(ForeignProgram("umount")).run([folder.path])
            }
        }
        let writer = ForeignProgram(path: BuiltProgram.path("vault-writer"))
        let path = folder.file("vault")
        #expect(try writer.run(["create", path, "", "0"]).status == 0)
        let stopped = try writer.run(["add", path, "a", "1000"])
        #expect(stopped.status == 9)
        #expect(stopped.text.contains("SystemCallFailure(call: \"write\", number: \(ENOSPC))"))
        let open = try Vault.unlock(at: path, with: .passphrase(TestVault.passphrase))
        let count = open.entries.count
        #expect((10..<1000).contains(count))
        #expect(open.entries.map(\.issuer) == (0..<count).map { "a-\($0)" })
        #expect(try open.check().damages.isEmpty)
        #expect(!(try TestVault.files(in: folder).contains(TestVault.own("new"))))
        // Removing an entry needs less space than adding one.
        try FileManager.default.removeItem(atPath: folder.file(TestVault.own("previous")))
        #expect(try writer.run(["remove", path, "", "1"]).status == 0)
        let after = try Vault.unlock(at: path, with: .passphrase(TestVault.passphrase))
        #expect(after.entries.count == count - 1)
    }

    @Test(
        "a read-only folder prevents saving and passphrase attempts, not unlocking by recovery key",
        .enabled(if: geteuid() == 0 && TestCapabilities.canMakeReadOnly, "needs root and chattr"))
    func readOnlyFolder() throws {
        let vault = try TestVault(recoveryKey: true)
        _ = try vault.fill()
        let before = try vault.bytes()
        // Root may write to every folder that is not immutable.
        let chattr = try #require(ForeignProgram("chattr"))
        try #require(try chattr.run(["-R", "+i", vault.folder.path]).status == 0)
        defer {
            #expect(throws: Never.self) { _ = try chattr.run(["-R", "-i", vault.folder.path]) }
        }
        let refusal = SystemCallFailure(call: "openat", number: EPERM)
        #expect(throws: VaultError.notCounted(refusal)) { try vault.unlock() }
        let key = try #require(vault.recoveryKey)
        let open = try Vault.unlock(at: vault.path, with: .recoveryKey(key))
        #expect(open.entries.count == 4 && open.reports.isEmpty)
        #expect(throws: VaultError.system(refusal)) {
            try open.change { try $0.remove(open.entries[0].id, purge: false) }
        }
        #expect(try vault.bytes() == before)
    }

    @Test(
        "a complete vault remains after a power failure, whatever part of the folder reached the disk"
    )
    func powerCut() throws {
        // The folder's possible states: each rename and link may have reached the disk or not. The
        // new file was on the disk before it was renamed.
        let vault = try TestVault()
        let open = try vault.unlock()
        try open.update(adding("first"))
        let (old, oldMark) = (
            try vault.bytes(), try vault.folder.bytes(of: TestVault.own("generation"))
        )
        let oldPrevious = try vault.folder.bytes(of: TestVault.own("previous"))
        try open.update(adding("second"))
        let (new, newMark) = (
            try vault.bytes(), try vault.folder.bytes(of: TestVault.own("generation"))
        )
        for current in [old, new] {
            for previous in [nil, oldPrevious, old] {
                for aside in [nil, [], Array(new.prefix(700)), new] {
                    for mark in [nil, oldMark, current == new ? newMark : oldMark] {
                        let state = [
                            "vault": current, TestVault.own("previous"): previous,
                            TestVault.own("new"): aside, TestVault.own("generation"): mark,
                        ]
                        try expectWhole(state, isNew: current == new)
                    }
                }
            }
        }
    }

    private func expectWhole(_ state: [String: [UInt8]?], isNew: Bool) throws {
        let folder = try TemporaryFolder()
        for (name, bytes) in state {
            guard let bytes else { continue }
            try TestVault.put(bytes, as: name, in: folder)
        }
        let open = try Vault.unlock(
            at: folder.file("vault"), with: .passphrase(TestVault.passphrase))
        #expect(open.entries.map(\.issuer) == (isNew ? ["first", "second"] : ["first"]))
        #expect(open.reports.isEmpty)
        try open.update(adding("next"))
        #expect(try open.check().damages.isEmpty)
        #expect(!(try TestVault.files(in: folder).contains(TestVault.own("new"))))
    }

    private func adding(_ name: String) -> (inout VaultChanges) throws(VaultError) -> Void {
        { changes throws(VaultError) in
            try changes.add(.plainSecret(issuer: name, account: "", value: secret("x")), now: 0)
        }
    }

    @Test("purging leaves no previous generation with the entry; a plain removal does")
    func purging() throws {
        for purge in [false, true] {
            let vault = try TestVault()
            let ids = try vault.fill()
            let box = try sealedBox(ids[2], in: vault)
            try vault.unlock().change { try $0.remove(ids[2], purge: purge) }
            let files = try vault.files().filter { !$0.contains("/ID/") }
            #expect(files.contains(TestVault.own("previous")) == !purge)
            let holders = try files.filter { name in
                String(decoding: try vault.folder.bytes(of: name), as: UTF8.self).contains(box)
            }
            #expect(holders == (purge ? [] : [TestVault.own("previous")]))
        }
    }

    @Test("purging also overwrites the generation before the previous one")
    func purgingOlder() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let box = try sealedBox(ids[0], in: vault)
        // An open descriptor still gives access to the content of the file's blocks.
        let older = try FileHandle(
            forReadingFrom: URL(filePath: vault.folder.file(TestVault.own("previous"))))
        try vault.unlock().change { try $0.remove(ids[0], purge: true) }
        let left = String(decoding: try older.readToEnd() ?? Data(), as: UTF8.self)
        #expect(left.hasPrefix("watchword-vault ") && !left.contains(box))
        // The vault's ID is not overwritten, so that the file can still be recognised.
        let lines = left.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 3 && lines[1].hasPrefix("vault "))
        #expect(lines[2].allSatisfy { $0 == "\0" })
    }

    @Test(
        "an unrelated file beside the vault is not changed, and saving reports the conflict")
    func bystanders() throws {
        let names = ["new", "previous.new", "previous"].map(TestVault.own)
        for name in names {
            let vault = try TestVault()
            let before = try vault.bytes()
            try vault.put(Array("my notes".utf8), as: name)
            #expect(throws: VaultError.inTheWay(name: name)) {
                try vault.unlock().update(adding("new"))
            }
            #expect(try vault.folder.bytes(of: name) == Array("my notes".utf8))
            #expect(try vault.bytes() == before)
        }
        for name in names {
            let folder = try TemporaryFolder()
            try TestVault.put(Array("my notes".utf8), as: name, in: folder)
            #expect(throws: VaultError.inTheWay(name: name)) {
                try Vault.create(
                    at: folder.file("vault"), passphrase: secret("x"),
                    cost: .lowest, recoveryKey: nil, now: 0)
            }
            #expect(try folder.bytes(of: name) == Array("my notes".utf8))
        }
    }

    private func sealedBox(_ id: RecordID, in vault: TestVault) throws -> String {
        let document = try VaultDocument(parsing: vault.bytes())
        let index = try #require(document.records.firstIndex { $0.id == id })
        guard case .sealed(let box) = document.bodies[index] else { throw VaultError.wiped }
        return String(decoding: box, as: UTF8.self)
    }
}
