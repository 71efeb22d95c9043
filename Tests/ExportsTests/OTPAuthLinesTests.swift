import Exports
import Foundation
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@Suite("Lines of key URIs")
struct OTPAuthLinesTests {
    @Test("each line is read on its own and keeps its number")
    func lines() throws {
        let text = """
            # a comment

              otpauth://totp/A:b?secret=GEZDGNBV\u{20}
            otpauth://totp/A:b
            otpauth-migration://offline?data=EAEYAQ
            otpauth-migration://offline?data=C
            hello
            otpauth://hotp/c?secret=GEZDGNBV
            """
        let lines = read(Array(text.utf8)).lines
        #expect(lines.map(\.number) == [3, 4, 5, 6, 7, 8])
        #expect(
            lines.map(\.summary) == [
                "key b", "keyURI emptyKey", "migration 0", "migration base64", "notAURI", "key c",
            ])
    }

    @Test("a caller can stop early, and the rest is not read")
    func stops() {
        struct Enough: Error {}
        let text = SecretBytes(copying: Array("1\n2\n3\n".utf8).span)
        var numbers: [Int] = []
        #expect(throws: Enough.self) {
            try OTPAuthLines.read(text) { line throws(Enough) in
                numbers.append(line.number)
                if line.number == 2 { throw Enough() }
            }
        }
        #expect(numbers == [1, 2])
    }

    @Test("line endings of all systems and a byte order mark are removed")
    func lineEnds() {
        let uri = "otpauth://totp/b?secret=GEZDGNBV"
        let text = [0xef, 0xbb, 0xbf] + Array("\(uri)\r\n\r\n\(uri)\r\n\(uri)".utf8)
        let lines = read(text).lines
        #expect(lines.map(\.number) == [1, 3, 4])
        #expect(lines.allSatisfy { $0.key?.warnings.isEmpty == true })
    }

    @Test(
        "a file with only blank lines and comments yields no lines",
        arguments: ["", "\n", "\r\n", "# x", "\u{feff}"])
    func empty(text: String) { #expect(read(Array(text.utf8)).lines.isEmpty) }

    @Test("strict parsing refuses what lenient parsing warns about")
    func strict() {
        let text = Array("otpauth://totp/A:b c?secret=GEZDGNBV".utf8)
        #expect(read(text).lines.map(\.summary) == ["key b c"])
        let strict = OTPAuthLines(SecretBytes(copying: text.span), reading: .strict)
        #expect(strict.lines.map(\.summary) == ["keyURI notStrict"])
    }

    @Test(
        "other apps' URI lists are read as an independent program reads them",
        .enabled(if: PackageFolder.shared != nil, "the shared exports are not there"),
        arguments: ["aegis__plain.txt", "stratum__urilist.txt"])
    func sharedLists(file: String) throws {
        let folder = try #require(PackageFolder.shared).appending(path: "exports/uri-list")
        let lines = read([UInt8](try Data(contentsOf: folder.appending(path: file)))).lines
        let credentials = try lines.map { try #require($0.key).credential }
        let expected = try ExpectedFile(folder.appending(path: "expected/\(file).json")).entries
        #expect(credentials.count == expected.count)
        for (credential, entry) in zip(credentials, expected) { try entry.check(credential) }
    }

    @Test(
        "Google's exports are read the same way as by an independent program",
        .enabled(if: PackageFolder.shared != nil, "the shared exports are not there"),
        arguments: ["extract__example_export_only_totp.txt", "stratum__googleauthenticator.txt"])
    func sharedMigrations(file: String) throws {
        let folder = try #require(PackageFolder.shared).appending(path: "exports/google-migration")
        let lines = read([UInt8](try Data(contentsOf: folder.appending(path: file)))).lines
        let batches = try lines.map { try #require($0.migration) }
        let expected = try ExpectedExport(folder.appending(path: "expected/\(file).json")).entries
        #expect(batches.count == expected.count)
        for (batch, part) in zip(batches, expected) {
            #expect(batch.version == part.meta.version)
            #expect(batch.size == part.meta.batch_size)
            #expect(batch.index == part.meta.batch_index)
            #expect(batch.id == part.meta.batch_id)
            #expect(batch.refusals.isEmpty)
            #expect(batch.credentials.count == part.entries.count)
            for (credential, entry) in zip(batch.credentials, part.entries) {
                try entry.check(credential)
            }
        }
    }

    @Test(
        "an export of version 2 from a picture is read as an independent program reads it",
        .enabled(if: PackageFolder.shared != nil, "the shared exports are not there"))
    func sharedPicture() throws {
        let file = try #require(PackageFolder.shared).appending(
            path: "exports/google-migration/expected/"
                + "proton__GoogleAuthImportScreenshotCropped.jpg.json")
        let found = try #require(ExpectedPicture(file).entries.first)
        let batch = try #require(read(Array(found.text.utf8)).lines.first?.migration)
        #expect((batch.version, batch.id) == (2, 0))
        #expect(batch.warnings.isEmpty && batch.refusals.isEmpty)
        #expect(batch.credentials.count == found.decoded.entries.count)
        for (credential, entry) in zip(batch.credentials, found.decoded.entries) {
            try entry.check(credential)
        }
    }

    private func read(_ text: [UInt8]) -> OTPAuthLines {
        OTPAuthLines(SecretBytes(copying: text.span))
    }
}

extension OTPAuthLines.Line {
    fileprivate var key: KeyURI? { if case .key(let uri) = content { uri } else { nil } }

    fileprivate var migration: MigrationBatch? {
        if case .migration(let batch) = content { batch } else { nil }
    }

    /// A one-word summary of the line.
    fileprivate var summary: String {
        switch content {
        case .key(let uri): "key \(uri.credential.account)"
        case .migration(let batch): "migration \(batch.credentials.count)"
        case .refused(.notAURI): "notAURI"
        case .refused(.keyURI(.notStrict)): "keyURI notStrict"
        case .refused(.keyURI(let error)): "keyURI \(error)"
        case .refused(.migration(.base64)): "migration base64"
        case .refused(.migration(let error)): "migration \(error)"
        }
    }
}
