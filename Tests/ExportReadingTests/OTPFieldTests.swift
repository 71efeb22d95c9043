import Exports
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

/// One-time password fields and the dialects of key URIs.
@Suite("Fields with one-time passwords")
struct OTPFieldTests {
    private static let key = "AAISEM2EKVTHPCEZ"

    private func entry(
        _ field: String, issuer: String = "Title", account: String = "user",
        _ change: (inout ExportRow) -> Void = { _ in }
    ) throws(ExportRowRefusal) -> ExportedEntry {
        var row = ExportRow()
        row.issuer = issuer
        row.account = account
        row.secret = .field(SecretBytes(text: field))
        change(&row)
        return try row.entry()
    }

    private func summary(_ field: String) throws -> EntrySummary {
        EntrySummary(try entry(field))
    }

    private func refusal(_ field: String) -> ExportRowRefusal? {
        rowRefusal { () throws(ExportRowRefusal) in try entry(field) }
    }

    @Test("a bare secret gets the item's names and the default values")
    func bare() throws {
        let summary = try summary("aais em2e kvth pcez")
        #expect(summary.description == "totp Title|user 00112233445566778899 SHA1 6 30 [] active")
        #expect(refusal("AAIS!") == .badSecret)
        #expect(refusal("  ") == .noSecret)
        #expect(refusal("https://example.org") == .badKeyURI)
    }

    @Test("the URI's names take precedence over the item's names")
    func names() throws {
        let own = try summary("otpauth://totp/Acme:ann?secret=\(Self.key)")
        #expect((own.issuer, own.account) == ("Acme", "ann"))
        let account = try summary("otpauth://totp/ann?secret=\(Self.key)")
        #expect((account.issuer, account.account) == ("Title", "ann"))
        let none = try summary("otpauth://totp/?secret=\(Self.key)&issuer=Acme")
        #expect((none.issuer, none.account) == ("Acme", "user"))
    }

    @Test("the item's title becomes the account if there is none, unless the title is the issuer")
    func title() throws {
        func names(_ field: String, title: String, account: String = "") throws -> String {
            let summary = EntrySummary(try entry(field, issuer: title, account: account))
            return "\(summary.issuer):\(summary.account)"
        }
        let steam = "steam://\(Self.key)"
        #expect(try names(steam, title: "Steam (work)") == "Steam:Steam (work)")
        #expect(try names(steam, title: "Steam (home)") == "Steam:Steam (home)")
        #expect(try names(steam, title: "steam ") == "Steam:")
        #expect(try names(steam, title: "") == "Steam:")
        #expect(try names(steam, title: "Steam (work)", account: "ann") == "Steam:ann")
        let uri = "otpauth://totp/?secret=\(Self.key)&issuer=Acme"
        #expect(try names(uri, title: "Acme at work") == "Acme:Acme at work")
        #expect(try names(uri, title: "Acme") == "Acme:")
    }

    @Test("an edited name replaces the URI's, and placeholders are dropped")
    func preferredNames() throws {
        let uri = "otpauth://totp/Acme:none?secret=\(Self.key)"
        let edited = EntrySummary(
            try entry(uri, issuer: "", account: "bob") { $0.prefersOwnNames = true })
        #expect((edited.issuer, edited.account) == ("Acme", "bob"))
        let kept = EntrySummary(try entry(uri))
        #expect(kept.account == "none")
        let dropped = EntrySummary(try entry(uri) { $0.placeholders = ["none"] })
        #expect(dropped.account == "user")
    }

    @Test("HTML entities in a label are decoded if the app writes them")
    func html() throws {
        let uri = "otpauth://totp/A%26amp%3BB%3Ac%26lt%3Bd?secret=\(Self.key)&issuer=A%26B"
        let row = EntrySummary(try entry(uri) { $0.isLabelHTML = true })
        #expect((row.issuer, row.account) == ("A&B", "c<d"))
        #expect(try summary(uri).account == "c&lt;d")
    }

