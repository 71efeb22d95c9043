import Exports
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

/// The entry of the examples, from its issuer and account on.
private let standard = "Acme|ann 00112233445566778899 SHA1 6 30"
private let key = "AAISEM2EKVTHPCEZ"

@Suite("Formats of exports")
struct FormatTests {
    static let exports = jsonExports + textExports

    @Test("each format yields its entries", arguments: exports)
    func entries(made: MadeExport) throws {
        let export = try read(made.text)
        #expect(export.format == made.format)
        let entries = export.entries.map { EntrySummary($0).description }
        #expect(entries + export.refusals.map { "refused \($0.reason)" } == made.lines)
    }

    @Test(
        "an icon's name is kept; the default icon's name and a value that is not text are not",
        arguments: [
            ("\"thumbnail\":\"Github\"", "Github"), ("\"thumbnail\":\"Default\"", ""),
            ("\"thumbnail\":7", ""), ("\"thumbnail\":null", ""),
        ])
    func icons(member: String, icon: String) throws {
        let text = """
            [{"secret":"\(key)","issuer":"Acme","label":"ann","type":"TOTP","algorithm":"SHA1",
            "digits":6,"period":30,\(member)}]
            """
        #expect(try read(text).entries.map(\.icon) == [icon])
    }

    @Test("Stratum marks an image with @, and key URIs name icons in two dialects")
    func otherIcons() throws {
        func icon(_ text: String) throws -> [String] {
            try read(text).entries.map(\.icon)
        }
        func stratum(_ name: String) -> String {
            """
            {"Authenticators":[{"Type":2,"Icon":"\(name)","Issuer":"Acme","Username":"ann",
            "Secret":"\(key)","Algorithm":0,"Digits":6,"Period":30,"Counter":0}]}
            """
        }
        #expect(try icon(stratum("github")) == ["github"] && icon(stratum("@0123")) == [""])
        let uri = "otpauth://totp/Acme:ann?secret=\(key)"
        #expect(try icon("\(uri)&icon=Microsoft\n") == ["Microsoft"])
        #expect(try icon("\(uri)&codeDisplay=%7B%22iconID%22%3A%22acme%22%7D\n") == ["acme"])
    }

    @Test("a byte order mark and CRLF do not change the result", arguments: exports)
    func byteOrderMark(made: MadeExport) throws {
        let text = "\u{feff}" + made.text.replacing("\n", with: "\r\n")
        let export = try read(text)
        #expect(export.entries.count + export.refusals.count == made.lines.count)
    }

