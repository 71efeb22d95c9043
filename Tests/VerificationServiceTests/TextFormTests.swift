import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import VerificationService

struct TextFormTests {
    /// Valid texts of each form, and the most similar invalid texts.
    static let samples: [(form: TextForm, good: [String], bad: [String])] = {
        let word = String(repeating: "A", count: 74)
        return [
            (
                .label, ["a", "a b", "é😀", String(repeating: "x", count: 255)],
                ["", " a", "a ", "a\nb", "a\u{7F}", "\u{0}", String(repeating: "x", count: 256)]
            ),
            (
                .subject, [" ", "a\r\nb", "é", String(repeating: "x", count: 255)],
                ["", "a\u{0}", String(repeating: "x", count: 256)]
            ),
            (.userAgent, ["", "curl/7.88 (x)"], ["a\r\nb", "\u{1B}[31m"]),
            (
                .code,
                [
                    "123456", "1234567", "12345678", "ABCD-EF23-GHIJ-K567", "12 3456", "123-456",
                    "1 2 3 4 5 6 7 8", "abcd-ef23-ghij-k567", "ABCDEF23GHIJK567",
                    "aBCD EF23 - GHIJ k567", "2345-6723-4567-2345",
                    "1" + String(repeating: " ", count: 58) + "23456",
                ],
                [
                    "", "12345", "123456789", " 123456", "123456 ", "12345a", "１２３４５６",
                    "\u{FEFF}123456", "123456\u{0}", "+12345", "-12345", "-123456", "0x1234",
                    "ABCD-EF23-GHIJ-K56", "ABCD-EF23-GHIJ-K561", "ABCD-EF23-GHIJ-K018",
                    "123456\n", "123\t456", "123\u{A0}456", "123–456", "ABCD-EF23-GHIJ-K56\u{131}",
                    "1" + String(repeating: " ", count: 59) + "23456",
                ]
            ),
            (
                .oneTimePassword, ["123456", "12345678", "123 456"],
                ["ABCD-EF23-GHIJ-K567", "12345", "2345-6723-4567-2345"]
            ),
            (
                .key,
                [
                    String(repeating: "A", count: 26), String(repeating: "7", count: 32),
                    String(repeating: "A", count: 207),
                ],
                [
                    "", String(repeating: "A", count: 23), String(repeating: "a", count: 32),
                    String(repeating: "A", count: 26) + "======", String(repeating: "1", count: 32),
                    String(repeating: "A", count: 208), String(repeating: "A", count: 31) + " ",
                ]
            ),
            (
                .importedKey,
                [String(repeating: "A", count: 26), String(repeating: "A", count: 207)],
                ["", "A", String(repeating: "a", count: 32), String(repeating: "A", count: 208)]
            ),
            (
                .shortKey,
                [
                    String(repeating: "A", count: 16), String(repeating: "7", count: 32),
                    String(repeating: "A", count: 207),
                ],
                [
                    "", "A", String(repeating: "a", count: 32),
                    String(repeating: "A", count: 16) + "======", String(repeating: "1", count: 32),
                    String(repeating: "A", count: 208), String(repeating: "A", count: 31) + " ",
                ]
            ),
            (
                .credential, ["cr_AAAAAAAAAAAAAAAAAAAAAA", "cr_-_zZ09AAAAAAAAAAAAAAAw"],
                [
                    "cr_AAAAAAAAAAAAAAAAAAAAAB", "vf_AAAAAAAAAAAAAAAAAAAAAA",
                    "cr_AAAAAAAAAAAAAAAAAAAAA", "cr_AAAAAAAAAAAAAAAAAAAAA=",
                    "cr_+AAAAAAAAAAAAAAAAAAAAA",
                ]
            ),
            (
                .client, ["cl_AAAAAAAAAAAAAAAAAAAAAA", "cl_-_zZ09AAAAAAAAAAAAAAAw"],
                ["cl_AAAAAAAAAAAAAAAAAAAAAB", "cr_AAAAAAAAAAAAAAAAAAAAAA", "cl_", "shop"]
            ),
            (.verification, ["vf_AAAAAAAAAAAAAAAAAAAAAA"], ["cr_AAAAAAAAAAAAAAAAAAAAAA"]),
            (
                .enrolmentTicket, ["wwt_" + word.prefix(42) + "A"],
                ["wwl_" + word.prefix(42) + "A", "wwt_" + word.prefix(42) + "B", "wwt_"]
            ),
            (.loginTicket, ["wwl_" + word.prefix(42) + "8"], ["wwl_" + word.prefix(42)]),
            (
                .secret, ["wws_" + word + "A"],
                ["wws_" + word.prefix(42) + "A", "wws_" + word + "B"]
            ),
            (
                .ceremony, ["wwc_" + word.prefix(42) + "A"],
                ["wwd_" + word.prefix(42) + "A", "wwc_" + word.prefix(42) + "B", "wwc_"]
            ),
            (.knownDevice, ["wwd_" + word.prefix(42) + "8"], ["wwd_" + word.prefix(42)]),
            (
                .deviceChallenge, ["wwx_" + word.prefix(42) + "8"],
                ["wwx_" + word.prefix(42), "wwc_" + word.prefix(42) + "8"]
            ),
            (
                .audience, ["https://a.example", String(repeating: "x", count: 1_024)],
                ["", "https://a b", "a\n", "é", String(repeating: "x", count: 1_025)]
            ),
            (
                .shownText, ["Pay 120.00 €\nto Mill", " ", String(repeating: "x", count: 1_024)],
                ["", "a\rb", "a\tb", "\u{1B}[2J", "a\u{7F}", String(repeating: "x", count: 1_025)]
            ),
            (
                .structure, ["AA", "AAA", "AAAA", "-_-_Aw", String(repeating: "A", count: 1_366)],
                [
                    "", "A", "AB", "AAB", "AA==", "+AAA", "AAAAA",
                    String(repeating: "A", count: 1_368),
                ]
            ),
            (
                .certificate, ["AAAA", String(repeating: "A", count: 5_462)],
                ["", "AB", "AA==", String(repeating: "A", count: 5_464)]
            ),
            (
                .base64URL, ["AA", "AAA", "AAAA", "-_-_Aw", String(repeating: "A", count: 128)],
                ["", "A", "AB", "AAB", "AA==", "+AAA", "AAAAA", String(repeating: "A", count: 132)]
            ),
            (
                .nonce, ["AAAAAAAAAAAAAAAAAAAAAA", "-_AAAAAAAAAAAAAAAAAAAw"],
                ["AAAAAAAAAAAAAAAAAAAAAB", "AAAAAAAAAAAAAAAAAAAAA", "", "AAAAAAAAAAAAAAAAAAAAAA=="]
            ),
        ]
    }()

