import Devices
import Foundation
import TestSupport
import Testing
import WatchwordCryptography

/// Credentials and their secrets, with libfido2 and an authenticator in software.
struct AuthenticatorTests {
    private static let salt = [UInt8](repeating: 9, count: 32)

    /// A folder with the helper and its authenticator.
    private struct Place {
        let folder: TemporaryFolder

        init(_ settings: String?) throws {
            folder = try TemporaryFolder()
            try folder.addProgram(copying: BuiltProgram.path("software-authenticator"))
            if let settings { try connect(settings) }
        }

        func connect(_ settings: String) throws {
            try folder.write(Array(settings.utf8), to: "authenticator")
        }

        func carryOut(
            _ request: TokenRequest, timeout: Duration = .seconds(20), _ person: inout TestPerson
        ) throws -> TokenResponse {
            try TokenHelper(path: folder.program, timeout: timeout)
                .carryOut(request, with: &person)
        }

        func made(
            requiresPIN: Bool, _ person: inout TestPerson
        ) throws -> (FIDOCredential, SecretBytes) {
            let request = TokenRequest.makeCredential(
                device: nil, salt: AuthenticatorTests.salt, requiresPIN: requiresPIN)
            guard case .made(let credential, let secret) = try carryOut(request, &person) else {
                throw TokenFailure.badHelperResponse
            }
            return (credential, secret)
        }

        func secret(
            of credential: FIDOCredential, _ person: inout TestPerson
        ) throws -> SecretBytes? {
            let result = try carryOut(.secret(of: credential, device: nil), &person)
            guard case .secret(let secret) = result else { return nil }
            return secret
        }
    }

    @Test("a credential yields the same secret each time, with the PIN and a touch")
    func pin() throws {
        let place = try Place("seed one\npin 1234\n")
        var person = TestPerson("1234")
        let (credential, secret) = try place.made(requiresPIN: true, &person)
        #expect(person.touches == [1, 2] && person.questions.count == 1)
        #expect(credential.requiresPIN && credential.salt == Self.salt && secret.count == 32)
        var later = TestPerson("0000", "1234")
        let again = try #require(try place.secret(of: credential, &later))
        #expect(again == secret)
        #expect(
            later.questions == [
                .init(isRepeated: false, left: 8), .init(isRepeated: true, left: 7),
            ])
    }

    @Test("without a PIN, a touch is enough, and the secret differs from the one with a PIN")
    func touchOnly() throws {
        let place = try Place("seed one\n")
        var person = TestPerson()
        let (credential, secret) = try place.made(requiresPIN: false, &person)
        #expect(person.questions.isEmpty && person.touches == [1, 2])
        var later = TestPerson()
        #expect(try #require(try place.secret(of: credential, &later)) == secret)
        #expect(later.touches == [1])
        // The same credential with user verification.
        let verifying = try #require(
            FIDOCredential(
                id: credential.id, salt: credential.salt, relyingParty: credential.relyingParty,
                requiresPIN: true))
        try place.connect("seed one\npin 1234\n")
        var owner = TestPerson("1234")
        let other = try #require(try place.secret(of: verifying, &owner))
        #expect(!(other == secret))
    }

    @Test("an authenticator with a PIN asks for the PIN even to make a credential that needs none")
    func pinToMake() throws {
        let place = try Place("seed one\npin 1234\n")
        var person = TestPerson("1234")
        let (credential, secret) = try place.made(requiresPIN: false, &person)
        #expect(person.questions.count == 1)
        var later = TestPerson()
        #expect(try #require(try place.secret(of: credential, &later)) == secret)
        #expect(later.questions.isEmpty)
    }

    @Test("wrong PINs are counted by the authenticator, which must then be reinserted")
    func wrongPINs() throws {
        let place = try Place("seed one\npin 1234\n")
        var owner = TestPerson("1234")
        let (credential, _) = try place.made(requiresPIN: true, &owner)
        var guesser = TestPerson("1111", "2222", "3333", "4444")
        #expect(throws: TokenFailure.needsReinsertion) {
            try place.secret(of: credential, &guesser)
        }
        #expect(guesser.questions.map(\.left) == [8, 7, 6])
        try place.connect("seed one\npin 1234\nretries 2\n")
        var second = TestPerson("1111", "2222", "1234")
        #expect(throws: TokenFailure.blockedPIN) {
            try place.secret(of: credential, &second)
        }
        try place.connect("seed one\npin 1234\nretries 0\n")
        var late = TestPerson("1234")
        #expect(throws: TokenFailure.blockedPIN) {
            try place.secret(of: credential, &late)
        }
        #expect(late.questions.isEmpty)
    }

    @Test("a missing or wrong authenticator, or one without a PIN, is detected without a prompt")
    func otherAuthenticator() throws {
        let place = try Place("seed one\npin 1234\n")
        var owner = TestPerson("1234")
        let (credential, _) = try place.made(requiresPIN: true, &owner)
        var late = TestPerson("1234")
        try place.connect("seed two\npin 1234\n")
        #expect(throws: TokenFailure.otherDevice) {
            try place.secret(of: credential, &late)
        }
        try FileManager.default.removeItem(atPath: place.folder.file("authenticator"))
        #expect(throws: TokenFailure.noDevice) {
            try place.secret(of: credential, &late)
        }
        try place.connect("seed one\n")
        #expect(throws: TokenFailure.noPINSet) {
            try place.secret(of: credential, &late)
        }
        #expect(late.questions.isEmpty && late.touches.isEmpty)
    }

    @Test("among several authenticators, a credential is found and used, but no new one is created")
    func several() throws {
        let place = try Place("seed one\npin 1234\n")
        var owner = TestPerson("1234")
        let (credential, secret) = try place.made(requiresPIN: true, &owner)
        try place.connect("seed two\nsecond one\npin 1234\n")
        var later = TestPerson("1234")
        #expect(try #require(try place.secret(of: credential, &later)) == secret)
        var another = TestPerson("1234")
        #expect(throws: TokenFailure.severalDevices) {
            try place.made(requiresPIN: true, &another)
        }
    }

    @Test(
        "a hostile authenticator, or one that nobody touches, causes an error",
        arguments: [
            ("untouched", TokenFailure.notTouched), ("declined", .declined),
            ("garbage", .badDeviceResponse), ("truncated", .badDeviceResponse),
            ("noSecret", .notSupported),
        ] as [(String, TokenFailure)])
    func faults(name: String, refusal: TokenFailure) throws {
        let place = try Place("seed one\npin 1234\n")
        var owner = TestPerson("1234")
        let (credential, _) = try place.made(requiresPIN: true, &owner)
        try place.connect("seed one\npin 1234\nfault \(name)\n")
        var late = TestPerson("1234")
        #expect(throws: refusal) {
            try place.secret(of: credential, &late)
        }
    }

    @Test("a silent authenticator is abandoned at the deadline")
    func silent() throws {
        let place = try Place("seed one\n")
        var owner = TestPerson()
        let (credential, _) = try place.made(requiresPIN: false, &owner)
        try place.connect("seed one\nfault silent\n")
        var late = TestPerson()
        #expect(throws: TokenFailure.timedOut) {
            try place.carryOut(
                .secret(of: credential, device: nil), timeout: .milliseconds(500), &late)
        }
    }
}
