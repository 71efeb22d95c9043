import Devices
import TestSupport
import Testing
import WatchwordCryptography

/// Keys that `watchword-token` makes in an emulated TPM.
@Suite(.enabled(if: EmulatedTPM.isInstalled, "swtpm is not installed"))
struct TPMKeyTests {
    /// A key in a TPM, and what is needed to use it.
    private struct MadeKey {
        let key: TPMKey
        let point: [UInt8]
        let authorization: SecretBytes

        func isValid(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
            let key = try VerificationKey(.ellipticCurve(.p256, point: point), algorithm: .es256)
            return try key.isValid(signature.span, of: message.span)
        }
    }

    private static let message = Array("watchword device key 1, and so on".utf8)

    private static func carryOut(_ request: TokenRequest) throws -> TokenResponse {
        var nobody = TestPerson()
        let result = try carryOut(request, asking: &nobody)
        #expect(nobody.questions.isEmpty && nobody.touches.isEmpty)
        return result
    }

    private static func carryOut(
        _ request: TokenRequest, asking person: inout TestPerson
    ) throws -> TokenResponse {
        try TokenHelper(path: BuiltProgram.path("watchword-token"))
            .carryOut(request, with: &person)
    }

    private static func made(in address: String, pin: String? = nil) throws -> MadeKey {
        let authorization = Randomness.secret(count: TPMKey.authorizationCount)
        let result = try carryOut(
            .makeKey(
                authorization: authorization, pin: pin.map { SecretBytes(text: $0) },
                in: #require(TPMAddress(address))))
        guard case .madeKey(let key, let point) = result else {
            throw TokenFailure.badHelperResponse
        }
        return MadeKey(key: key, point: point, authorization: authorization)
    }

    private static func signature(
        _ made: MadeKey, in address: String, _ authorization: SecretBytes? = nil,
        _ key: TPMKey? = nil
    ) throws -> [UInt8] {
        let result = try carryOut(
            .sign(
                message, with: key ?? made.key, authorization: authorization ?? made.authorization,
                in: #require(TPMAddress(address))))
        guard case .signature(let signature) = result else { throw TokenFailure.badHelperResponse }
        return signature
    }

    @Test("a key in the TPM signs, each time differently, and cannot leave the TPM")
    func signing() throws {
        let tpm = try EmulatedTPM()
        let made = try Self.made(in: tpm.address)
        let signatures = try (0..<3).map { _ in try Self.signature(made, in: tpm.address) }
        #expect(Set(signatures).count == 3)
        for signature in signatures {
            #expect(signature.count <= TPMKey.longestSignature)
            #expect(try made.isValid(signature, of: Self.message))
            #expect(try !made.isValid(signature, of: Self.message + [0]))
        }
        // TPM2B_PUBLIC: size, type ECC, name algorithm SHA-256, then the attributes.
        let head: [UInt8] = [0, 0x23, 0, 0x0b, 0, 0x04, 0x04, 0x72]
        #expect(Array(made.key.publicArea[2..<10]) == head)
        #expect(made.key.parent == 0)
        #expect(try Self.made(in: tpm.address).point != made.point)
    }

    @Test("K-79 without the authorization value, the TPM does not sign, and counts no failure")
    func wrongAuthorization() throws {
        let tpm = try EmulatedTPM()
        let made = try Self.made(in: tpm.address)
        for _ in 0..<6 {
            let wrong = Randomness.secret(count: TPMKey.authorizationCount)
            #expect(throws: TokenFailure.badRequest) {
                try Self.signature(made, in: tpm.address, wrong)
            }
        }
        // The emulator locks after three counted failures.
        #expect(try made.isValid(Self.signature(made, in: tpm.address), of: Self.message))
    }

    /// Signs with a key that has a PIN.
    private static func signature(
        _ made: MadeKey, in address: String, asking person: inout TestPerson,
        _ authorization: SecretBytes? = nil
    ) throws -> [UInt8] {
        let result = try carryOut(
            .sign(
                message, with: made.key, authorization: authorization ?? made.authorization,
                in: #require(TPMAddress(address))), asking: &person)
        guard case .signature(let signature) = result else { throw TokenFailure.badHelperResponse }
        return signature
    }

    @Test(
        "wrong PINs for a key leave a quarter of the TPM's attempts for secrets that open vaults",
        .enabled(if: TPMTools.areInstalled, "needs tpm2-tools"))
    func spared() throws {
        let tpm = try EmulatedTPM()
        try TPMTools(for: tpm).run(
            "tpm2_dictionarylockout", "-s", "-n", "8", "-t", "1000", "-l", "1000")
        let made = try Self.made(in: tpm.address, pin: "2580")
        for left: UInt32 in [3, 0] {
            var guesser = TestPerson("1", "2", "3")
            #expect(throws: TokenFailure.wrongPIN(left: left)) {
                try Self.signature(made, in: tpm.address, asking: &guesser)
            }
        }
        var owner = TestPerson("2580")
        #expect(throws: TokenFailure.lockedOut(seconds: 1000)) {
            try Self.signature(made, in: tpm.address, asking: &owner)
        }
        #expect(owner.questions.isEmpty)
        let address = try #require(TPMAddress(tpm.address))
        let secret = Randomness.secret(count: 32)
        guard
            case .sealed(let object) = try Self.carryOut(
                .seal(secret, pin: SecretBytes(text: "1"), isBoundToPCR7: false, in: address))
        else { throw TokenFailure.badHelperResponse }
        var opener = TestPerson("0", "1")
        guard
            case .secret(let found) = try Self.carryOut(
                .unseal(object, in: address), asking: &opener)
        else { throw TokenFailure.badHelperResponse }
        #expect(found == secret && opener.questions.first?.left == 2)
    }

    @Test(
        "a key with a PIN signs only with it; after too many wrong PINs, the TPM refuses every PIN")
    func withPIN() throws {
        let tpm = try EmulatedTPM()
        let made = try Self.made(in: tpm.address, pin: "2580")
        #expect(made.key.requiresPIN)
        // The attributes without noDA.
        let head: [UInt8] = [0, 0x23, 0, 0x0b, 0, 0x04, 0x00, 0x72]
        #expect(Array(made.key.publicArea[2..<10]) == head)
        var owner = TestPerson("0000", "2580")
        let signature = try Self.signature(made, in: tpm.address, asking: &owner)
        #expect(try made.isValid(signature, of: Self.message))
        // The emulator locks after three failures.
        #expect(
            owner.questions == [
                .init(isRepeated: false, left: 3), .init(isRepeated: true, left: 2),
            ])
        // The stored value alone is not enough, and neither is the PIN alone.
        var other = TestPerson("2580", "2580")
        let wrong = Randomness.secret(count: TPMKey.authorizationCount)
        #expect(throws: TokenFailure.wrongPIN(left: 0)) {
            try Self.signature(made, in: tpm.address, asking: &other, wrong)
        }
        var late = TestPerson("2580")
        let locked = #expect(throws: TokenFailure.self) {
            try Self.signature(made, in: tpm.address, asking: &late)
        }
        guard case .lockedOut(let seconds?)? = locked else {
            Issue.record("\(String(describing: locked))")
            return
        }
        #expect(seconds > 0 && late.questions.isEmpty)
        // Keys without a PIN still sign.
        let open = try Self.made(in: tpm.address)
        #expect(try open.isValid(Self.signature(open, in: tpm.address), of: Self.message))
        var nobody = TestPerson()
        let fresh = try EmulatedTPM()
        let quiet = try Self.made(in: fresh.address, pin: "2580")
        #expect(throws: TokenFailure.noPIN) {
            try Self.signature(quiet, in: fresh.address, asking: &nobody)
        }
    }

    @Test("K-79 nothing is signed if the TPM is a different one, was cleared or is missing")
    func otherTPMs() throws {
        let tpm = try EmulatedTPM()
        let made = try Self.made(in: tpm.address)
        let other = try EmulatedTPM()
        #expect(throws: TokenFailure.otherDevice) {
            try Self.signature(made, in: other.address)
        }
        try tpm.clear()
        #expect(throws: TokenFailure.otherDevice) {
            try Self.signature(made, in: tpm.address)
        }
        for address in ["device:/nonexistent", "swtpm:host=127.0.0.1,port=1"] {
            #expect(throws: TokenFailure.noDevice) {
                try Self.signature(made, in: address)
            }
        }
    }

    @Test(
        "K-79 a busy TPM, or one full of other programs' objects, signs nothing and counts as busy",
        arguments: [0x922, 0x908, 0x90a, 0x902, 0x903] as [UInt32],
        [HostileTPM.Target.createPrimary, .sign])
    func busy(code: UInt32, target: HostileTPM.Target) throws {
        let tpm = try EmulatedTPM()
        let made = try Self.made(in: tpm.address)
        let busy = try HostileTPM(tpm, .refused(code), at: target)
        #expect(throws: TokenFailure.busy) {
            try Self.signature(made, in: busy.address)
        }
        #expect(try made.isValid(Self.signature(made, in: tpm.address), of: Self.message))
    }

    @Test("K-79 a key whose stored form was changed is refused, and nothing is signed")
    func tampered() throws {
        let tpm = try EmulatedTPM()
        let made = try Self.made(in: tpm.address)
        let key = made.key
        for position in stride(from: 0, to: key.privateArea.count, by: 9) {
            var changed = key.privateArea
            changed[position] ^= 0x10
            try expectRefusal(made, key.publicArea, changed, key.parentName, in: tpm)
        }
        for position in stride(from: 0, to: key.publicArea.count, by: 3) {
            var changed = key.publicArea
            changed[position] ^= 0x10
            try expectRefusal(made, changed, key.privateArea, key.parentName, in: tpm)
        }
        var name = key.parentName
        name[5] ^= 1
        try expectRefusal(made, key.publicArea, key.privateArea, name, in: tpm)
        #expect(try made.isValid(Self.signature(made, in: tpm.address), of: Self.message))
    }

    private func expectRefusal(
        _ made: MadeKey, _ publicArea: [UInt8], _ privateArea: [UInt8], _ name: [UInt8],
        in tpm: EmulatedTPM
    ) throws {
        let key = try #require(
            TPMKey(
                publicArea: publicArea, privateArea: privateArea, parent: 0, parentName: name,
                requiresPIN: false))
        let error = #expect(throws: TokenFailure.self) {
            try Self.signature(made, in: tpm.address, nil, key)
        }
        switch error {
        case .otherDevice?, .badRequest?: break
        default: Issue.record("\(String(describing: error))")
        }
    }

    @Test(
        "K-79 a hostile TPM never yields an accepted signature of a different message",
        arguments: [
            HostileTPM.Fault.changed(fromEnd: 0), .changed(fromEnd: 40), .truncated, .noise, .ended,
        ])
    func hostile(fault: HostileTPM.Fault) throws {
        let tpm = try EmulatedTPM()
        let made = try Self.made(in: tpm.address)
        let honest = try HostileTPM(tpm)
        #expect(try made.isValid(Self.signature(made, in: honest.address), of: Self.message))
        var refused = 0
        for position in 1...honest.commandCount {
            let hostile = try HostileTPM(tpm, fault, at: position)
            do {
                // The fault may not matter; then the signature is valid.
                let signature = try Self.signature(made, in: hostile.address)
                #expect(try made.isValid(signature, of: Self.message))
            } catch let failure as TokenFailure {
                refused += 1
                guard failure.isReportedByHelper else {
                    Issue.record("response \(position): \(failure)")
                    continue
                }
            }
        }
        #expect(refused > 3)
    }

    @Test(
        "a key is created under the persistent storage root key if there is one",
        .enabled(if: ForeignProgram("tpm2_evictcontrol") != nil, "tpm2-tools is not installed"))
    func persistentRoot() throws {
        let tpm = try EmulatedTPM()
        let folder = try TemporaryFolder()
        for (name, arguments) in [
            ("tpm2_createprimary", ["-C", "o", "-G", "ecc", "-c", folder.file("root")]),
            ("tpm2_flushcontext", ["-t"]),
            ("tpm2_evictcontrol", ["-C", "o", "-c", folder.file("root"), "0x81000001"]),
            ("tpm2_flushcontext", ["-t"]),
        ] {
            let program = try #require(ForeignProgram(name))
            let outcome = try program.run(arguments + ["-T", tpm.address])
            try #require(outcome.status == 0, "\(name)")
        }
        let made = try Self.made(in: tpm.address)
        #expect(made.key.parent == 0x8100_0001)
        #expect(try made.isValid(Self.signature(made, in: tpm.address), of: Self.message))
    }
}
