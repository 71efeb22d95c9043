import CommandLineInterface
import Testing

@testable import Commands

@Suite struct SecretFormTests {
    @Test(
        "keys are recognised in the forms that issuers print",
        arguments: [
            "GEZDGNBVGY3TQOJQ", "gezdgnbvgy3tqojq", "GEZD GNBV GY3T QOJQ", "gezd-gnbv-gy3t-qojq",
            "GEZDG NBVGY 3TQOJ Q", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
            "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQO==", " GEZDGNBVGY3TQOJQ ",
        ])
    func keys(_ text: String) { #expect(SecretForm(inName: text) == .key) }

    @Test(
        "names are not mistaken for keys",
        arguments: [
            // The most similar names: too short, without a digit, in mixed case, with other
            // characters, in words.
            "GEZDGNBVGY3TQOJ", "GEZDGNBVGYZTQOJQ", "GEZDGNBVGY3TQOJq", "GEZDGNBVGY3TQOJ1",
            "GEZDGNBVGY3TQOJ.", "office365 accounts", "my-work-vpn-2-gateway",
            "GITHUB", "GitHub:alice2@example.com", "Backup server 2", "alice234@example.com", "",
            // Ids of entries, in full and in part.
            "23456723abcdef23abcdef2345672345", "23456723abcdef23",
        ])
    func names(_ text: String) { #expect(SecretForm(inName: text) == nil) }

    @Test("URIs with keys are recognised by their scheme, in either case")
    func schemes() {
        for text in ["otpauth://totp/a?secret=GE", " OTPAUTH://totp", "apple-otpauth://totp"] {
            #expect(SecretForm(inName: text) == .keyURI)
        }
        for text in ["otpauth-migration://offline?data=AA", "Steam://GE", "motp://a:b?secret=0"] {
            #expect(SecretForm(inName: text) == .exportURI)
        }
        for text in ["otpauth", "steam:alice", "motp:alice", "https://example.com"] {
            #expect(SecretForm(inName: text) == nil)
        }
    }
}
