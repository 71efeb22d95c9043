import Exports
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

/// The rules that all formats share.
@Suite("Rows of exports")
struct ExportRowTests {
    private static let key = "AAISEM2EKVTHPCEZ"

    private func row(
        _ kind: ExportRow.Kind = .totp, secret: ExportRow.Secret = .base32(SecretBytes(text: key)),
        _ change: (inout ExportRow) -> Void = { _ in }
    ) -> ExportRow {
        var row = ExportRow()
        row.kind = kind
        row.issuer = "Acme"
        row.account = "ann"
        row.secret = secret
        change(&row)
        return row
    }

    private func credential(_ row: ExportRow) throws -> Credential {
        try #require(try row.entry().credential)
    }

    private func refusal(_ row: ExportRow) -> ExportRowRefusal? {
        rowRefusal { () throws(ExportRowRefusal) in try row.entry() }
    }

    @Test(
        "Base32 is read in every form that apps write",
        arguments: [
            "AAISEM2EKVTHPCEZ", "aaisem2ekvthpcez", "AAIS EM2E KVTH PCEZ", "aais-em2e-kvth-pcez",
            "AAISEM2EKVTHPCEZ======",
        ])
    func base32(text: String) throws {
        let row = row(secret: .base32(SecretBytes(text: text)))
        #expect(try credential(row).key.hex == "00112233445566778899")
        #expect(try !row.entry().warnings.contains(.incompleteSecret))
    }

    @Test(
        "a last character that completes no byte is dropped with a warning",
        arguments: [("AAISEM2EK", 5), ("AAISEM2EKVT", 6), ("AAISEM2EKVTHPC", 8), ("AAA", 1)])
    func strayCharacter(text: String, count: Int) throws {
        let row = row(secret: .base32(SecretBytes(text: text)))
        #expect(try credential(row).key.count == count)
        let isStray = [1, 3, 6].contains(text.count % 8)
        #expect(try row.entry().warnings.contains(.incompleteSecret) == isStray)
    }

    @Test(
        "a secret that is invalid in its encoding is refused", arguments: ["0", "1", "8", "9", "é"])
    func badBase32(character: String) {
        let text = SecretBytes(text: "AAISEM2" + character)
        #expect(refusal(row(secret: .base32(text))) == .badSecret)
        #expect(refusal(row(secret: .hex(SecretBytes(text: "0g")))) == .badSecret)
        #expect(refusal(row(secret: .hex(SecretBytes(text: "012")))) == .badSecret)
    }

    @Test("an empty secret is refused", arguments: ["", "=", " ", "A"])
    func noSecret(text: String) {
        #expect(refusal(row(secret: .base32(SecretBytes(text: text)))) == .noSecret)
        #expect(refusal(row(secret: .none)) == .noSecret)
        #expect(refusal(row(secret: .hex(SecretBytes(text: "")))) == .noSecret)
        #expect(refusal(row(secret: .bytes(SecretBytes(text: "")))) == .noSecret)
        #expect(refusal(row(.motp, secret: .text(SecretBytes(text: "")))) == .noSecret)
    }

    @Test("a secret can be at most 1 KiB long")
    func longSecret() throws {
        let hex = String(repeating: "ab", count: 1_024)
        #expect(try credential(row(secret: .hex(SecretBytes(text: hex)))).key.count == 1_024)
        #expect(refusal(row(secret: .hex(SecretBytes(text: hex + "ab")))) == .secretTooLong)
    }

    @Test("raw bytes and hexadecimal digits in upper or lower case are read")
    func otherSecrets() throws {
        #expect(try credential(row(secret: .hex(SecretBytes(text: "00fF")))).key.hex == "00ff")
        #expect(try credential(row(secret: .bytes(SecretBytes(text: "a")))).key.hex == "61")
    }

    @Test(
        "names are trimmed, and the issuer is removed from the account once",
        arguments: [
            (" Acme ", " ann ", "Acme", "ann"), ("Acme", "Acme:ann", "Acme", "ann"),
            ("Acme", "Acme: ann", "Acme", "ann"), ("Acme", "Acme:Acme:ann", "Acme", "Acme:ann"),
            ("Acme", "acme:ann", "Acme", "acme:ann"), ("Acme", "Acmeann", "Acme", "Acmeann"),
            ("", ":ann", "", ":ann"), ("", "Acme:ann", "", "Acme:ann"), ("Acme", "", "Acme", ""),
            ("Acme", "Acme:", "Acme", ""),
        ])
    func names(issuer: String, account: String, trimmedIssuer: String, rest: String) throws {
        let credential = try credential(
            row {
                $0.issuer = issuer
                $0.account = account
            })
        #expect(credential.issuer == trimmedIssuer)
        #expect(credential.account == rest)
    }

    @Test(
        "every spelling of an algorithm is read; a missing algorithm is SHA-1",
        arguments: [
            (nil, HashAlgorithm.sha1), ("", .sha1), ("SHA1", .sha1), ("SHA-1", .sha1),
            ("sha1", .sha1), ("HmacSHA1", .sha1), ("HMAC-SHA-1", .sha1), ("Algorithm.sha1", .sha1),
            ("SHA256", .sha256), ("SHA-256", .sha256), ("HmacSHA256", .sha256),
            ("HMAC-SHA-256", .sha256), ("Algorithm.sha256", .sha256), ("sha512", .sha512),
            ("HmacSHA512", .sha512),
        ] as [(String?, HashAlgorithm)])
    func algorithms(text: String?, algorithm: HashAlgorithm) throws {
        #expect(try credential(row { $0.algorithm = text }).algorithm == algorithm)
    }

