import Exports
import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

/// A made-up encrypted export, with its only entry.
struct EncryptedExportVector: Codable, Sendable {
    let name: String
    let format: String
    let encoding: String
    let file: String
    let issuer: String
    let account: String
    let tags: [String]
    let state: String
    let note: String

    var content: SecretBytes {
        get throws {
            guard encoding == "base64" else { return SecretBytes(text: file) }
            return try #require(SecretBytes(text: file).decodedBase64())
        }
    }
}

@Suite("Made-up encrypted exports")
struct EncryptedExportTests {
    static let vectors: [EncryptedExportVector] = {
        do { return try VectorFile("exports/encrypted.json").cases } catch { return [] }
    }()
    /// The formats whose examples other suites read, and `zipArchive`, which only errors name.
    private static let elsewhere: Set<ExportFormat> = [
        .authenticatorPlus, .authy, .battleNet, .microsoftAuthenticator, .onePassword, .pskc,
        .watchwordSheet, .watchwordVault, .winAuth, .zipArchive,
    ]
    private let password = SecretBytes(text: "pw")

    @Test("each format has an example")
    func complete() {
        let encrypted = Self.vectors.compactMap { ExportFormat(rawValue: $0.format) }
        let examples = Self.elsewhere.union(encrypted).union(FormatTests.exports.map(\.format))
        #expect(examples == Set(ExportFormat.allCases))
    }

    @Test("the password opens the file", arguments: vectors)
    func opens(vector: EncryptedExportVector) throws {
        let export = try readExport(try vector.content, password: password)
        #expect("\(export.format)" == vector.format)
        let entry =
            "totp \(vector.issuer)|\(vector.account) 00112233445566778899 SHA1 6 30 "
            + "\(vector.tags.sorted()) \(vector.state)"
        #expect(export.lines == [entry])
        #expect(export.entries.map(\.note) == [vector.note])
    }

    @Test("a wrong password is refused", arguments: vectors)
    func wrongPassword(vector: EncryptedExportVector) throws {
        for password in ["", "pX", "pw\n"] {
            let error = #expect(throws: ExportError.self) { try read(try vector.content, password) }
            guard case .wrongPassword? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test("without a password, the error says that one is needed", arguments: vectors)
    func noPassword(vector: EncryptedExportVector) throws {
        let error = #expect(throws: ExportError.self) {
            _ = try readExport(try vector.content, password: nil)
        }
        guard case .passwordNeeded? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a truncated file is refused", arguments: vectors)
    func truncated(vector: EncryptedExportVector) throws {
        let content = try vector.content
        for count in [0, 1, 8, 20, 47, 60, content.count / 2, content.count - 1]
        where count < content.count {
            #expect(throws: ExportError.self) {
                _ = try readExport(content.part(0..<count), password: password)
            }
        }
    }
}

/// Encrypted parts of exports, which other code hands to a container.
struct EncryptedPart: Codable, Sendable {
    let name: String
    let file: String
    let salt: String?
    let vector: String?
}

@Suite("Encrypted parts of exports")
struct EncryptedPartTests {
    private let parts: [String: EncryptedPart]
    private let password = SecretBytes(text: "pw")

    init() throws {
        let cases = try VectorFile<EncryptedPart>("exports/encrypted-parts.json").cases
        parts = Dictionary(uniqueKeysWithValues: cases.map { ($0.name, $0) })
    }

    @Test("a Steam Desktop Authenticator file opens with the parameters in its manifest")
    func steam() throws {
        let part = try #require(parts["steam"])
        let manifest = try readExportJSON(
            SecretBytes(
                text: #"{"entries":[{"filename":"other.maFile"},{"filename":"1.maFile","#
                    + #""encryption_salt":"\#(try #require(part.salt))","#
                    + #""encryption_iv":"\#(try #require(part.vector))","steamid":1}]}"#), .steam)
        let parameters = try #require(try SteamContainer.Parameters(in: manifest, of: "1.maFile"))
        let none = try SteamContainer.Parameters(in: manifest, of: "2.maFile")
        #expect(none.map { _ in true } == nil)
        #expect(throws: ExportError.damaged(.steam)) {
            _ = try SteamContainer.Parameters(in: manifest, of: "other.maFile")
        }
        let file = SecretBytes(text: part.file)
        let json = try SteamContainer.open(file, parameters, password: password)
        let rows = try SteamFormat.read(try readExportJSON(json, .steam)).rows
        #expect(rows.count == 1)
        let secret = "00112233445566778899"
        #expect(EntrySummary(try rows[0].entry()).secret == secret + secret)
        #expect(throws: ExportError.wrongPassword(.steam)) {
            _ = try SteamContainer.open(file, parameters, password: SecretBytes(text: "pX"))
        }
    }