    @Test(
        "an export that is truncated anywhere is refused or yields fewer rows",
        arguments: exports)
    func truncated(made: MadeExport) {
        let bytes = Array(made.text.utf8)
        for count in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 40)) {
            let file = SecretBytes(copying: bytes.span.extracting(..<count))
            do throws(ExportError) {
                let export = try readExport(file, password: nil)
                // A cut row is refused even if it had no one-time password.
                #expect(export.entries.count + export.refusals.count <= made.lines.count + 1)
            } catch {
                #expect(made.text.first != "{" || error == .notJSON || count == 0)
            }
        }
    }

    @Test(
        "an export with changed bytes is refused or yields only a few more rows",
        arguments: exports)
    func changed(made: MadeExport) {
        var generator = SeededGenerator(seed: UInt64(made.text.utf8.count))
        for _ in 0..<100 {
            var bytes = Array(made.text.utf8)
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                let index = Int.random(in: bytes.indices, using: &generator)
                bytes[index] = UInt8.random(in: 0...255, using: &generator)
            }
            do throws(ExportError) {
                let export = try read(bytes)
                // Each changed byte, such as a new separator, adds at most one row.
                #expect(export.entries.count + export.refusals.count <= made.lines.count + 4)
            } catch {
                #expect(error != .outOfMemory)
            }
        }
    }

    private static let jsonExports = [
        MadeExport(
            .aegis, "version 3",
            """
            {"version":1,"header":{"slots":null,"params":null},"db":{"version":3,"entries":[
            {"type":"totp","name":"ann","issuer":"Acme","note":"n","favorite":true,"icon":null,
            "info":{"secret":"\(key)","algo":"MD5","digits":6,"period":30},"groups":["1","2"]},
            {"type":"HOTP","name":"ann","issuer":"Acme",
            "info":{"secret":"\(key)","algo":"SHA256","digits":8,"counter":7},"groups":[]},
            {"type":"motp","name":"ann","issuer":"Acme","info":{"secret":"\(key)","pin":"1234"}},
            {"type":"other","name":"ann","info":{"secret":"\(key)"}},
            {"type":"totp","name":"ann","info":7},
            "text",
            {"type":"totp","name":"ann","info":{"secret":"\(key)","digits":6.5}}
            ],"groups":[{"uuid":"1","name":"Work"}]}}
            """,
            "totp \(standard) [\"Work\"] active",
            "hotp Acme|ann 00112233445566778899 SHA256 8 7 [] active",
            "motp Acme|ann 00112233445566778899 SHA1 0 0 [] active",
            "refused unknownType", "refused malformed", "refused malformed", "refused badDigits"),
        MadeExport(
            .aegis, "the database alone, as the decryption script writes it",
            """
            {"version":2,"entries":[{"type":"totp","name":"ann","issuer":"Acme","info":{
            "secret":"\(key)","algo":"SHA1","digits":6,"period":30},"group":"Work"}]}
            """,
            "totp \(standard) [\"Work\"] active"),
        MadeExport(
            .twoFAS, "services alone, in their order",
            """
            [{"name":"Z","secret":"\(key)","otp":{"tokenType":"STEAM","period":10},
            "order":{"position":1}},
            {"name":"","secret":"\(key)","otp":{"issuer":"Acme","account":"ann","label":"x",
            "algorithm":"SHA1","link":"otpauth://totp/x?secret=[hidden]"},"order":{"position":0}},
            {"name":"Y","secret":"\(key)","otp":{"algorithm":"SHA224"},"order":{"position":2}}]
            """,
            "totp \(standard) [] active", "steam Z| 00112233445566778899 SHA1 5 30 [] active",
            "refused unknownAlgorithm"),
        MadeExport(
            .twoFAS, "groups",
            """
            {"services":[{"name":"Acme","secret":"\(key)","otp":{"account":"ann"},"groupId":"g"}],
            "groups":[{"id":"g","name":"Work","isExpanded":true}],"schemaVersion":1}
            """,
            "totp \(standard) [\"Work\"] active"),
        MadeExport(
            .andOTP, "old label and Mobile-OTP",
            """
            [{"secret":"\(key)","label":"Acme - ann","type":"TOTP","algorithm":"SHA1","digits":6,
            "period":30,"tags":["Work"]},
            {"secret":"GAYDCMI=","issuer":"Acme","label":"ann","type":"MOTP","algorithm":"SHA1"}]
            """,
            "totp \(standard) [\"Work\"] active", "motp Acme|ann 0011 SHA1 0 0 [] active"),
        MadeExport(
            .freeOTPPlus, "order and signed bytes",
            """
            {"tokens":[{"algo":"SHA1","counter":0,"digits":6,"issuerExt":"Last","label":"ann",
            "period":30,"secret":[0,17],"type":"TOTP"},
            {"algo":"SHA1","counter":-1,"digits":6,"issuerExt":"Acme","label":"ann",
            "secret":[-128,255],"type":"HOTP"},
            {"issuerExt":"Steam","label":"ann","secret":[1],"type":"TOTP"},
            {"issuerExt":"X","label":"ann","secret":[256],"type":"TOTP"}],
            "tokenOrder":["Steam:ann","Acme:ann"]}
            """,
            "steam Steam|ann 01 SHA1 5 30 [] active", "hotp Acme|ann 80ff SHA1 6 0 [] active",
            "totp Last|ann 0011 SHA1 6 30 [] active", "refused badSecret"),
        MadeExport(
            .stratum, "categories by secret, and types by number",
            """
            {"Authenticators":[{"Type":2,"Icon":"x","Issuer":"Acme","Username":"ann",
            "Secret":"\(key)","Pin":null,"Algorithm":0,"Digits":6,"Period":30,"Counter":0},
            {"Type":3,"Issuer":"Acme","Username":"ann","Secret":"0011","Pin":"1234","Algorithm":0},
            {"Type":3,"Issuer":"Acme","Username":"ann","Secret":"no hex"},
            {"Type":4,"Issuer":"Steam","Username":"ann","Secret":"\(key)","Algorithm":0,"Digits":5},
            {"Type":6,"Issuer":"Acme","Secret":"\(key)"},
            {"Type":2,"Issuer":"Acme","Secret":"\(key)","Algorithm":3}],
            "Categories":[{"Id":"1","Name":"Work"}],"AuthenticatorCategories":[
            {"CategoryId":"1","AuthenticatorSecret":"0011","Ranking":0}],"CustomIcons":[]}
            """,
            "totp \(standard) [] active", "motp Acme|ann 0011 SHA1 0 0 [\"Work\"] active",
            "steam Steam|ann 00112233445566778899 SHA1 5 30 [] active", "refused badSecret",
            "refused unknownType", "refused unknownAlgorithm"),
        MadeExport(
            .bitwarden, "folders, trash and items without codes",
            """
            {"encrypted":false,"folders":[{"id":"f","name":"Work"}],"items":[
            {"type":1,"name":"Acme","notes":null,"favorite":true,"folderId":"f",
            "login":{"username":"ann","totp":"\(key)"}},
            {"type":1,"name":"X","login":{"username":"ann","totp":null}},
            {"type":2,"name":"Note","notes":"n"},
            {"type":1,"name":"Acme","deletedDate":"2024","login":{"username":"ann",
            "totp":"\(key)"}}]}
            """,
            "totp \(standard) [\"Work\"] active", "totp \(standard) [] deleted"),
        MadeExport(
            .bitwardenAuthenticator, "an escaped label",
            """
            {"encrypted":false,"items":[{"type":1,"name":"A&B","login":{"totp":
            "otpauth://totp/A%26amp%3BB%3Ac%26amp%3Bd?secret=\(key)&issuer=A%26B"}}]}
            """,
            "totp A&B|c&d 00112233445566778899 SHA1 6 30 [] active"),
        MadeExport(
            .protonPass, "the JSON of the archive, which has Bitwarden's member \"encrypted\"",
            """
            {"version":"1.21.2","encrypted":false,"vaults":{"v":{"name":"Work","items":[{"state":1,
            "data":{"metadata":{"name":"Acme"},"type":"login","content":{"itemUsername":"ann",
            "totpUri":"\(key)"},"extraFields":[]}}]}}}
            """,
            "totp \(standard) [\"Work\"] active"),
        MadeExport(
            .protonAuthenticator, "edited names",
            """
            {"version":1,"entries":[{"id":"1","content":{"uri":
            "otpauth://totp/%3Ax?secret=\(key)&issuer=Acme","entry_type":"Totp","name":"ann"},
            "note":"n"},{"id":"2","content":{"uri":"steam://\(key)","entry_type":"Steam",
            "name":"bob"}}]}
            """,
            "totp \(standard) [] active", "steam Steam|bob 00112233445566778899 SHA1 5 30 [] active"
        ),
        MadeExport(
            .raivo, "texts",
            """
            [{"issuer":"Acme","account":"ann","secret":"\(key)","algorithm":"SHA1","digits":"6",
            "kind":"TOTP","timer":"30","counter":"0","pinned":"true","iconType":"","iconValue":""},
            {"issuer":"Acme","account":"ann","secret":"\(key)","algorithm":"SHA1","digits":"six",
            "kind":"TOTP","timer":"30","counter":"0"}]
            """,
            "totp \(standard) [] active", "refused badDigits"),
        MadeExport(
            .cotp, "its plain export",
            """
            {"version":2,"elements":[{"secret":"\(key)","issuer":"Acme","label":"ann","digits":6,
            "type":"TOTP","algorithm":"SHA1","period":30,"counter":null,"pin":null},
            {"secret":"\(key)","issuer":"Acme","label":"ann","digits":6,"type":"HOTP",
            "algorithm":"SHA256","period":30,"counter":7,"pin":null},
            {"secret":"\(key)","issuer":"","label":"ann","digits":6,"type":"TOTP",
            "algorithm":"MD5","period":30,"counter":null,"pin":null},
            {"secret":"0011","issuer":"Acme","label":"ann","digits":6,"type":"MOTP",
            "algorithm":"MD5","period":10,"counter":null,"pin":"1234"}]}
            """,
            "totp \(standard) [] active", "hotp Acme|ann 00112233445566778899 SHA256 6 7 [] active",
            "motp Acme|ann 0011 SHA1 0 0 [] active", "refused unknownAlgorithm"),
        MadeExport(
            .steam, "a maFile",
            """
            {"shared_secret":"ABEiM0RVZneImQ==","account_name":"ann","identity_secret":"x",
            "revocation_code":"R1","Session":{"SteamID":76561197960265728}}
            """,
            "steam Steam|ann 00112233445566778899 SHA1 5 30 [] active"),
        MadeExport(
            .totpAuthenticator, "decrypted",
            #"{"[{\"issuer\":\"Unknown\",\"name\":\"ann\",\"key\":\"ABEiM0RVZneImQ==\",\"base\":64,"#
                + #"\"digits\":\"\",\"period\":\"\"},{\"issuer\":\"Acme\",\"name\":\"ann\","#
                + #"\"key\":\"00112233445566778899\",\"base\":16,\"digits\":\"8\"}]":""}"#,
            "totp |ann 00112233445566778899 SHA1 6 30 [] active",
            "totp Acme|ann 00112233445566778899 SHA1 8 30 [] active"),
        MadeExport(
            .duo, "a counter and an account of Duo's own",
            """
            [{"version":1.0,"name":"own"},{"version":1.0,"name":"ann","logoUri":"x",
            "otpGenerator":{"otpSecret":"\(key)","counter":3}}]
            """,
            "hotp |ann 00112233445566778899 SHA1 6 3 [] active"),
        MadeExport(
            .lastPass, "edited names and folders",
            """
            {"version":3,"accounts":[{"issuerName":"Acme","originalIssuerName":"x","userName":"ann",
            "originalUserName":"y","secret":"\(key)","timeStep":30,"digits":6,"algorithm":"SHA1",
            "isFavorite":true,"folderData":{"folderId":2,"position":0}},
            {"issuerName":"","originalIssuerName":"x","userName":"ann","secret":"\(key)",
            "folderData":{"folderId":1,"position":0}}],
            "folders":[{"id":1,"name":"Favorites"},{"id":2,"name":"Work"}]}
            """,
            "totp \(standard) [\"Work\"] active",
            "totp |ann 00112233445566778899 SHA1 6 30 [] active"),
        MadeExport(
            .uriList, "texts in JSON",
            #"{"items":["otpauth:\/\/totp\/Acme:ann?secret\u003d\#(key)",7]}"#,
            "totp \(standard) [] active", "refused malformed"),
        MadeExport(
            .uriList, "objects in JSON",
            #"{"items":[{"rawData":"otpauth://totp/Acme:ann?secret=\#(key)","display":{}}]}"#,
            "totp \(standard) [] active"),
    ]

    private static let textExports = [
        MadeExport(
            .uriList, "comments, blank lines and bad lines",
            """
            # comment

            otpauth://totp/Acme:ann?secret=\(key)
            motp://Acme:ann?secret=0011
            hello
            otpauth://totp/Acme:ann
            """,
            "totp \(standard) [] active", "motp Acme|ann 0011 SHA1 0 0 [] active",
            "refused badKeyURI", "refused noSecret"),
        MadeExport(
            .ente, "commas between URIs",
            "otpauth://totp/Acme:ann?secret=\(key),otpauth://totp/Acme:ann?secret=\(key)"
                + "&codeDisplay=%7B%22trashed%22%3Atrue%7D",
            "totp \(standard) [] active", "totp \(standard) [] deleted"),
        MadeExport(
            .googleAuthenticator, "one part of two",
            "otpauth-migration://offline?data=CiIKCgARIjNEVWZ3iJkSCEFjbWU6YW5uGgRBY21lIAEoATACEAEY"
                + "AiAAKPv%2F%2F%2F%2F%2F%2F%2F%2F%2F%2FwE%3D\n",
            "totp \(standard) [] active"),
        MadeExport(
            .uriList, "pass show",
            "password\nuser: ann\notpauth://totp/Acme:ann?secret=\(key)\nurl: x\n",
            "totp \(standard) [] active"),
        MadeExport(
            .gauth, "names and a URI",
            "Acme:aaisem2ekvthpcez\notpauth://totp/Acme:ann?secret=\(key)\n",
            "totp Acme| 00112233445566778899 SHA1 6 30 [] active", "totp \(standard) [] active"),
        MadeExport(
            .oathUsersFile, "types",
            """
            HOTP\tann\t-\t00112233445566778899\t7\t123456\t2024-01-01T00:00:00L
            # comment
            HOTP/T60/8 ann 1234 00112233445566778899
            HOTP/E/7 ann + 00112233445566778899
            HOTP/X ann - 00
            HOTP ann -
            """,
            "hotp |ann 00112233445566778899 SHA1 6 7 [] active",
            "totp |ann 00112233445566778899 SHA1 8 60 [] active",
            "hotp |ann 00112233445566778899 SHA1 7 0 [] active", "refused unknownType",
            "refused malformed"),
        MadeExport(
            .googlePAM, "TOTP, with the characters that mean others",
            "AAISEM2EKVTHPCEZ\n\" RATE_LIMIT 3 30\n\" TOTP_AUTH\n\" STEP_SIZE 60\n12345678\n",
            "totp | 00112233445566778899 SHA1 6 60 [] active"),
        MadeExport(
            .googlePAM, "HOTP", "0188\n\" HOTP_COUNTER 5\n", "hotp | 72c2 SHA1 6 5 [] active"),
        MadeExport(.googlePAM, "neither", "AAAA\n\" STEP_SIZE 60\n", "refused unknownType"),
        MadeExport(
            .bitwarden, "CSV with quotes",
            """
            folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp
            Work,1,login,"Ac""m"", e","a note,
            two lines",,0,,ann,,\(key)

            ,,login,X,,,0,,bob,,
            """,
            "totp Ac\"m\", e|ann 00112233445566778899 SHA1 6 30 [\"Work\"] active"),
        MadeExport(
            .bitwardenAuthenticator, "CSV with a comma in the issuer",
            """
            folder,favorite,type,name,login_uri,login_totp
            ,,1,A, B,,otpauth://totp/ann?secret=\(key)&issuer=A%2C%20B,A, B,30,6
            """,
            "totp A, B|ann 00112233445566778899 SHA1 6 30 [] active"),
        MadeExport(
            .keePassXCCSV, "a group's path",
            """
            "Group","Title","Username","Password","URL","Notes","TOTP","Icon","Last Modified"
            "Root/Work/Mail","Acme","ann","p","","","otpauth://totp/Acme:none?secret=\(key)","0","x"
            """,
            "totp \(standard) [\"Work/Mail\"] active"),
        MadeExport(
            .passwordManagerCSV, "1Password",
            """
            Title,Url,Username,Password,OTPAuth,Favorite,Archived,Tags,Notes
            Acme,,ann,p,otpauth://totp/x?secret=\(key),true,true,Work;Home,
            """,
            "totp Acme|x 00112233445566778899 SHA1 6 30 [\"Home\", \"Work\"] archived"),
        MadeExport(
            .passwordManagerCSV, "extract_otp_secrets",
            """
            name,secret,issuer,type,counter,url
            ann,\(key),Acme,totp,,otpauth://totp/ann?secret=\(key)&issuer=Acme
            Acme:ann,\(key),,totp,,otpauth://totp/Acme%3Aann?secret=\(key)
            ann,\(key),Acme,hotp,4,otpauth://hotp/ann?secret=\(key)&counter=4&issuer=Acme
            ann,\(key),Acme,hotp,x,
            ann,\(key),Acme,other,,
            """,
            "totp \(standard) [] active",
            "totp |Acme:ann 00112233445566778899 SHA1 6 30 [] active",
            "hotp Acme|ann 00112233445566778899 SHA1 6 4 [] active", "refused badCounter",
            "refused unknownType"),
        MadeExport(
            .keePassXCCSV, "extract_otp_secrets, for KeePass",
            "Title,User Name,TimeOtp-Secret-Base32,Group\nAcme,ann,\(key),OTP/TOTP\n",
            "totp \(standard) [\"TOTP\"] active"),
        MadeExport(
            .keePassXCCSV, "extract_otp_secrets, for KeePass, with counters",
            "Title,User Name,HmacOtp-Secret-Base32,HmacOtp-Counter,Group\n"
                + "Acme,ann,\(key),4,OTP/HOTP\n",
            "hotp Acme|ann 00112233445566778899 SHA1 6 4 [\"HOTP\"] active"),
        MadeExport(
            .stratum, "HTML",
            "<!DOCTYPE html><html><td><code>otpauth://totp/Acme:ann?secret=\(key)&amp;issuer=Acme"
                + "</code></td></html>",
            "totp \(standard) [] active"),
    ]
}