    @Test("the service and its OpenAPI patterns accept the same strings", arguments: samples)
    func agreement(_ form: TextForm, _ good: [String], _ bad: [String]) throws {
        for text in good {
            #expect(form.accepts(SecretBytes(text: text)), "\(form): \(text)")
            #expect(try isDescribed(text, form), "\(form): \(text)")
        }
        for text in bad {
            #expect(!form.accepts(SecretBytes(text: text)), "\(form): \(text)")
            #expect(try !isDescribed(text, form), "\(form): \(text)")
        }
    }

    @Test("H-01 a key of 15 bytes passes as Base32, so that it can be refused as too short")
    func shortKey() throws {
        let short = String(repeating: "A", count: 24)
        #expect(TextForm.key.accepts(SecretBytes(text: short)))
        #expect(try !isDescribed(short, .key))
    }

    @Test(
        "H-01 any shorter imported key passes as Base32, so that it can be refused as too short",
        arguments: [(TextForm.importedKey, 24), (.importedKey, 2), (.shortKey, 15), (.shortKey, 2)])
    func tooShortKey(_ form: TextForm, _ count: Int) throws {
        let short = String(repeating: "A", count: count)
        #expect(form.accepts(SecretBytes(text: short)))
        #expect(try !isDescribed(short, form))
    }

    @Test("a text of 21 lines passes as a text, so that it can be refused as too long to show")
    func tooManyLines() throws {
        let twenty = String(repeating: "Pay\n", count: 19) + "Pay"
        #expect(try isDescribed(twenty, .shownText))
        for long in [twenty + "\n", twenty + "\nPay"] {
            #expect(TextForm.shownText.accepts(SecretBytes(text: long)))
            #expect(try !isDescribed(long, .shownText))
        }
    }

    private func isDescribed(_ text: String, _ form: TextForm) throws -> Bool {
        if let counts = form.counts, !counts.contains(text.unicodeScalars.count) { return false }
        guard let pattern = form.pattern else { return true }
        // `$` is replaced by `\z`, its meaning in ECMA-262.
        let expression = try NSRegularExpression(
            pattern: pattern.replacingOccurrences(of: "$", with: "\\z"))
        let range = NSRange(text.startIndex..., in: text)
        return expression.firstMatch(in: text, range: range) != nil
    }
}
