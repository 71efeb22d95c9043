import Exports
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

@Suite("One-time passwords in KeePass entries")
struct KeePassAttributesTests {
    private func summaries(_ values: [String: String]) throws -> [String] {
        var template = ExportRow()
        template.issuer = "Acme"
        template.account = "ann"
        let attributes = KeePassAttributes(values.mapValues { SecretBytes(text: $0) })
        return try attributes.rows(template).map { EntrySummary(try $0.entry()).description }
    }

    private let entry = "totp Acme|ann 00112233445566778899 SHA1 6 30 [] active"
    private let secret = "AAISEM2EKVTHPCEZ"

    @Test("each way of storing a secret is read")
    func secrets() throws {
        for (name, value) in [
            ("TOTP Seed", secret), ("otp", "key=\(secret)"),
            ("otp", "otpauth://totp/?secret=\(secret)"), ("TimeOtp-Secret-Base32", secret),
            ("TimeOtp-Secret-Hex", "00112233445566778899"),
            ("TimeOtp-Secret-Base64", "ABEiM0RVZneImQ=="),
        ] {
            #expect(try summaries([name: value]) == [entry], "\(name)")
        }
        let other = "totp Acme|ann 616263 SHA1 6 30 [] active"
        #expect(try summaries(["TimeOtp-Secret": "abc"]) == [other])
        #expect(try summaries(["Password": secret]).isEmpty)
        #expect(try summaries(["otp": "", "TOTP Seed": ""]).isEmpty)
    }

    @Test("the parameters beside a secret are read")
    func parameters() throws {
        for (values, type, rest) in [
            (["TOTP Seed": secret, "TOTP Settings": "60;8"], "totp", "SHA1 8 60"),
            (["TOTP Seed": secret, "TOTP Settings": "30;S"], "steam", "SHA1 5 30"),
            (
                ["otp": "key=\(secret)&step=15&size=7&otpHashMode=Sha256"], "totp", "SHA256 7 15"
            ),
            (["otp": "key=\(secret)&type=Hotp&counter=9"], "hotp", "SHA1 6 9"),
            (
                [
                    "TimeOtp-Secret-Base32": secret, "TimeOtp-Length": "8", "TimeOtp-Period": "45",
                    "TimeOtp-Algorithm": "HMAC-SHA-512",
                ], "totp", "SHA512 8 45"
            ),
            (["HmacOtp-Secret-Base32": secret, "HmacOtp-Counter": "12"], "hotp", "SHA1 6 12"),
        ] {
            let expected = "\(type) Acme|ann 00112233445566778899 \(rest) [] active"
            #expect(try summaries(values) == [expected])
        }
    }

    @Test(
        "only the first kind of field is read, and KeePassXC's numbered fields yield more entries")
    func precedence() throws {
        #expect(try summaries(["TOTP Seed": secret, "otp": "key=MFRGG"]) == [entry])
        #expect(try summaries(["otp": "key=\(secret)", "TimeOtp-Secret": "a"]) == [entry])
        #expect(
            try summaries(["otp": "key=\(secret)", "otp_1": "key=\(secret)"]) == [entry, entry])
        #expect(try summaries(["otp_1": "key=\(secret)"]) == [entry])
    }

    @Test("KeePassXC's placeholders for empty names are dropped, and Steam's encoder is recognised")
    func keyURI() throws {
        let uri = "otpauth://totp/KeePassXC:none?secret=\(secret)&issuer=KeePassXC"
        #expect(try summaries(["otp": uri]) == [entry])
        #expect(
            try summaries(["otp": "otpauth://totp/Steam:a?secret=\(secret)&encoder=steam"])
                == ["steam Steam|a 00112233445566778899 SHA1 5 30 [] active"])
    }

    @Test("an entry with an unknown algorithm, an invalid number or an invalid secret is refused")
    func refused() {
        for (values, reason) in [
            (["otp": "key=\(secret)&otpHashMode=Md5"], ExportRowRefusal.unknownAlgorithm),
            (["TOTP Seed": secret, "TOTP Settings": "0;6"], .badPeriod),
            (["TimeOtp-Secret-Base64": "?"], .badSecret),
        ] {
            #expect(throws: reason) { try summaries(values) }
        }
    }
}
