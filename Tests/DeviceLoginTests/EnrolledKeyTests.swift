import Courier
import Devices
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography

@testable import DeviceLogin

/// The stored form of device keys.
struct EnrolledKeyTests {
    private static func sample(
        isInTPM: Bool = false, requiresPIN: Bool = false, isRegistered: Bool = true,
        isLong: Bool = false, certificates: Int = 0
    ) throws -> EnrolledKey {
        let signer = try SoftwareSigner.make()
        let key = try #require(
            TPMKey(
                publicArea: [0, 1, 2], privateArea: [3, 4, 5], parent: 0x8100_0001,
                parentName: [0, 11, 6], requiresPIN: requiresPIN))
        let authorization = SecretBytes(text: String(repeating: "a", count: 32))
        let name = isLong ? String(repeating: "n", count: 255) : "attic"
        func structure(_ byte: UInt8) -> [UInt8] {
            [UInt8](repeating: byte, count: isLong ? KeyAttestation.largestStructure : 2)
        }
        let attestation = KeyAttestation(
            certificates: (0..<certificates).map { [UInt8](repeating: UInt8($0), count: 900) },
            endorsementKey: structure(3), attestationKey: structure(4), deviceKey: key.structure,
            certification: structure(5), signature: [1, 6])
        return EnrolledKey(
            server: TrustedServer(
                try #require(ServerAddress("https://login.example:8443/auth")),
                authorities: Array("PEM".utf8)),
            credential: isRegistered ? Token("cr_1") : nil,
            changed: 1_800_000_000, point: signer.point,
            ticketDigest: [UInt8](repeating: 7, count: 32),
            holding: isInTPM ? .tpm(key, authorization: authorization) : signer.holding,
            registration: isRegistered
                ? nil
                : HelperRequest.KeyRegistration(
                    ticket: SecretBytes(text: "wwt_ticket"), presence: .cryptographic,
                    deviceName: name, signature: [UInt8](repeating: 9, count: 72),
                    attestation: attestation))
    }

    @Test(
        "a key decodes unchanged, and a shortened or extended form is refused",
        arguments: [(true, true), (true, false), (false, false)], [true, false])
    func form(place: (isInTPM: Bool, requiresPIN: Bool), isRegistered: Bool) throws {
        let (isInTPM, requiresPIN) = place
        let key = try Self.sample(
            isInTPM: isInTPM, requiresPIN: requiresPIN, isRegistered: isRegistered)
        let form = key.form()
        let read = try #require(EnrolledKey(reading: form))
        #expect(read.form() == form)
        #expect(read.credential == key.credential && read.point == key.point)
        #expect(read.holding.isInTPM == isInTPM && read.holding.requiresPIN == requiresPIN)
        #expect((read.registration == nil) == isRegistered)
        let bytes = form.withBytes { [UInt8](copying: $0) }
        for count in 0..<bytes.count {
            let cut = SecretBytes(copying: bytes.span.extracting(..<count))
            #expect(EnrolledKey(reading: cut) == nil)
        }
        let longer = bytes + [0]
        #expect(EnrolledKey(reading: SecretBytes(copying: longer.span)) == nil)
    }

    @Test("a TPM's attestation of a key decodes unchanged", arguments: [1, 2, 8])
    func attestation(certificates: Int) throws {
        let key = try Self.sample(
            isInTPM: true, isRegistered: false, certificates: certificates)
        let form = key.form()
        let read = try #require(EnrolledKey(reading: form))
        #expect(read.registration?.attestation == key.registration?.attestation)
        #expect(read.registration?.attestation?.certificates.count == certificates)
        #expect(read.form() == form)
        let bytes = form.withBytes { [UInt8](copying: $0) }
        for count in 0..<bytes.count {
            let cut = SecretBytes(copying: bytes.span.extracting(..<count))
            #expect(EnrolledKey(reading: cut) == nil)
        }
        // A key in the vault has no attestation.
        let elsewhere = try Self.sample(isRegistered: false, certificates: certificates)
        #expect(EnrolledKey(reading: elsewhere.form()) == nil)
    }

    @Test("a key in the vault signs only if it is the key that was registered")
    func otherKey() throws {
        let (key, other) = (try Self.sample(), try Self.sample())
        let mixed = EnrolledKey(
            server: key.server, credential: key.credential, changed: 0,
            point: other.point, ticketDigest: key.ticketDigest, holding: key.holding,
            registration: nil)
        let tpm = TPMAccess(.standard)
        #expect(try key.signer(in: tpm).point == key.point)
        #expect(throws: DeviceLoginError.unreadable) { _ = try mixed.signer(in: tpm) }
    }

    /// A TPM that signs with a key in this process.
    private struct OtherTPM: TokenRequestHandler {
        let key: SigningKey

        func carryOut(
            _ request: TokenRequest, with person: inout some TokenHelper.Person
        ) throws(TokenFailure) -> TokenResponse {
            guard case .sign(let message, _, _, _) = request else { throw .badHelperResponse }
            do { return .signature(try key.sign(message.span)) } catch { throw .badHelperResponse }
        }
    }

    @Test("a signature that the registered key did not make is refused")
    func otherSignature() throws {
        let key = try Self.sample(isInTPM: true)
        guard case .tpm(let stored, let authorization) = key.holding else { return }
        let challenge = try #require(
            DeviceKeyTranscript.Challenge([UInt8](repeating: 1, count: 32), expiry: 1))
        let transcript = DeviceKeyTranscript.signIn(
            try key.server.address.scope(.none), credential: "cr_1", challenge: challenge)
        let other = try SigningKey.make()
        let tpm = TPMAccess(.standard, through: OtherTPM(key: other))
        var person = KnownPIN(value: nil)
        func sign(for point: [UInt8]) throws(DeviceLoginError) -> [UInt8] {
            try TPMSigner(stored, point: point, authorization, in: tpm)
                .sign(transcript, asking: &person)
        }
        #expect(try !sign(for: other.point).isEmpty)
        #expect(throws: DeviceLoginError.token(.badHelperResponse)) { try sign(for: key.point) }
    }

    @Test("the longest stored form of a key fits into the space that is reserved for it")
    func longest() throws {
        let key = try Self.sample(
            isInTPM: true, isRegistered: false, isLong: true, certificates: 1)
        #expect(key.form().count < EnrolledKey.largestRest)
    }

    @Test("of two states of one key, the registered one is newer; other keys are unrelated")
    func order() throws {
        let new = try Self.sample(isRegistered: false)
        let token = try #require(Token("cr_2"))
        let registered = new.registered(as: token, isAttested: false, now: 1)
        func order(_ first: EnrolledKey, _ second: EnrolledKey) -> EnrolledOrder {
            EnrolledSecret.order(of: first.form(), second.form())
        }
        #expect(order(new, registered) == .second)
        #expect(order(registered, new) == .first)
        #expect(order(registered, registered) == .same)
        #expect(try order(registered, Self.sample()) == .unrelated)
    }

    @Test("a signature for a server names the address without its path")
    func audience() throws {
        for (address, audience) in [
            ("https://Login.Example:443/auth", "https://login.example"),
            ("https://login.example:8443", "https://login.example:8443"),
            ("http://127.0.0.1:80/a/b", "http://127.0.0.1"), ("https://[::1]/", "https://[::1]"),
        ] {
            #expect(try #require(ServerAddress(address)).audience == audience)
        }
    }

    @Test("a text to confirm is parsed into its lines, and any other form is refused")
    func confirmation() throws {
        let challenge = "wwx_" + String(repeating: "A", count: 43)
        let parsed = try #require(
            KeyConfirmation(parsing: "\(challenge)\n1800000000000\nPay\n120 EUR\n\n"))
        #expect(parsed.text == "Pay\n120 EUR\n")
        #expect(parsed.challenge.expiry == 1_800_000_000_000)
        #expect(parsed.challenge.token.text == challenge)
        let twenty = "\(challenge)\n1" + String(repeating: "\nPay", count: 20)
        #expect(KeyConfirmation(parsing: twenty)?.lines.count == 20)
        for wrong in [
            "\(twenty)\nPay", "\(twenty)\r\nPay", "\(challenge)\n1\n \n ",
            "", challenge, "\(challenge)\n1\n", "\(challenge)\n1", "\(challenge)\n-1\nPay",
            "\(challenge)\n+1\nPay", "\(challenge)\n\nPay", "wwt_\(challenge.dropFirst(4))\n1\nPay",
            "\(challenge.dropLast())\n1\nPay", "\n1\nPay", "\(challenge)\n1 \nPay",
        ] {
            #expect(KeyConfirmation(parsing: wrong) == nil, "\(wrong)")
        }
    }
}
