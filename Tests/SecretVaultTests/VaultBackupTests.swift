import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

struct VaultBackupTests {
    private static let passphrase = secret("seven wooden ducks")

    /// Entries of every kind that a backup can contain, each with different details and access
    /// control.
    private static func entries() throws -> [VaultBackup.Entry] {
        let codes = [UncomputedCode.Kind.motp, .yandex].map { kind in
            EntryContent.uncomputed(
                UncomputedCode(
                    kind: kind, issuer: "Ä", account: "\(kind)", secret: secret("00aabb"),
                    pin: kind == .motp ? secret("1234") : nil))
        }
        let contents = try TestVault.contents().filter { $0.kind != .enrolled } + codes
        return try contents.enumerated().map { index, content in
            VaultBackup.Entry(
                content: content,
                details: EntryDetails(
                    tags: Array(["work", "日本語"].prefix(index)), note: "note\n\(index)",
                    icon: index == 1 ? "bank" : "", isFavourite: index == 2),
                accessControl: AccessControl(
                    presence: index == 0 ? .perUse(.pam) : .perUnlock,
                    onFailure: index == 1
                        ? .wipe(after: try #require(FailureCount(7))) : .lockOut),
                created: TestVault.now + Int64(index))
        }
    }

    private static func sealed(_ entries: [VaultBackup.Entry]) throws(VaultError) -> [UInt8] {
        try VaultBackup(entries).sealed(
            passphrase: passphrase, cost: .lowest, now: TestVault.now)
    }

    private static func check(_ read: [VaultBackup.Entry], _ entries: [VaultBackup.Entry]) {
        #expect(read.map { Facts($0.content) } == entries.map { Facts($0.content) })
        #expect(read.map(\.details) == entries.map(\.details))
        #expect(read.map(\.accessControl) == entries.map(\.accessControl))
        #expect(read.map(\.created) == entries.map(\.created))
    }

    @Test("a backup keeps all properties of each entry")
    func roundTrip() throws {
        let entries = try Self.entries()
        let backup = try VaultBackup(
            opening: Self.sealed(entries), passphrase: Self.passphrase)
        Self.check(backup.entries, entries)
        #expect(backup.leftOut.isEmpty)
    }

    @Test("a backup is a vault with its own ID")
    func vault() throws {
        let folder = try TemporaryFolder()
        let entries = try Self.entries()
        let bytes = try Self.sealed(entries)
        try TestVault.put(bytes, as: "backup", in: folder)
        let opened = try Vault.unlock(
            at: folder.file("backup"), with: .passphrase(Self.passphrase))
        #expect(opened.entries.map(\.details) == entries.map(\.details))
        #expect(opened.entries.map(\.created) == entries.map(\.created))
        #expect(try opened.check().damages.isEmpty)
        #expect(try opened.isSameVault(bytes))
        #expect(throws: VaultError.truncated) {
            _ = try opened.isSameVault(Array(bytes.dropLast(9)))
        }
        #expect(try !opened.isSameVault(Self.sealed(entries)))
        let isVault = Vault.isVault(bytes.span)
        let beginningIsVault = Vault.isVault(bytes.span.extracting(..<8))
        #expect(isVault && !beginningIsVault)
    }

    @Test("a wrong passphrase, a changed byte or a truncated file is refused")
    func refused() throws {
        let bytes = try Self.sealed(Self.entries())
        #expect(throws: VaultError.wrongPassphrase) {
            _ = try VaultBackup(opening: bytes, passphrase: secret("seven wooden duck"))
        }
        #expect(throws: VaultError.truncated) {
            _ = try VaultBackup(opening: Array(bytes.dropLast(9)), passphrase: Self.passphrase)
        }
        for index in stride(from: 20, to: bytes.count, by: 97) {
            var changed = bytes
            changed[index] ^= 1
            #expect(throws: VaultError.self) {
                _ = try VaultBackup(opening: changed, passphrase: Self.passphrase)
            }
        }
    }

    @Test("neither enrolled nor wiped secrets are copied")
    func enrolled() throws {
        let enrolled = VaultBackup.Entry(
            content: try TestVault.contents()[3], details: EntryDetails(),
            accessControl: .standard(for: .enrolled), created: 0)
        #expect(throws: VaultError.otherKind) { _ = try Self.sealed([enrolled]) }
        let vault = try TestVault()
        let ids = try vault.fill()
        try vault.unlock().change { try $0.wipe(ids[0], because: .failures, now: 0) }
        let read = try VaultBackup(opening: vault.bytes(), passphrase: TestVault.passphrase)
        #expect(read.entries.map { $0.content.kind } == [.hotp, .secret])
        #expect(read.leftOut.map(\.id) == [ids[0], ids[3]])
    }

    @Test(
        "the second reader opens a backup",
        .enabled(
            if: ForeignProgram.canReadIndependently,
            "python3 or its package cryptography is missing"))
    func secondReader() throws {
        let folder = try TemporaryFolder()
        let entries = try Self.entries()
        try TestVault.put(Self.sealed(entries), as: "backup", in: folder)
        let facts = try SecondReader.read(
            folder.file("backup"), passphrase: "seven wooden ducks")
        #expect(facts.entries.map(\.issuer) == entries.map(\.content.issuer))
    }
}
