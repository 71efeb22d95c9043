import CZip
@testable import ExportReading
import Exports
import TestSupport
import Testing
import WatchwordCryptography

@Suite("Hostile archives")
struct HostileArchiveTests {
    private typealias Member = MadeArchive.Member
    private static let document = Array(#"{"accounts":[]}"#.utf8)

    private static func archive(_ bytes: [UInt8]) throws -> ZipArchive {
        try ZipArchive(SecretBytes(copying: bytes.span))
    }

    /// Replaces the length that the directory and the member's header state.
    private static func stating(_ length: Int, in file: [UInt8], of content: Int) -> [UInt8] {
        func bytes(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(number >> (8 * $0) & 255) } }
        var file = file
        for start in 0..<(file.count - 4) where Array(file[start..<start + 4]) == bytes(content) {
            file.replaceSubrange(start..<start + 4, with: bytes(length))
        }
        return file
    }

    @Test("a member that grows to more than 100 times its length is refused")
    func ratio() throws {
        let zeros = [UInt8](repeating: 0, count: 32 << 20)
        let file = try MadeArchive.file([Member(name: "export.data", content: zeros)])
        let reading = try ConfinedReading(file, mebibytes: 128)
        #expect(reading.status == 0)
        #expect(reading.answer.contains("compressionRatio, found: 33554432"))
        // 1 MiB is always allowed.
        let small = try MadeArchive.file([
            Member(name: "zeros", content: [UInt8](repeating: 0, count: 1 << 20))
        ])
        let archive = try Self.archive(small)
        let member = try #require(try archive.member(named: "zeros"))
        #expect(try archive.read(member, password: nil, limit: 2 << 20).count == 1 << 20)
        #expect(
            throws: ContainerError.overLimit(.documentSize, found: 1 << 20, allowed: (1 << 20) - 1)
        ) {
            try archive.read(member, password: nil, limit: (1 << 20) - 1)
        }
    }

    @Test("a member whose length differs from the length in the directory is refused")
    func falseLength() throws {
        let content = [UInt8](repeating: 7, count: 123_457)
        let file = try MadeArchive.file([Member(name: "export.data", content: content)])
        for length in [0, 1, 123_456, 123_458, 1 << 20] {
            #expect(throws: ExportError.damaged(.onePassword)) {
                try read(Self.stating(length, in: file, of: content.count))
            }
        }
        let large = Self.stating(Int(UInt32.max) - 1, in: file, of: content.count)
        #expect(
            throws: ExportError.overLimit(
                .onePassword, .documentSize, found: UInt64(UInt32.max) - 1, allowed: 128 << 20)
        ) {
            try read(large)
        }
    }

    @Test("more than 10,000 members are refused before they are listed")
    func manyMembers() throws {
        for count in [10_000, 10_001] {
            let members = (0..<count).map { Member(name: "\($0)", content: []) }
            let file = try MadeArchive.file(members)
            if count == 10_000 {
                #expect(try Self.archive(file).members.count == count)
            } else {
                #expect(
                    throws: ContainerError.overLimit(
                        .archiveMembers, found: UInt64(count), allowed: 10_000)
                ) {
                    try Self.archive(file)
                }
            }
        }
    }

    @Test(
        "folders in the names of members have no effect",
        arguments: [
            "../export.data", "/export.data", "a/export.data", "export.data/", "EXPORT.DATA",
        ])
    func paths(name: String) throws {
        let file = try MadeArchive.file([Member(name: name, content: Self.document)])
        let reading = try ConfinedReading(file)
        #expect(reading.status == 0)
        // A folder has no content.
        let isFolder = name.hasSuffix("/")
        #expect(reading.answer.hasPrefix(isFolder ? "unreadable" : "unknownFormat"))
    }

    @Test("a symbolic link is read as a file that contains its target's path")
    func link() throws {
        let file = try MadeArchive.file([
            Member(name: "export.data", content: Array("/etc/passwd".utf8), isLink: true)
        ])
        let reading = try ConfinedReading(file)
        #expect(reading.status == 0)
        #expect(reading.answer.hasPrefix("damaged"))
    }

    @Test("an archive inside an archive is not opened")
    func nesting() throws {
        let inner = try MadeArchive.file([Member(name: "export.data", content: Self.document)])
        let outer = try MadeArchive.file([Member(name: "export.data", content: inner)])
        #expect(throws: ExportError.damaged(.onePassword)) { try read(outer) }
        #expect(throws: ExportError.noEntries(.onePassword)) { try read(inner) }
    }

    @Test("two members with the same name are refused")
    func doubledName() throws {
        var file = try MadeArchive.file([
            Member(name: "export.data", content: Self.document),
            Member(name: "export.datb", content: Self.document),
        ])
        let other = Array("export.datb".utf8)
        for start in 0..<(file.count - other.count)
        where Array(file[start..<start + other.count]) == other {
            file[start + other.count - 1] = UInt8(ascii: "a")
        }
        #expect(throws: ExportError.damaged(.onePassword)) { try read(file) }
    }

    @Test(
        "wrong passwords and damage are refused", arguments: [ZIP_EM_TRAD_PKWARE, ZIP_EM_AES_256])
    func encryption(method: Int32) throws {
        let list = Array("otpauth://totp/Acme:ann?secret=AAISEM2EKVTHPCEZ\n".utf8)
        let file = try MadeArchive.file([
            Member(name: "Accounts.txt", content: list, encryption: method, password: "right")
        ])
        #expect(try read(file, "right").entries.count == 1)
        #expect(throws: ExportError.passwordNeeded(.authenticatorPlus)) { try read(file) }
        // ZipCrypto itself notices only 255 of 256 wrong passwords.
        for number in 0..<600 {
            #expect(throws: ExportError.wrongPassword(.authenticatorPlus)) {
                try read(file, "wrong \(number)")
            }
        }
        #expect(throws: ExportError.wrongPassword(.authenticatorPlus)) {
            try read(file, "right\0")
        }
    }

    @Test("a changed or truncated archive is refused or yields the same entries")
    func changes() throws {
        let list = Array("otpauth://totp/Acme:ann?secret=AAISEM2EKVTHPCEZ\n".utf8)
        let file = try MadeArchive.file([Member(name: "Accounts.txt", content: list)])
        var refused = 0
        for index in file.indices {
            #expect(throws: ExportError.self) { try read(Array(file[..<index])) }
            for bit in [UInt8(1), 0x80] {
                var changed = file
                changed[index] ^= bit
                do {
                    #expect(try read(changed).entries.count == 1)
                } catch {
                    refused += 1
                }
            }
        }
        #expect(refused > file.count / 2)
    }
}
