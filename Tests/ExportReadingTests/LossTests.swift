import Exports
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

/// Everything in a file becomes an entry or a refused row.
@Suite("Nothing in an export is lost silently")
struct LossTests {
    private static let uri = "otpauth://totp/A:a?secret=AAISEM2EKVTHPCEZ"

    private func counts(_ text: String) throws -> [Int] {
        let export = try read(text)
        return [export.entries.count, export.refusals.count]
    }

    @Test("a list with a heading is read line by line")
    func headings() throws {
        let migration =
            "otpauth-migration://offline?data=CiIKCgARIjNEVWZ3iJkSCEFjbWU6YW5uGgRBY21lIAEoATACEAEY"
            + "AiAAKPv%2F%2F%2F%2F%2F%2F%2F%2F%2F%2FwE%3D"
        #expect(try counts("notes\n\(migration)\n\(Self.uri)\n") == [2, 1])
        let steam = "STEAM://AAISEM2EKVTHPCEZ"
        #expect(try counts("My codes\n\(steam)\n\(Self.uri)\nMOTP://a:b?secret=00") == [3, 1])
        #expect(try counts("My codes\nmotp://a:b?secret=00\n") == [1, 1])
        #expect(try counts("My codes\n\(Self.uri)\n\(Self.uri)\n") == [2, 1])
        #expect(try counts("My codes\n\(Self.uri)\nother: \(steam)\n") == [1, 2])
        #expect(try counts("My codes\n\(Self.uri)\notpauth:totp/x\n") == [1, 2])
        // One key URI among other lines is an item of a password manager.
        #expect(try counts("password\n\(Self.uri)\nurl: https://a\nsteam: name\n") == [1, 0])
    }

    @Test("a CSV row with more or fewer cells than columns is refused")
    func cellCounts() throws {
        let text = """
            name,login_username,login_password,login_totp
            Acme, Inc,ann,letmeinplease,AAISEM2EKVTHPCEZ
            B,bob,p,AAISEM2EKVTHPCEZ
            short,ann
            C,,,
            """
        let expected = [
            "totp B|bob 00112233445566778899 SHA1 6 30 [] active", "1 malformed", "3 malformed",
        ]
        #expect(try read(text).lines == expected)
        let authenticator = """
            folder,favorite,type,name,login_uri,login_totp
            ,,1,A, B,,\(Self.uri),A, B,30,6
            ,,1,A,,x,A,30,6
            ,,1
            """
        #expect(try counts(authenticator) == [1, 2])
    }

