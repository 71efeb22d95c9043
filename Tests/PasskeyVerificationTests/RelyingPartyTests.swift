import Testing

@testable import PasskeyVerification

/// The accepted settings of a relying party.
@Suite("Relying parties")
struct RelyingPartyTests {
    private func fault(
        ids: [String] = ["mill.example"], origins: [String] = ["https://mill.example"],
        related: [String] = [], top: [String] = []
    ) -> PasskeyError? {
        do throws(PasskeyError) {
            _ = try RelyingParty(
                ids: ids, name: "Paper Mill", origins: origins, relatedOrigins: related,
                topOrigins: top)
            return nil
        } catch { return error }
    }

    @Test(
        "an origin is accepted in the form that browsers use, with a host in the scope of an ID",
        arguments: [
            "https://mill.example", "https://login.mill.example", "https://mill.example:8443",
            "https://a-b.c1.mill.example:1", "https://xn--mhle-0ra.mill.example",
            "android:apk-key-hash:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        ])
    func accepted(origin: String) {
        #expect(fault(origins: [origin]) == nil)
    }

    @Test(
        "K-05 any other text is refused as an origin",
        arguments: [
            "", "mill.example", "http://mill.example", "https://", "https://mill.example/",
            "https://mill.example/login", "https://mill.example.", "https://Mill.example",
            "https://mill.example:443", "https://mill.example:0", "https://mill.example:08443",
            "https://mill.example:65536", "https://mill.example:", "https://mill.example:+1",
            "https://user\u{40}mill.example", "https://*.mill.example", "https://-a.mill.example",
            "https://m\u{fc}hle.mill.example", "https://a..mill.example", "https://192.0.2.1",
            "HTTPS://mill.example", " https://mill.example", "https://mill.example ", "null",
            "android:apk-key-hash:short", "wss://mill.example",
        ])
    func refused(origin: String) {
        #expect(fault(origins: [origin]) == .origin(origin))
        #expect(fault(top: [origin]) == .origin(origin))
        #expect(fault(related: [origin]) == .origin(origin))
    }

    @Test("K-06 an origin of a different site is accepted only as a related or a top origin")
    func scope() {
        for origin in [
            "https://other.example", "https://mill.example.evil", "https://amill.example",
        ] {
            #expect(fault(origins: [origin]) == .originOutOfScope(origin))
            #expect(fault(related: [origin], top: [origin]) == nil)
        }
        #expect(fault(ids: ["localhost"], origins: ["http://localhost:8080"]) == nil)
        #expect(
            fault(
                ids: ["mill.example", "other.example"],
                origins: ["https://mill.example", "https://a.other.example"]) == nil)
    }

    @Test("an ID is a host name in lower case")
    func ids() {
        #expect(fault(ids: []) == .incompleteRelyingParty)
        #expect(fault(origins: []) == .incompleteRelyingParty)
        for id in ["Mill.example", "mill.example.", "https://mill.example", "", "a b", "192.0.2.1"]
        {
            #expect(fault(ids: [id]) == .id(id))
        }
    }
}