    @Test(
        "every spelling of Steam is recognised",
        arguments: [
            "steam://\(key)", "STEAM://\(key)", "otpauth://steam/Steam:user?secret=\(key)",
            "otpauth://totp/Steam:user?secret=\(key)&issuer=Steam",
            "otpauth://totp/Steam:user?secret=\(key)",
            "otpauth://totp/Steam%3Auser?secret=\(key)&digits=5",
            "otpauth://totp/Steam:user?secret=\(key)&issuer=Steam&encoder=steam",
            "otpauth://totp/Steam:user?secret=\(key)&issuer=Steam&steam",
        ])
    func steam(field: String) throws {
        #expect(
            try summary(field).description
                == "steam Steam|user 00112233445566778899 SHA1 5 30 [] active")
        #expect(try !entry(field).warnings.contains(.steamParameters))
    }

    @Test("Steam's values replace different values, with a warning")
    func steamValues() throws {
        for parameter in ["digits=6", "period=10", "algorithm=SHA256", "algorithm=x"] {
            let field = "otpauth://steam/Steam:user?secret=\(Self.key)&\(parameter)"
            #expect(try summary(field).type == "steam")
            #expect(try entry(field).warnings.contains(.steamParameters))
        }
        let decimal = try summary(
            "otpauth://totp/Steam:user?secret=\(Self.key)&digits=5&encoder=decimal")
        #expect(decimal.type == "totp")
        #expect(try summary("otpauth://totp/Steamed:a?secret=\(Self.key)").type == "totp")
    }

    @Test("a Yandex key is kept with its PIN, which is Base32 in Aegis")
    func yandex() throws {
        // "1234" in Base32.
        let uri = "otpauth://yaotp/Acme:ann?secret=\(Self.key)&pin=GEZDGNA"
        let code = try #require(try entry(uri).uncomputed)
        #expect(code.kind == .yandex && code.pin?.text == "1234")
        #expect((code.issuer, code.account) == ("Acme", "ann"))
        let withoutPIN = "otpauth://yaotp/ann?secret=\(Self.key)&pin_length=4"
        let other = try #require(try entry(withoutPIN).uncomputed)
        #expect(other.pin == nil && other.issuer == "Title")
    }

    @Test("a Mobile-OTP secret keeps its hexadecimal digits as written")
    func motp() throws {
        let code = try #require(try entry("motp://Acme:an%20n?secret=aB01").uncomputed)
        #expect(code.kind == .motp && code.secret.text == "aB01")
        #expect((code.issuer, code.account) == ("Acme", "an n"))
        #expect(refusal("motp://Acme:ann?secret=x-y") == .badSecret)
        #expect(refusal("motp://Acme:ann") == .noSecret)
    }

    @Test(
        "a URI that cannot be read is refused, and the reason names the invalid part",
        arguments: [
            ("otpauth://totp/name", ExportRowRefusal.noSecret),
            ("otpauth://totp/a?secret=", .noSecret), ("otpauth://totp/a?secret=18", .badSecret),
            ("otpauth://x/a?secret=\(key)", .unknownType),
            ("otpauth://totp/a?secret=\(key)&algorithm=MD5", .unknownAlgorithm),
            ("otpauth://totp/a?secret=\(key)&digits=0", .badDigits),
            ("otpauth://totp/a?secret=\(key)&digits=x", .badDigits),
            ("otpauth://totp/a?secret=\(key)&period=0", .badPeriod),
            ("otpauth://hotp/a?secret=\(key)&counter=-2", .badCounter),
            ("otpauth://totp/a?secret=\(key)&secret=\(key)", .badKeyURI),
        ])
    func refusals(field: String, reason: ExportRowRefusal) {
        #expect(refusal(field) == reason)
    }

    @Test("the known deviations of apps are accepted")
    func deviations() throws {
        let spelling = "otpauth://totp/a?secret=\(Self.key)&algorithm=Algorithm.sha256"
        #expect(try summary(spelling).algorithm == "SHA256")
        // The `&` before `period` is missing.
        let joined = "otpauth://totp/ann?secret=\(Self.key)&issuer=Acmeperiod=60"
        #expect(try summary(joined).issuer == "Acme")
        #expect(try summary(joined).factor == 60)
        let twice = try summary(joined + "&period=45")
        #expect(twice.issuer == "Acme" && twice.factor == 45)
        let unused = "otpauth://hotp/ann?secret=\(Self.key)&counter=-1&period=0"
        #expect(try summary(unused).type == "hotp" && summary(unused).factor == 0)
        for uri in [
            unused, "otpauth://totp/ann?secret=\(Self.key)&counter=x",
            "otpauth://hotp/ann?secret=\(Self.key)&issuer=Acmeperiod=60",
        ] {
            #expect(try entry(uri).credential?.otherParameters.isEmpty == true)
        }
        // A raw `#` does not begin a fragment, and `issuer` may have no `=`.
        let raw = try summary("otpauth://totp/:ann #1?issuer&secret=\(Self.key)")
        #expect((raw.issuer, raw.account) == ("Title", "ann #1"))
        let stray = try entry("otpauth://totp/a?secret=AAISEM2EK")
        #expect(stray.warnings.contains(.incompleteSecret))
    }

    @Test("tags are collected, and WinAuth's parameters that contain further secrets are dropped")
    func extraParameters() throws {
        let uri =
            "otpauth://totp/ann?secret=\(Self.key)&tags=Work&tags=My%20Home&data=secret&icon=x"
            + "&serial=1&deviceid=2&image=logo.png"
        let entry = try entry(uri)
        #expect(entry.tags == ["Work", "My Home"])
        #expect(entry.credential?.otherParameters.map(\.name) == ["image"])
    }

    @Test("Ente's display data is read")
    func codeDisplay() throws {
        let display =
            "%7B%22pinned%22%3Atrue%2C%22trashed%22%3Atrue%252C%22tags%22%3A%5B%22Work%22%5D"
            + "%2C%22note%22%3A%22a+note%22%2C%22position%22%3A0%7D"
        let entry = try entry("otpauth://totp/ann?secret=\(Self.key)&codeDisplay=\(display)")
        #expect(entry.tags == ["Work"] && entry.note == "a note")
        #expect(entry.isFavourite && entry.state == .deleted)
        let broken = try self.entry("otpauth://totp/ann?secret=\(Self.key)&codeDisplay=%7B")
        #expect(broken.warnings.contains(.keyURI(.unknownParameter(.parameter(2)))))
    }
}
