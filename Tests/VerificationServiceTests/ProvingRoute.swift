import ServiceTranscripts
import TestSupport
import Testing
import Verification
@testable import VerificationService
import WatchwordCoding
import WatchwordCryptography

/// The routes that verify a proof; every attack is tried on each route.
enum ProvingRoute: CaseIterable {
    case verification, verificationOfCredential, recoveryCode, confirmation, resynchronization
    case enrolmentTicket, deviceLogin, loginTicket
    case registration, assertion, stepUp, browserRegistration, browserAssertion
    case deviceKeyTicket, deviceSignature

    /// The operation's id.
    var operation: String {
        switch self {
        case .verification, .verificationOfCredential, .recoveryCode: "verify"
        case .confirmation: "confirmCredential"
        case .resynchronization: "resynchronizeCredential"
        case .enrolmentTicket: "redeemEnrolment"
        case .deviceLogin: "signIn"
        case .loginTicket: "redeemLogin"
        case .registration: "registerPasskey"
        case .assertion: "verifyAssertion"
        case .stepUp: "completeStepUp"
        case .browserRegistration: "registerInBrowser"
        case .browserAssertion: "verifyInBrowser"
        case .deviceKeyTicket: "registerDeviceKey"
        case .deviceSignature: "verifyDeviceSignature"
        }
    }

    /// The routes on which a wrong value ends nothing; after a denial, a registration must begin
    /// again.
    static let repeatable = allCases.filter { $0 != .registration }

    /// The routes that take a six-digit code and count wrong guesses.
    static let ofCodes: [ProvingRoute] = [
        .verification, .verificationOfCredential, .confirmation, .resynchronization,
    ]
}

/// A proof for one route.
struct Proof: Sendable {
    let target: String
    /// The API key that is used; `nil` on device routes.
    var key: String? = "all"
    /// The header fields that a page sends.
    var headers: [String: String] = [:]
    /// The request body with a value, for the attempt with this number.
    let body: @Sendable (String, Int) -> String
    /// The value that is correct now.
    let right: @Sendable () throws -> String
    /// A well-formed, wrong value.
    let wrong: String
    /// A text that only an acceptance contains.
    let mark: String

    /// Presents a value, and returns whether it was accepted.
    func accepts(_ value: String, attempt: Int = 0, in fixture: ServiceFixture) async throws -> Bool
    {
        let reply = try await fixture.ask(
            "POST", target, body(value, attempt), as: key, headers: headers)
        return reply.status < 300 && reply.response.body.text.contains(mark)
    }
}

