import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography

@testable import PasskeyVerification

/// The options that pages pass to browsers.
@Suite("Options for browsers")
struct OptionsTests {
    private let passkeys: Passkeys
    private let alice: Subject

    init() throws {
        let ring = try KeyRing.make()
        let store = MemoryStore(node: [UInt8](repeating: 1, count: 16), key: ring.auditKey)
        let verifier = Verifier(
            store: store, keys: ring, clock: { UnixTime(seconds: 1_800_000_000) })
        passkeys = Passkeys(
            verifier,
            for: try RelyingParty(
                ids: ["mill.example"], name: "Paper Mill", origins: ["https://mill.example"]))
        alice = try #require(Subject("alice"))
    }

    private func text(_ value: JSONValue) -> String {
        value.rendered().withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
    }

    @Test("W-01 the options of a registration have the members of WebAuthn Level 3, section 5.1.9")
    func creation() async throws {
        guard
            case .granted(let grant) = try await passkeys.beginRegistration(
                PasskeyEnrolment(
                    for: alice,
                    policy: PasskeyPolicy(
                        userVerification: .preferred, attestation: .trusted,
                        discoverable: .preferred)))
        else { throw OptionsError.refused }
        let json = grant.options.json(userName: "alice@mill", displayName: "Alice")
        let handle = Base64URL.encode(grant.options.userHandle.span)
        let challenge = Base64URL.encode(grant.options.challenge.span)
        #expect(
            text(json)
                == #"{"rp":{"id":"mill.example","name":"Paper Mill"},"user":{"id":"\#(handle)","name":"alice@mill","displayName":"Alice"},"challenge":"\#(challenge)","pubKeyCredParams":[{"type":"public-key","alg":-7},{"type":"public-key","alg":-257}],"timeout":570000,"excludeCredentials":[],"authenticatorSelection":{"residentKey":"preferred","requireResidentKey":false,"userVerification":"preferred"},"attestation":"direct"}"#
        )
        #expect(
            grant.options.jsonText(userName: "alice@mill", displayName: "Alice") == text(json))
        let standard = grant.options.json(userName: "", displayName: "")
        #expect(standard["attestation"]?.string == "direct")
    }

    @Test(
        "W-14 the options of an authentication have the members of WebAuthn Level 3, section 5.1.10"
    )
    func request() async throws {
        let anybody = try await passkeys.beginAuthentication(CeremonyRequest(for: nil)).options
        let challenge = Base64URL.encode(anybody.challenge.span)
        #expect(
            anybody.jsonText
                == #"{"challenge":"\#(challenge)","rpId":"mill.example","allowCredentials":[],"timeout":270000,"userVerification":"required"}"#
        )
        let known = try await passkeys.beginAuthentication(CeremonyRequest(for: alice)).options
        let first = try #require(known.json["allowCredentials"]?.elements?.first)
        #expect(first["type"]?.string == "public-key")
        let id = known.allowed[0].id
        let encoded = Base64URL.encode(id.span)
        #expect(first["id"]?.string == encoded)
    }

    @Test("the signal has the members of WebAuthn Level 3, section 5.1.11")
    func signal() async throws {
        let signal = try await passkeys.signal(for: alice)
        guard case .accepted(_, let handle, _) = signal, let json = signal.json else {
            throw OptionsError.refused
        }
        let name = Base64URL.encode(handle.span)
        #expect(
            text(json)
                == #"{"rpId":"mill.example","userId":"\#(name)","allAcceptedCredentialIds":[]}"#
        )
        _ = try await passkeys.beginRegistration(PasskeyEnrolment(for: alice))
        #expect(try await passkeys.signal(for: alice).json == nil)
    }
}

private enum OptionsError: Error {
    case refused
}
