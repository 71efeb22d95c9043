import Exports
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

@Suite("Exports that cannot be read")
struct RefusalTests {
    private func error(_ bytes: [UInt8]) -> ExportError? {
        do throws(ExportError) { _ = try read(bytes) } catch { return error }
        return nil
    }

    private func error(_ text: String) -> ExportError? { error(Array(text.utf8)) }

    @Test("a refused row keeps the names that were read before the refusal")
    func refusedNames() throws {
        let text = """
            [{"secret":"%%","label":"Acme - ann","type":"TOTP","algorithm":"SHA1"}]
            """
        let refused = try read(text).refusals
        #expect(refused.map(\.issuer) == ["Acme"] && refused.map(\.account) == ["ann"])
    }

    @Test(
        "a file that is not an export is refused",
        arguments: [
            "", " ", "hello", "{}", "[]", "[1]", #"{"a":1}"#, "<html></html>", "a,b", "a,b\n1",
            "user:password", "# comment", "Dear Ann,\nI have no time, but thanks, really.\nBob",
        ])
    func unknown(text: String) {
        #expect(error(text) == .unknownFormat)
    }

    @Test(
        "a file that no password can open is refused with the reason",
        arguments: [
            ([0x03, 0xD9, 0xA2, 0x9A, 0x65, 0xFB, 0x4B, 0xB5], .keePass, .keePass1),
            ([0x85, 0x01], nil, .publicKeyEncryption), ([0xFF, 0xFE, 0x7B, 0x00], nil, .utf16),
            (Array("age-encryption.org/v1\n".utf8), nil, .publicKeyEncryption),
            (Array(#"{"encrypted":true,"data":""}"#.utf8), .bitwarden, .accountRestricted),
        ] as [([UInt8], ExportFormat?, ExportObstacle)])
    func obstacles(file: [UInt8], format: ExportFormat?, obstacle: ExportObstacle) {
        #expect(error(file) == .unreadable(format, obstacle))
    }

    /// Malformed JSON, encrypted exports, newer versions, damage and exports without codes.
    @Test(
        "an export that cannot be read is refused with the reason",
        arguments: [
            ("{", .notJSON), ("[{]", .notJSON), (#"{"a":1,"a":2}"#, .notJSON),
            (#"{"version":1,"header":{},"db":"AAAA"}"#, .passwordNeeded(.aegis)),
            (
                #"{"schemaVersion":4,"services":[],"servicesEncrypted":"AA==:AA==:AA=="}"#,
                .passwordNeeded(.twoFAS)
            ),
            (
                #"{"encrypted":true,"passwordProtected":true,"data":""}"#,
                .passwordNeeded(.bitwarden)
            ),
            (#"{"kdfParams":{},"encryptedData":"","encryptionNonce":""}"#, .passwordNeeded(.ente)),
            (#"{"version":1,"salt":"","content":""}"#, .passwordNeeded(.protonAuthenticator)),
            (#"{"version":1,"header":{},"db":{"version":4,"entries":[]}}"#, .newerVersion(.aegis)),
            (
                #"{"version":2,"entries":[{"content":{"uri":"x"}}]}"#,
                .newerVersion(.protonAuthenticator)
            ),
            (#"{"version":1,"header":{},"db":7}"#, .damaged(.aegis)),
            (#"{"version":1,"header":{},"db":{"version":3}}"#, .damaged(.aegis)),
            (#"{"schemaVersion":4,"services":7}"#, .damaged(.twoFAS)),
            (#"{"tokens":7,"tokenOrder":[]}"#, .damaged(.freeOTPPlus)),
            (#"{"encrypted":false}"#, .damaged(.bitwarden)),
            (#"{"Authenticators":7}"#, .damaged(.stratum)),
            ("name,totp\n\"open", .damaged(.passwordManagerCSV)),
            ("name,totp\n\"a\"b,x", .damaged(.passwordManagerCSV)),
            (#"{"encrypted":false,"items":[]}"#, .noEntries(.bitwardenAuthenticator)),
            ("name,totp\nx,\n", .noEntries(.passwordManagerCSV)),
            (#"{"version":1,"header":{},"db":{"version":3,"entries":[]}}"#, .noEntries(.aegis)),
        ] as [(String, ExportError)])
    func refused(text: String, reason: ExportError) {
        #expect(error(text) == reason)
    }

    @Test("an archive or a table that is not an export is reported as such")
    func unknownContent() throws {
        typealias Member = MadeArchive.Member
        // The remainder of an archive without members: its end, without a comment.
        let empty = Array("PK".utf8) + [5, 6] + [UInt8](repeating: 0, count: 18)
        #expect(error(empty) == .unreadable(.zipArchive, .emptyArchive))
        let others = ["a.txt", "b.txt"].map { Member(name: $0, content: Array($0.utf8)) }
        #expect(error(try MadeArchive.file(others)) == .unreadable(.zipArchive, .unknownMembers))
        for table in ["a,b\n1,2", "name;x,url\r\n\"a,b\",\r\n,\r\n"] {
            #expect(error(table) == .unreadable(nil, .unknownColumns))
        }
    }

    @Test("the number of rows and the depth of nesting are limited")
    func limits() throws {
        let line = "otpauth://totp/a?secret=AAISEM2EKVTHPCEZ\n"
        let most = String(repeating: line, count: 200_000)
        #expect(try read(most).entries.count == 200_000)
        #expect(error(most + line) == .overLimit(.uriList, .rows, found: 200_001, allowed: 200_000))
        let users = String(repeating: "HOTP/T30 ann - 31323334353637383930\n", count: 20_001)
        #expect(try read(users).entries.count == 20_001)
        let rows = String(repeating: "ann:AAISEM2EKVTHPCEZ\n", count: 20_001)
        #expect(error(rows) == .overLimit(.gauth, .rows, found: 20_001, allowed: 20_000))
        let raised = try readExport(
            ExportSource(SecretBytes(text: rows)), password: nil, limits: .raised)
        #expect(raised.entries.count == 20_001)
        let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(error(deep) == .unknownFormat)
        #expect(error("[\(deep)]") == .overLimit(nil, .depth, found: 65, allowed: 64))
    }

    @Test(
        "a field may have 1 MiB, but a URI in it only 64 KiB, not counting the parameters of apps")
    func longURI() throws {
        let start = "otpauth://totp/a?secret=AAISEM2EKVTHPCEZ"
        let most = String(repeating: "&tag=", count: (1 << 20) / 5 - 10)
        #expect(try read(start + most).entries.count == 1)
        let tooLong = start + most + String(repeating: "&", count: 100)
        let unknown = start + String(repeating: "&a", count: (1 << 20) / 2 - 30)
        for text in [tooLong, unknown] {
            #expect(try read(text).refusals.map(\.reason) == [.tooLong])
        }
    }

    @Test("the number of JSON values has a limit")
    func values() {
        let list = "[" + String(repeating: "0,", count: 1_999_998) + "0]"
        #expect(error(list) == .unknownFormat)
        #expect(error("[\(list)]") == .overLimit(nil, .rows, found: 2_000_001, allowed: 2_000_000))
    }

    @Test("the file's size has a limit")
    func size() {
        let file = SecretBytes(capacity: 128 << 20 + 1) { output in
            while output.freeCapacity > 0 { output.append(0x20) }
        }
        let error = ExportError.overLimit(
            nil, .fileSize, found: 134_217_729, allowed: 134_217_728)
        #expect(throws: error) { try read(file) }
    }

    @Test("pictures missing from a migration are reported, and a repeated part is read once")
    func migration() throws {
        let part =
            "otpauth-migration://offline?data=CiIKCgARIjNEVWZ3iJkSCEFjbWU6YW5uGgRBY21lIAEoATACEAEY"
            + "AiAAKPv%2F%2F%2F%2F%2F%2F%2F%2F%2F%2FwE%3D"
        let export = try readExport(SecretBytes(text: "\(part)\n\(part)"), password: nil)
        #expect(export.missingPictures == [2])
        // A repeated part is read once.
        #expect(export.entries.count == 1)
    }

    @Test("a row of the wrong type does not prevent the format from being recognised")
    func mixedLists() throws {
        for (text, format) in [
            (#"{"accounts":[7,{"issuerName":"a","secret":"AAAA"}]}"#, ExportFormat.lastPass),
            (#"{"items":[7,"otpauth://totp/a?secret=AAAA"]}"#, .uriList),
            (#"{"accounts":{"1":7,"2":{"shared_secret":"AAAA"}}}"#, .steam),
            (#"[7,{"otpGenerator":{"otpSecret":"AAAA"}}]"#, .duo),
        ] {
            let export = try read(text)
            #expect(export.format == format)
            #expect(export.entries.count == 1 && export.refusals.map(\.row) == [1])
        }
    }

    @Test("a password is also tried in its composed form")
    func composedPassword() throws {
        #expect(
            SecretBytes(text: "a\u{308}").composed?.text.utf8.elementsEqual("\u{e4}".utf8) == true)
        for text in ["", "password", "\u{e4}", "\u{5909}"] {
            #expect(SecretBytes(text: text).composed == nil)
        }
        #expect(SecretBytes(copying: [0xFF, 0x61].span).composed == nil)
    }
}