    @Test("a refused row is reported with its name and, in a list, with its line")
    func refusedNames() throws {
        let list = "\(Self.uri)\n\notpauth://totp/B:bob?secret=1!\notpauth://hotp/c\n"
        #expect(
            try read(list).refusals == [
                ExportRefusal(row: 2, line: 3, account: "B:bob", reason: .badSecret),
                ExportRefusal(row: 3, line: 4, account: "c", reason: .noSecret),
            ])
        // Any text that is not a key URI may be a secret.
        for secret in ["AAISEM2EKVTHPCE1", "steam://a/AAISEM2EKVTHPCE1", "motp://a/1?secret=1!"] {
            #expect(
                try read("title,totp\n,\(secret)\n").refusals
                    .allSatisfy { $0.issuer.isEmpty && $0.account.isEmpty })
        }
        let aegis = """
            {"version":1,"header":{},"db":{"version":3,"entries":[
            {"type":"totp","name":"ann","issuer":"Acme","info":{"secret":"AAISEM2EKVTHPCEZ"}},
            {"type":"totp","name":"bob","issuer":"Acme","info":{"secret":"1!"}},7]}}
            """
        #expect(
            try read(aegis).refusals == [
                ExportRefusal(row: 2, issuer: "Acme", account: "bob", reason: .badSecret),
                ExportRefusal(row: 3, reason: .malformed),
            ])
    }

    @Test("an unpaired surrogate affects only its own text, and a 64-bit counter is read exactly")
    func unusualJSON() throws {
        let text = #"""
            {"schemaVersion":4,"services":[
            {"name":"A\ud800","secret":"AAISEM2EKVTHPCEZ","otp":{"account":"a"}},
            {"name":"B","secret":"AAISEM2EKVTHPCEZ\udc00","otp":{"account":"b"}},
            {"name":"C","secret":"AAISEM2EKVTHPCEZ",
            "otp":{"tokenType":"HOTP","counter":18446744073709551615}},
            {"name":"D","secret":"AAISEM2EKVTHPCEZ",
            "otp":{"tokenType":"HOTP","counter":18446744073709551616}}]}
            """#
        let export = try read(text)
        let credentials = export.entries.map(\.credential)
        #expect(credentials.count == 2 && credentials.first??.issuer == "A\u{FFFD}")
        #expect(credentials.last??.movingFactor == .counter(.max))
        #expect(export.refusals.map(\.reason) == [.badSecret, .badCounter])
        #expect(export.refusals.map(\.row) == [2, 4])
    }

    @Test("an archive with one file is read like that file, whatever its format")
    func archives() throws {
        for (name, content, format) in [
            ("a.txt", Self.uri, ExportFormat.uriList),
            ("a.txt", Self.uri + "&icon=WinAuth", .winAuth),
            (
                "folder/b.json", #"{"shared_secret":"ABEiM0RVZneImQ==","account_name":"ann"}"#,
                .steam
            ),
        ] {
            let file = try MadeArchive.file([.init(name: name, content: Array(content.utf8))])
            let export = try read(file)
            #expect(export.format == format)
            #expect(export.entries.count == 1)
            // Archives are not nested.
            let outer = try MadeArchive.file([.init(name: "inner.zip", content: file)])
            #expect(throws: ExportError.unknownFormat) { try read(outer) }
        }
    }

    @Test("a row whose name is not UTF-8 is refused")
    func encodings() throws {
        let secret = Array("AAISEM2EKVTHPCEZ".utf8)
        let name = Array("Caf".utf8) + [0xE9]
        let csv = Array("name,username,totp\n".utf8) + name + Array(",u,".utf8) + secret
        for file in [
            csv, name + [0x3A] + secret, Array("HOTP ".utf8) + name + Array(" - 0011".utf8),
        ] {
            #expect(try read(file).lines == ["1 malformed"])
        }
    }

    @Test("a Mobile-OTP secret that is not pairs of hexadecimal digits is kept")
    func mobileOTP() throws {
        let text = """
            {"Authenticators":[{"Type":3,"Issuer":"A","Username":"b","Secret":"Asd0213"},
            {"Type":3,"Issuer":"A","Username":"b","Secret":"a b"}]}
            """
        #expect(try read(text).lines == ["motp A|b Asd0213 SHA1 0 0 [] active", "2 badSecret"])
    }

    @Test(
        "a configuration file is not mistaken for gauth's list",
        arguments: [
            "name: alexander\nserver: backupserverhome\nuser: administrator\n",
            "server: backupserverhome\n", "name:alexander\nserver:backupserverhome\n",
        ])
    func configuration(text: String) {
        #expect(throws: ExportError.unknownFormat) { try counts(text) }
    }

    @Test("spaces may follow the colon in gauth's list")
    func gauthSpaces() throws {
        let secret = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
        #expect(try counts("A:   \(secret)\nB:abcd efgh ijkl mnop\n") == [2, 0])
    }

    @Test("a row with NUL in its JSON text is refused, but the rest of the file is read")
    func nul() throws {
        let text = #"""
            [{"issuer":"A\u0000","account":"a","secret":"AAAA","algorithm":"SHA1","digits":"6",
            "kind":"TOTP","timer":"30","counter":"0"},
            {"issuer":"A","account":"a","secret":"AAAA","algorithm":"SHA1","digits":"6",
            "kind":"TOTP","timer":"30","counter":"0"}]
            """#
        #expect(try read(text).lines == ["totp A|a 0000 SHA1 6 30 [] active", "1 malformed"])
    }
}