    @Test("a Steam Desktop Authenticator file opens with the manifest beside it")
    func steamFiles() throws {
        let part = try #require(parts["steam"])
        let manifest =
            #"{"encrypted":true,"entries":[{"filename":"1.maFile","steamid":1,"#
            + #""encryption_salt":"\#(try #require(part.salt))","#
            + #""encryption_iv":"\#(try #require(part.vector))"}]}"#
        let source = ExportSource(
            SecretBytes(text: part.file), name: "1.maFile", manifest: SecretBytes(text: manifest))
        let other = ExportSource(source.file, name: "2.maFile", manifest: source.manifest)
        let archive = ExportSource(
            SecretBytes(
                try MadeArchive.file([
                    .init(name: "maFiles/1.maFile", content: Array(part.file.utf8)),
                    .init(name: "maFiles/manifest.json", content: Array(manifest.utf8)),
                ])))
        for source in [source, archive] {
            #expect(throws: ExportError.passwordNeeded(.steam)) {
                try readExport(source, password: nil)
            }
            #expect(throws: ExportError.wrongPassword(.steam)) {
                try readExport(source, password: SecretBytes(text: "pX"))
            }
            let export = try readExport(source, password: password)
            #expect(export.format == .steam && export.entries.count == 1)
        }
        #expect(throws: ExportError.passwordNeeded(.totpAuthenticator)) {
            try readExport(other, password: nil)
        }
        #expect(throws: ExportError.unreadable(.steam, .manifest)) { try read(manifest) }
    }

    @Test("a damaged maFile in an archive is refused and named, and the others are read")
    func damagedSteamFile() throws {
        let part = try #require(parts["steam"])
        let entries = ["1", "2", "5"].map {
            #"{"filename":"\#($0).maFile","steamid":1,"encryption_salt":"\#(part.salt ?? "")","#
                + #""encryption_iv":"\#(part.vector ?? "")"}"#
        }
        let manifest = #"{"encrypted":true,"entries":[\#(entries.joined(separator: ","))]}"#
        let plain = #"{"shared_secret":"ABEiM0RVZneImQ==","account_name":"bob"}"#
        let good: [(String, String)] = [
            ("1.maFile", part.file), ("4.maFile", plain), ("manifest.json", manifest),
        ]
        let bad: [(String, String)] = [
            ("2.maFile", String(part.file.dropLast(24))), ("3.maFile", String(plain.dropLast(3))),
            ("5.maFile", "no Base64"), ("6.maFile", part.file),
        ]
        func read(_ files: [(String, String)], _ password: String?) throws -> Export {
            let members = files.map {
                MadeArchive.Member(name: "maFiles/" + $0.0, content: Array($0.1.utf8))
            }
            return try readExport(
                SecretBytes(try MadeArchive.file(members)),
                password: password.map { SecretBytes(text: $0) })
        }
        let export = try read(good + bad, "pw")
        let accounts = export.entries.map { EntrySummary($0).account }
        #expect(accounts == ["ann", "bob"])
        #expect(export.refusals.map(\.account) == bad.map(\.0))
        #expect(export.refusals.allSatisfy { $0.reason == .unreadableFile })
        #expect(throws: ExportError.passwordNeeded(.steam)) { _ = try read(good + bad, nil) }
        #expect(throws: ExportError.wrongPassword(.steam)) { _ = try read(good + bad, "pX") }
        let plainOnly = try read([good[1], bad[1]], nil)
        #expect(plainOnly.entries.count == 1 && plainOnly.refusals.count == 1)
    }

    @Test("Authy's secret is decrypted, and a wrong password is refused")
    func authy() throws {
        let part = try #require(parts["authy"])
        let salt = SecretBytes(text: try #require(part.salt))
        func open(_ password: String) throws -> String {
            try AuthyContainer.open(
                encryptedSecret: SecretBytes(text: part.file), salt: salt,
                password: SecretBytes(text: password)
            ).text
        }
        #expect(try open("pw") == "AAISEM2EKVTHPCEZ")
        // One in 256 has valid padding: the content must be Base32 as well.
        for number in 0..<600 {
            #expect(throws: ExportError.wrongPassword(.authy)) { _ = try open("\(number)") }
        }
    }

    @Test("OTPClient's older files open although the app truncated the password")
    func otpClient() throws {
        let part = try #require(parts["otpclient"])
        let file = try #require(SecretBytes(text: part.file).decodedBase64())
        let export = try read(file, "p\u{e4}")
        #expect(export.entries.count == 1)
        for wrong in ["p\u{e5}x", "p", "p\u{2c4}x"] {
            #expect(throws: ExportError.wrongPassword(.otpClient)) { try read(file, wrong) }
        }
    }

    @Test("OTPClient's newer files open with the whole password, whatever characters it contains")
    func newerOTPClient() throws {
        let part = try #require(parts["otpclient3"])
        let file = try #require(SecretBytes(text: part.file).decodedBase64())
        #expect(try read(file, "p\u{e4}").entries.count == 1)
        // This has as many characters as the password has bytes.
        #expect(throws: ExportError.wrongPassword(.otpClient)) { try read(file, "p\u{e4}x") }
    }

    @Test("a database that SQLCipher 3 encrypted is decrypted to a SQLite database")
    func database() throws {
        let part = try #require(parts["database"])
        let file = try #require(SecretBytes(text: part.file).decodedBase64())
        let database = try AuthenticatorPlusContainer.open(file, password: password)
        #expect(database.count == file.count)
        #expect(database.part(0..<16).text == "SQLite format 3\0")
        #expect(database.text.contains("AAISEM2EKVTHPCEZ"))
        // The page size, and as many reserved bytes as SQLCipher uses.
        #expect(database.part(16..<18).hex == "0400")
        #expect(database.part(20..<21).hex == "30")
        let entries = try readExport(file, password: password).entries
        #expect(
            entries.map { EntrySummary($0).description }
                == ["totp Acme|ann 00112233445566778899 SHA1 6 30 [\"Work\"] active"])
        #expect(throws: ExportError.wrongPassword(.authenticatorPlus)) {
            _ = try AuthenticatorPlusContainer.open(file, password: SecretBytes(text: "pX"))
        }
        // Each page is authenticated, with its number.
        for index in [0, 20, 1000, 1024, 2500] {
            var changed = file.known
            changed[index] ^= 1
            #expect(throws: ExportError.wrongPassword(.authenticatorPlus)) {
                _ = try AuthenticatorPlusContainer.open(
                    SecretBytes(copying: changed.span), password: password)
            }
        }
        #expect(throws: ExportError.damaged(.authenticatorPlus)) {
            _ = try AuthenticatorPlusContainer.open(file.part(0..<1000), password: password)
        }
    }
}