    @Test(
        "an unsupported algorithm is refused, never replaced",
        arguments: ["SHA224", "SHA384", "MD5", "SHA", "SHA-3-256", "Algorithm."])
    func unknownAlgorithm(text: String) {
        #expect(refusal(row { $0.algorithm = text }) == .unknownAlgorithm)
    }

    @Test("the number of digits is 1 to 10, and 6 if absent")
    func digits() throws {
        #expect(try credential(row()).style == .decimal(.six))
        for digits in [1, 5, 8, 10] as [Int64] {
            #expect(try credential(row { $0.digits = .value(digits) }).style.length == Int(digits))
        }
        for digits in [.value(0), .value(-1), .value(11), .large(.max), .malformed]
            as [ExportRow.Number]
        {
            #expect(refusal(row { $0.digits = digits }) == .badDigits)
        }
    }

    @Test("a period is at least 1, and 30 if absent; with HOTP, it is ignored")
    func period() throws {
        #expect(try credential(row()).movingFactor == .time(.standard))
        let one = try #require(TimeStep(period: 1))
        #expect(try credential(row { $0.period = .value(1) }).movingFactor == .time(one))
        for period in [.value(0), .value(-30), .large(.max), .malformed] as [ExportRow.Number] {
            #expect(refusal(row { $0.period = period }) == .badPeriod)
            #expect(refusal(row(.hotp) { $0.period = period }) == nil)
        }
    }

    @Test("a counter has 64 bits without a sign; -1 is read as 0; with TOTP, it is ignored")
    func counter() throws {
        for (number, counter) in [
            (.absent, 0), (.value(-1), 0), (.value(0), 0), (.value(7), 7), (.large(.max), .max),
        ] as [(ExportRow.Number, UInt64)] {
            let row = row(.hotp) { $0.counter = number }
            #expect(try credential(row).movingFactor == .counter(counter))
        }
        for number in [.value(-2), .malformed] as [ExportRow.Number] {
            #expect(refusal(row(.hotp) { $0.counter = number }) == .badCounter)
            #expect(refusal(row(.totp) { $0.counter = number }) == nil)
        }
    }

    @Test("Steam's values are fixed, and a file that states different values is reported")
    func steam() throws {
        let plain = row(.steam) {
            $0.digits = .value(5)
            $0.period = .value(30)
            $0.algorithm = "SHA1"
        }
        #expect(try plain.entry().warnings == row(.steam).entry().warnings)
        #expect(try !plain.entry().warnings.contains(.steamParameters))
        let others: [(inout ExportRow) -> Void] = [
            { $0.digits = .value(6) }, { $0.digits = .value(0) }, { $0.period = .value(10) },
            { $0.algorithm = "SHA256" }, { $0.algorithm = "MD5" }, { $0.digits = .malformed },
        ]
        for change in others {
            let entry = try row(.steam, change).entry()
            #expect(entry.warnings.contains(.steamParameters))
            let credential = try credential(row(.steam, change))
            #expect(credential.style == .steam && credential.algorithm == .sha1)
            #expect(credential.movingFactor == .time(.standard))
        }
    }

    private func row(_ kind: ExportRow.Kind, _ change: (inout ExportRow) -> Void) -> ExportRow {
        row(kind, secret: .base32(SecretBytes(text: Self.key)), change)
    }

    @Test("a Mobile-OTP secret is kept as written, and other characters are refused")
    func motp() throws {
        let text = SecretBytes(text: "AbCd01")
        let row = row(.motp, secret: .text(text)) { $0.pin = SecretBytes(text: "1234") }
        let code = try #require(try row.entry().uncomputed)
        #expect(code.kind == .motp && code.secret.text == "AbCd01" && code.pin?.text == "1234")
        #expect(code.issuer == "Acme" && code.account == "ann")
        for secret in ["AbCd 0", "AbCd-0", "\u{e4}"].map({ SecretBytes(text: $0) }) {
            #expect(refusal(self.row(.motp, secret: .text(secret))) == .badSecret)
        }
        #expect(refusal(self.row(.motp, secret: .bytes(text))) == .badSecret)
    }

    @Test("a Yandex key is kept with its PIN")
    func yandex() throws {
        let row = row(.yandex) { $0.pin = SecretBytes(text: "7586") }
        let code = try #require(try row.entry().uncomputed)
        #expect(code.kind == .yandex && code.pin?.text == "7586")
        #expect(code.secret.hex == "00112233445566778899")
    }

    @Test("a row is refused if its type is unknown or if its reader has already refused it")
    func refused() {
        #expect(refusal(row(.unknown) { _ in }) == .unknownType)
        #expect(refusal(row { $0.refusal = .encryptedByPhone }) == .encryptedByPhone)
    }

    @Test("notes, states and warnings are kept; tags are trimmed, and duplicates are dropped")
    func others() throws {
        let entry = try row {
            $0.tags = ["Work", " Work", "", "Home"]
            $0.note = " n\n"
            $0.isFavourite = true
            $0.state = .archived
            $0.warnings = [.counterOfLastCode]
        }.entry()
        #expect(entry.tags == ["Work", "Home"])
        #expect(entry.note == " n\n" && entry.isFavourite && entry.state == .archived)
        // The key has 80 bits.
        #expect(entry.warnings == [.counterOfLastCode, .credential(.shortKey(bits: 80))])
    }

    @Test("names, notes and tags are limited in length")
    func limits() {
        let long = String(repeating: "a", count: 1 << 20)
        #expect(refusal(row { $0.note = long }) == nil)
        #expect(refusal(row { $0.note = long + "a" }) == .tooLong)
        #expect(refusal(row { $0.tags = [long + "a"] }) == .tooLong)
        #expect(refusal(row { $0.account = String(repeating: "a", count: 65_536) }) == .tooLong)
    }
}
