import Exports
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

/// An entry whose codes would differ in the app is left out, but not the nearest valid entry.
struct OmissionTests {
    static let cases: [(target: ExportTarget, uri: String, reason: EntryOmission?)] = [
        (.twoFAS, "totp/a?period=90", nil), (.twoFAS, "totp/a?period=91", .period),
        (.twoFAS, "totp/a?digits=5", nil), (.twoFAS, "totp/a?digits=4", .digits),
        (.twoFAS, "totp/a?digits=8", nil), (.twoFAS, "totp/a?digits=9", .digits),
        (.twoFAS, "hotp/a?counter=2147483647", nil),
        (.twoFAS, "hotp/a?counter=2147483648", .counter),
        (.twoFAS, "totp/a?t0=1", .start), (.twoFAS, "steam/a?digits=5", nil),
        (.aegis, "totp/a?digits=10", nil), (.aegis, "totp/a?period=2147483", nil),
        (.aegis, "totp/a?period=2147484", .period), (.aegis, "totp/a?t0=1", .start),
        (.aegis, "hotp/a?counter=9223372036854775807", nil),
        (.aegis, "hotp/a?counter=9223372036854775808", .counter),
        (.aegis, "hotp/a?counter=1&encoder=steam", .steam),
        (.google, "totp/a?digits=8", nil), (.google, "totp/a?digits=7", .digits),
        (.google, "totp/a?period=31", .period), (.google, "totp/a?t0=30", .start),
        (.google, "steam/a?digits=5", .steam), (.google, "hotp/a?counter=1", nil),
        (.google, "hotp/a?counter=9223372036854775808", .counter),
        (.keyURIs, "totp/a?digits=9&period=7&t0=1", nil), (.sheet, "steam/a?digits=5", nil),
    ]

    @Test(
        "each reason applies to the entries that the app cannot hold, and only to those",
        arguments: cases)
    func reason(target: ExportTarget, uri: String, reason: EntryOmission?) throws {
        let text = SecretBytes(text: "otpauth://\(uri)&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
        let credential = try text.withBytes { text throws(OneTimePasswordError) in
            try KeyURI(parsing: text).credential
        }
        let entry = ExportedEntry(content: .oneTimePassword(credential))
        #expect(target.omission(of: entry) == reason)
    }

    @Test("a code that is not computed goes only to apps that compute it from the same secret")
    func uncomputed() {
        func entry(_ kind: UncomputedCode.Kind, _ secret: String) -> ExportedEntry {
            ExportedEntry(
                content: .notComputed(
                    UncomputedCode(
                        kind: kind, issuer: "", account: "a", secret: SecretBytes(text: secret),
                        pin: nil)))
        }
        #expect(ExportTarget.aegis.omission(of: entry(.motp, "00ff")) == nil)
        #expect(ExportTarget.aegis.omission(of: entry(.motp, "00FF")) == .motpSecret)
        #expect(ExportTarget.aegis.omission(of: entry(.motp, "00f")) == .motpSecret)
        #expect(ExportTarget.twoFAS.omission(of: entry(.motp, "00ff")) == .motp)
        #expect(ExportTarget.google.omission(of: entry(.yandex, "any")) == .yandex)
        #expect(ExportTarget.keyURIs.omission(of: entry(.motp, "00FF")) == nil)
    }

    @Test(
        "a Yandex secret goes to Aegis only if it has 16 bytes, or 26 with the right checksum",
        arguments: [
            // From Aegis' tests of Yandex secrets, complete; then cut or changed.
            ("6SB2IKNM6OBZPAVBVTOHDKS4FAAAAAAADFUTQMBTRY", true),
            ("LA2V6KMCGYMWWVEW64RNP3JA3IAAAAAAHTSG4HRZPI", true),
            ("6SB2IKNM6OBZPAVBVTOHDKS4FA", true),
            ("6SB2IKNM6OBZPAVBVTOHDKS4FAAAAAAADFUTQMBTRI", false),
            ("6SB2IKNM6OBZPAVBVTOHDKS5FAAAAAAADFUTQMBTRY", false),
            ("6SB2IKNM6OBZPAVBVTOHDKS4", false), ("6SB2IKNM6OBZPAVBVTOHDKS4FAAA", false),
        ])
    func yandex(text: String, isAccepted: Bool) throws {
        let secret = try SecretBytes(text: text).withBytes { text throws(OneTimePasswordError) in
            try Base32.decodeTolerantly(text).secret
        }
        let code = UncomputedCode(kind: .yandex, issuer: "", account: "a", secret: secret, pin: nil)
        let entry = ExportedEntry(content: .notComputed(code))
        #expect(ExportTarget.aegis.omission(of: entry) == (isAccepted ? nil : .yandexSecret))
        #expect(ExportTarget.keyURIs.omission(of: entry) == nil)
    }
}
