import Devices
import TestSupport
import Testing
import Verification
import WatchwordCryptography

/// What an attacker learns from the bus between the processor and the TPM.
@Suite(
    .enabled(if: EmulatedTPM.canHaveCertificate, "swtpm or swtpm-tools is not installed"))
struct TPMTrafficTests {
    /// The longest PIN: no part of the traffic has these bytes by chance.
    private static let pin = "a PIN that is a whole sentence 1"
    private static let message = Array("watchword device key 1, and so on".utf8)

    private let tpm: EmulatedTPM
    private let bus: HostileTPM
    private let address: TPMAddress

    init() throws {
        tpm = try EmulatedTPM(hasCertificate: true)
        bus = try HostileTPM(tpm)
        address = try #require(TPMAddress(bus.address))
    }

    private func carryOut(_ request: TokenRequest) throws -> TokenResponse {
        var person = TestPerson(Self.pin, Self.pin)
        return try TokenHelper(path: BuiltProgram.path("watchword-token"))
            .carryOut(request, with: &person)
    }

    /// Seals, unseals, makes keys, signs, attests and activates; returns every secret that was
    /// used, and a public key.
    private func useEverything() throws -> (secrets: [SecretForms], point: [UInt8]) {
        let pin = SecretBytes(text: Self.pin)
        let sealed = Randomness.secret(count: 32)
        for isBound in [false, true] {
            guard
                case .sealed(let object) = try carryOut(
                    .seal(sealed, pin: pin, isBoundToPCR7: isBound, in: address)),
                case .secret(let secret) = try carryOut(.unseal(object, in: address))
            else { throw TokenFailure.badHelperResponse }
            #expect(secret == sealed)
        }
        var secrets = [
            SecretForms("PIN", bytes: Array(Self.pin.utf8)),
            SecretForms("sealed secret", bytes: sealed.known),
        ]
        var last: [UInt8] = []
        for pin in [nil, pin] {
            let authorization = Randomness.secret(count: TPMKey.authorizationCount)
            guard
                case .madeKey(let key, let point) = try carryOut(
                    .makeKey(authorization: authorization, pin: pin, in: address)),
                case .signature = try carryOut(
                    .sign(Self.message, with: key, authorization: authorization, in: address)),
                case .attested(let attestation) = try carryOut(
                    .attest(key, for: Self.message, authorization: authorization, in: address))
            else { throw TokenFailure.badHelperResponse }
            last = point
            secrets.append(SecretForms("authorization value", bytes: authorization.known))
            if let pin {
                let mac = HMACKey(authorization).secretCode(of: pin)
                secrets.append(SecretForms("MAC of the PIN", bytes: mac.known))
            }
            let revealed = Randomness.secret(count: TokenRequest.secretCount)
            let activation = try KeyActivation(
                protecting: revealed, for: TPMPublicArea(attestation.attestationKey).name(),
                endorsementKey: EndorsementKey(
                    TPMPublicArea(attestation.endorsementKey).publicKey))
            guard case .secret(let secret) = try carryOut(.activate(activation, in: address))
            else { throw TokenFailure.badHelperResponse }
            #expect(secret == revealed)
            secrets.append(SecretForms("activation secret", bytes: revealed.known))
        }
        return (secrets, last)
    }

    @Test("K-83 no PIN, authorization value or secret can be read on the bus between CPU and TPM")
    func secrets() throws {
        let (secrets, point) = try useEverything()
        let traffic = bus.exchanges.flatMap { $0.command + $0.response }
        // A public key consists of two numbers of 32 bytes.
        #expect(SecretForms("public key", bytes: Array(point[1..<33])).isIn(traffic))
        #expect(secrets.count == 7)
        for secret in secrets { #expect(!secret.isIn(traffic), "\(secret.name)") }
    }

    @Test("K-83 messages with a secret are encrypted in a session that is salted with a TPM's key")
    func sessions() throws {
        _ = try useEverything()
        var salted: Set<UInt32> = []
        var seen: Set<UInt32> = []
        for exchange in bus.exchanges {
            let command = Command(exchange.command)
            if exchange.code == Command.startSession {
                let handle = Command(exchange.response).number(at: 10)
                // The next session may have the number of an earlier one.
                salted.remove(handle)
                if command.isSaltedAndEncrypting { salted.insert(handle) }
            }
            guard let rule = Command.rules[exchange.code] else { continue }
            seen.insert(exchange.code)
            let sessions = command.sessions(behind: rule.handles)
            #expect(
                sessions.contains {
                    salted.contains($0.handle) && $0.attributes & rule.attributes == rule.attributes
                }, "\(String(exchange.code, radix: 16))")
        }
        #expect(seen == Set(Command.rules.keys))
    }
}

/// A command of a TPM (TPM 2.0 Library, Part 1, section 18).
private struct Command {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// `TPM2_StartAuthSession`.
    static let startSession: UInt32 = 0x176

    /// The number of handles of a command, and the attributes of a session that protects it: 0x20
    /// encrypts the first parameter, 0x40 the first one of the response.
    static let rules: [UInt32: (handles: Int, attributes: UInt8)] = [
        0x153: (1, 0x20),  // TPM2_Create
        0x15e: (1, 0x40),  // TPM2_Unseal
        0x147: (2, 0x40),  // TPM2_ActivateCredential
        // The secret is part of the session's key.
        0x15d: (1, 0), 0x148: (2, 0),  // TPM2_Sign, TPM2_Certify
    ]

    func number(at position: Int, bytes count: Int = 4) -> UInt32 {
        guard position + count <= bytes.count else { return 0 }
        return bytes[position..<position + count].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Whether `TPM2_StartAuthSession` names a key, has a salt that is encrypted with it, and
    /// chooses AES.
    var isSaltedAndEncrypting: Bool {
        let nonce = Int(number(at: 18, bytes: 2))
        let salt = Int(number(at: 20 + nonce, bytes: 2))
        let algorithm = number(at: 22 + nonce + salt + 1, bytes: 2)
        // TPM_RH_NULL, TPM_ALG_AES
        return number(at: 10) != 0x4000_0007 && salt > 0 && algorithm == 0x0006
    }

    /// The sessions of a command.
    func sessions(behind handles: Int) -> [(handle: UInt32, attributes: UInt8)] {
        // TPM_ST_SESSIONS
        guard number(at: 0, bytes: 2) == 0x8002 else { return [] }
        var position = 10 + 4 * handles
        let end = position + 4 + Int(number(at: position))
        position += 4
        var found: [(UInt32, UInt8)] = []
        while position < min(end, bytes.count) {
            let handle = number(at: position)
            position += 6 + Int(number(at: position + 4, bytes: 2))
            found.append((handle, UInt8(number(at: position, bytes: 1))))
            position += 3 + Int(number(at: position + 1, bytes: 2))
        }
        return found
    }
}