extension ServiceFixture {
    /// Prepares a proof for a route.
    func proof(on route: ProvingRoute) async throws -> Proof {
        switch route {
        case .verification:
            let alice = try await enrolled()
            return try code(of: alice, "/v1/verifications") { code, _ in
                #"{"subject":"alice","code":"\#(code)"}"#
            }
        case .verificationOfCredential:
            let alice = try await enrolled()
            return try code(of: alice, "/v1/verifications") { code, _ in
                #"{"subject":"alice","code":"\#(code)","credential":"\#(alice.id)"}"#
            }
        case .confirmation:
            let alice = try await pending()
            return try code(of: alice, "/v1/credentials/\(alice.id)/confirm") { code, _ in
                #"{"code":"\#(code)"}"#
            }
        case .resynchronization:
            let alice = try await enrolled()
            let wrong = try wrongCode(of: alice)
            return Proof(
                target: "/v1/credentials/\(alice.id)/resync",
                body: { codes, _ in #"{"codes":["\#(codes)"]}"# },
                right: { [self] in
                    try (1...2).map { try code(of: alice, step: $0) }.joined(separator: #"",""#)
                },
                wrong: #"\#(wrong)","\#(wrong)"#, mark: #""result":"accepted""#)
        case .recoveryCode:
            let made = try await enrol(#"{"type":"recovery"}"#)
            let code = try made.member("codes")
            return Proof(
                target: "/v1/verifications",
                body: { code, _ in #"{"subject":"alice","code":"\#(code)"}"# }, right: { code },
                wrong: "AAAA-AAAA-AAAA-AAAA", mark: #""result":"accepted""#)
        case .enrolmentTicket:
            let ticket = try await enrol(#"{"type":"secret"}"#).member("ticket")
            return Proof(
                target: "/v1/device/enrolments", key: nil,
                body: { ticket, _ in #"{"ticket":"\#(ticket)"}"# }, right: { ticket },
                wrong: "wwt_" + String(repeating: "A", count: 43), mark: #""secret":"wws_"#)
        case .deviceLogin:
            return try await deviceLogin()
        case .deviceKeyTicket:
            return try await deviceKeyTicket()
        case .deviceSignature:
            return try await deviceSignature()
        case .loginTicket:
            let login = try await deviceLogin()
            let reply = try await ask(
                "POST", login.target, login.body(login.right(), 0), as: login.key)
            let ticket = try reply.member("login")
            return Proof(
                target: "/v1/logins/redeem", body: { ticket, _ in #"{"login":"\#(ticket)"}"# },
                right: { ticket }, wrong: "wwl_" + String(repeating: "A", count: 43),
                mark: #""subject":"alice""#)
        case .registration, .assertion, .stepUp, .browserRegistration, .browserAssertion:
            return try await passkeyProof(on: route)
        }
    }

    /// A proof with a passkey; the varied value is the token or the id of the ceremony.
    private func passkeyProof(on route: ProvingRoute) async throws -> Proof {
        let driver = driver
        var passkey = try TestPasskey()
        let accepted = #""result":"accepted""#
        let page = ["Origin": "https://mill.example"]
        func ceremony(_ ceremony: PasskeyDriver.Ceremony, _ target: String) throws -> Proof {
            let response = try passkey.signedJSON(ceremony.challenge)
            return Proof(
                target: target,
                body: { token, _ in #"{"ceremony":"\#(token)","response":\#(response)}"# },
                right: { ceremony.token }, wrong: "wwc_" + String(repeating: "A", count: 43),
                mark: accepted)
        }
        switch route {
        case .registration:
            let begun = try await driver.begin()
            let id = Base64URL.encode(passkey.id.span)
            let response = try passkey.createdJSON(begun.challenge)
            return Proof(
                target: "/v1/credentials/\(begun.credential)/registration",
                body: { text, _ in #"{"response":\#(response.replacing(id, with: text))}"# },
                right: { id }, wrong: Base64URL.encode([9, 9].span), mark: accepted)
        case .browserRegistration:
            let ticket = try PasskeyDriver.member("ticket", try await driver.issueTicket())
            let begun = try await driver.beginOnPage(ticket: ticket)
            let response = try passkey.createdJSON(PasskeyDriver.challenge(begun))
            return Proof(
                target: "/v1/browser/registrations", key: nil, headers: page,
                body: { ticket, _ in #"{"ticket":"\#(ticket)","response":\#(response)}"# },
                right: { ticket }, wrong: "wwt_" + String(repeating: "A", count: 43),
                mark: accepted)
        case .stepUp:
            passkey.flags = 0x0d
            let id = try await driver.register(passkey).credential
            let reply = try await driver.signIn(passkey, #","policy":{"backup":"step-up"}"#)
            let verification = try PasskeyDriver.member("verification", reply)
            return Proof(
                target: "/v1/credentials/\(id)/step-up",
                body: { text, _ in #"{"verification":"\#(text)"}"# }, right: { verification },
                wrong: "vf_" + String(repeating: "A", count: 22), mark: accepted)
        case .browserAssertion:
            passkey.userHandle = try await driver.register(passkey).userHandle
            let begun = try PasskeyDriver.ceremony(try await driver.beginOnPage())
            var proof = try ceremony(begun, "/v1/browser/assertions")
            (proof.key, proof.headers) = (nil, page)
            return proof
        default:
            try await driver.register(passkey)
            return try ceremony(try await driver.beginCeremony(), "/v1/assertions")
        }
    }

    /// Runs ceremonies with passkeys.
    var driver: PasskeyDriver { driver(as: "all") }

    /// Runs ceremonies with passkeys for the application with this API key.
    func driver(as key: String) -> PasskeyDriver {
        PasskeyDriver { [self] sender, target, body in
            let isPage = sender == .page
            let reply = try await ask(
                "POST", target, body, as: isPage ? nil : key,
                headers: isPage ? ["Origin": "https://mill.example"] : [:])
            return PasskeyDriver.Reply(status: reply.status, json: reply.json)
        }
    }

    /// A proof with a device's secret.
    ///
    /// Each attempt has a different nonce, because a repeated nonce repeats the first response.
    private func deviceLogin() async throws -> Proof {
        let ticket = try await enrol(#"{"type":"secret"}"#).member("ticket")
        let device = try await ask(
            "POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#, as: nil)
        let (id, secret) = (try device.member("credential"), try device.member("secret"))
        return Proof(
            target: "/v1/device/logins", key: nil,
            body: { secret, attempt in
                let nonce = Base64URL.encode([UInt8](repeating: UInt8(attempt), count: 16).span)
                let members = [
                    ("credential", id), ("secret", secret), ("rotation_nonce", nonce),
                ].map { #""\#($0)":"\#($1)""# }
                return "{\(members.joined(separator: ","))}"
            }, right: { secret }, wrong: "wws_" + String(repeating: "A", count: 75),
            mark: #""result":"accepted""#)
    }

    private func code(
        of alice: EnrolledCredential, _ target: String,
        body: @escaping @Sendable (String, Int) -> String
    ) throws -> Proof {
        Proof(
            target: target, body: body, right: { [self] in try code(of: alice) },
            wrong: try wrongCode(of: alice), mark: #""result":"accepted""#)
    }

    func enrol(_ body: String) async throws -> Reply {
        try await ask("POST", "/v1/subjects/alice/credentials", body)
    }
}

extension Reply {
    /// The text of a member, or of its first element.
    func member(_ name: String) throws -> String {
        let value = json?[name]?.elements?.first ?? json?[name]
        guard let text = value?.string else { throw Unexpected(status: status) }
        return text
    }
}

// The values that the attacks try on the routes of device keys.
extension ServiceFixture {
    /// A proof with a ticket for a device key.
    func deviceKeyTicket() async throws -> Proof {
        let ticket = try await enrol(#"{"type":"key"}"#).member("ticket")
        let device = try SampleDeviceKey("alice")
        let (point, signature) = (device.pointText, try device.enrolment(ticket))
        return Proof(
            target: "/v1/device/keys", key: nil,
            body: { ticket, _ in
                #"{"ticket":"\#(ticket)","public_key":"\#(point)","#
                    + #""signature":"\#(signature)","presence":"cryptographic"}"#
            }, right: { ticket }, wrong: "wwt_" + String(repeating: "A", count: 43),
            mark: #""state":"active""#)
    }

    /// A proof with a device key: a challenge and its signature.
    func deviceSignature() async throws -> Proof {
        let device = try SampleDeviceKey("alice")
        let ticket = try await enrol(#"{"type":"key"}"#).member("ticket")
        let registered = try await ask(
            "POST", "/v1/device/keys",
            #"{"ticket":"\#(ticket)","public_key":"\#(device.pointText)","#
                + #""signature":"\#(try device.enrolment(ticket))","presence":"cryptographic"}"#,
            as: nil)
        let id = try registered.member("credential")
        let begun = try await ask(
            "POST", "/v1/device/challenges", #"{"credential":"\#(id)"}"#, as: nil)
        let challenge = try begun.member("challenge")
        let signature = try device.signature(
            of: challenge, expiry: begun.json?["expires_ms"]?.wholeNumber ?? 0, by: id)
        return Proof(
            target: "/v1/device/signatures", key: nil,
            body: { pair, _ in
                #"{"credential":"\#(id)","audience":"\#(SampleDeviceKey.audience)","#
                    + #""purpose":"sign-in","presence":"cryptographic","challenge":"\#(pair)"}"#
            }, right: { #"\#(challenge)","signature":"\#(signature)"# },
            // With a real challenge, a wrong signature would spend the challenge.
            wrong: #"wwx_\#(String(repeating: "A", count: 43))","signature":"\#(signature)"#,
            mark: #""result":"accepted""#)
    }
}
