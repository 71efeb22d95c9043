import Devices
import TestSupport
import Testing
import WatchwordCryptography

/// Sealing and unsealing with `watchword-token` and an emulated TPM.
@Suite(.enabled(if: EmulatedTPM.isInstalled, "swtpm is not installed"))
struct TPMTests {
    private static let secret = "0123456789abcdef0123456789ABCDEF"

    private static func helper() throws -> TokenHelper {
        try TokenHelper(path: BuiltProgram.path("watchword-token"))
    }

    private static func sealed(
        by tpm: EmulatedTPM, pin: String? = "2580", pcr7: Bool = false
    ) throws -> TPMObject {
        var nobody = TestPerson()
        let result = try helper().carryOut(
            .seal(
                SecretBytes(text: secret), pin: pin.map { SecretBytes(text: $0) },
                isBoundToPCR7: pcr7, in: address(of: tpm)),
            with: &nobody)
        #expect(nobody.questions.isEmpty)
        guard case .sealed(let object) = result else { throw TokenFailure.badHelperResponse }
        return object
    }

    private static func address(of tpm: EmulatedTPM) throws -> TPMAddress {
        try #require(TPMAddress(tpm.address))
    }

    private static func unsealed(
        _ object: TPMObject, by tpm: EmulatedTPM, _ person: inout TestPerson
    ) throws -> String? {
        try helper().carryOut(.unseal(object, in: address(of: tpm)), with: &person).secretText
    }

    @Test("the PIN unseals the secret; a wrong PIN is refused and may be corrected")
    func pin() throws {
        let tpm = try EmulatedTPM()
        let object = try Self.sealed(by: tpm)
        #expect(object.requiresPIN && !object.isBoundToPCR7)
        var person = TestPerson("1111", "2580")
        #expect(try Self.unsealed(object, by: tpm, &person) == Self.secret)
        #expect(
            person.questions == [
                .init(isRepeated: false, left: 3), .init(isRepeated: true, left: 2),
            ])
    }

    @Test("a secret without a PIN is unsealed without a prompt, even during a lock-out")
    func noPIN() throws {
        let tpm = try EmulatedTPM()
        let (locked, open) = (try Self.sealed(by: tpm), try Self.sealed(by: tpm, pin: nil))
        #expect(!open.requiresPIN)
        var guesser = TestPerson("1", "2", "3")
        #expect(throws: TokenFailure.wrongPIN(left: 0)) {
            try Self.unsealed(locked, by: tpm, &guesser)
        }
        var nobody = TestPerson()
        #expect(try Self.unsealed(open, by: tpm, &nobody) == Self.secret)
        #expect(nobody.questions.isEmpty)
    }

    @Test("after too many wrong PINs, the TPM refuses even the right one, and reports for how long")
    func lockOut() throws {
        let tpm = try EmulatedTPM()
        let object = try Self.sealed(by: tpm)
        var guesser = TestPerson("1", "2", "3")
        #expect(throws: TokenFailure.wrongPIN(left: 0)) {
            try Self.unsealed(object, by: tpm, &guesser)
        }
        #expect(guesser.questions.count == 3)
        var owner = TestPerson("2580")
        #expect(throws: TokenFailure.lockedOut(seconds: 1000)) {
            try Self.unsealed(object, by: tpm, &owner)
        }
        // The owner is not asked for a PIN that cannot work.
        #expect(owner.questions.isEmpty)
    }

    @Test("cancelling at the prompt does not count as an attempt")
    func cancelled() throws {
        let tpm = try EmulatedTPM()
        let object = try Self.sealed(by: tpm)
        var nobody = TestPerson()
        #expect(throws: TokenFailure.noPIN) {
            try Self.unsealed(object, by: tpm, &nobody)
        }
        var owner = TestPerson("2580")
        #expect(try Self.unsealed(object, by: tpm, &owner) == Self.secret)
        #expect(owner.questions == [.init(isRepeated: false, left: 3)])
    }

    @Test("a different TPM does not unseal the secret, and does not receive the PIN")
    func otherTPM() throws {
        let object = try Self.sealed(by: EmulatedTPM())
        var owner = TestPerson("2580")
        #expect(throws: TokenFailure.otherDevice) {
            try Self.unsealed(object, by: EmulatedTPM(), &owner)
        }
        #expect(owner.questions.isEmpty)
    }

    @Test(
        "a secret bound to PCR 7 cannot be unsealed after PCR 7 changes, and no PIN is asked for",
        arguments: [true, false])
    func changedPCR7(hasPIN: Bool) throws {
        let tpm = try EmulatedTPM()
        let object = try Self.sealed(by: tpm, pin: hasPIN ? "2580" : nil, pcr7: true)
        var owner = TestPerson("9999", "2580")
        #expect(try Self.unsealed(object, by: tpm, &owner) == Self.secret)
        #expect(owner.questions.count == (hasPIN ? 2 : 0))
        try tpm.extendPCR7()
        var late = TestPerson("2580")
        #expect(throws: TokenFailure.changedPCR7) {
            try Self.unsealed(object, by: tpm, &late)
        }
        #expect(late.questions.isEmpty)
    }

    @Test("a secret that is not bound to PCR 7 can still be unsealed after PCR 7 changes")
    func unboundPCR7() throws {
        let tpm = try EmulatedTPM()
        let object = try Self.sealed(by: tpm)
        try tpm.extendPCR7()
        var owner = TestPerson("2580")
        #expect(try Self.unsealed(object, by: tpm, &owner) == Self.secret)
    }

    @Test("a changed public or private area is refused without asking for the PIN")
    func tampered() throws {
        let tpm = try EmulatedTPM()
        let object = try Self.sealed(by: tpm)
        for part in [object.publicArea, object.privateArea] {
            let isPublic = part == object.publicArea
            for position in stride(from: 0, to: part.count, by: isPublic ? 3 : 11) {
                var changed = part
                changed[position] ^= 0x10
                try expectRefusal(
                    isPublic ? changed : object.publicArea, isPublic ? object.privateArea : changed,
                    by: tpm, "byte \(position)")
            }
            let cut = Array(part.dropLast())
            try expectRefusal(
                isPublic ? cut : object.publicArea, isPublic ? object.privateArea : cut, by: tpm,
                "cut")
        }
        var owner = TestPerson("2580")
        #expect(try Self.unsealed(object, by: tpm, &owner) == Self.secret)
    }

    private func expectRefusal(
        _ publicArea: [UInt8], _ privateArea: [UInt8], by tpm: EmulatedTPM, _ what: Comment
    ) throws {
        let object = try #require(
            TPMObject(
                publicArea: publicArea, privateArea: privateArea, requiresPIN: true,
                isBoundToPCR7: false))
        var person = TestPerson("2580")
        let error = #expect(throws: TokenFailure.self, what) {
            try Self.unsealed(object, by: tpm, &person)
        }
        #expect(person.questions.isEmpty, what)
        switch error {
        case .otherDevice?, .badRequest?: break
        default: Issue.record("\(what): \(String(describing: error))")
        }
    }

    @Test(
        "a hostile TPM never yields a different secret and never crashes the helper",
        arguments: [
            HostileTPM.Fault.changed(fromEnd: 0), .changed(fromEnd: 40), .truncated, .noise, .ended,
        ])
    func hostile(fault: HostileTPM.Fault) throws {
        let tpm = try EmulatedTPM()
        let object = try Self.sealed(by: tpm, pcr7: true)
        let honest = try HostileTPM(tpm)
        #expect(try Self.unsealed(object, at: honest.address) == Self.secret)
        let count = honest.commandCount
        #expect(count > 8)
        var refused = 0
        for position in 1...count {
            let hostile = try HostileTPM(tpm, fault, at: position)
            do {
                #expect(try Self.unsealed(object, at: hostile.address) == Self.secret)
            } catch let failure as TokenFailure {
                refused += 1
                guard failure.isReportedByHelper else {
                    Issue.record("response \(position): \(failure)")
                    continue
                }
            }
        }
        #expect(refused > count / 3)
    }

    private static func unsealed(_ object: TPMObject, at text: String) throws -> String? {
        var owner = TestPerson("2580", "2580", "2580")
        let address = try #require(TPMAddress(text))
        return try helper().carryOut(.unseal(object, in: address), with: &owner).secretText
    }

    @Test("a TPM that stops answering is abandoned at the deadline", arguments: [1, 3, 6])
    func silent(position: Int) throws {
        let tpm = try EmulatedTPM()
        let object = try Self.sealed(by: tpm)
        let hostile = try HostileTPM(tpm, .silent, at: position)
        let helper = try TokenHelper(
            path: BuiltProgram.path("watchword-token"), timeout: .milliseconds(700))
        var owner = TestPerson("2580")
        let address = try #require(TPMAddress(hostile.address))
        #expect(throws: TokenFailure.timedOut) {
            try helper.carryOut(.unseal(object, in: address), with: &owner)
        }
    }

    @Test("a TPM that is missing is reported")
    func missing() throws {
        var nobody = TestPerson()
        let tpm = try EmulatedTPM()
        let object = try Self.sealed(by: tpm)
        for text in ["device:/nonexistent", "device:/dev/null/x", "swtpm:host=127.0.0.1,port=1"] {
            let address = try #require(TPMAddress(text))
            #expect(throws: TokenFailure.noDevice, "\(text)") {
                try Self.helper().carryOut(.unseal(object, in: address), with: &nobody)
            }
        }
    }

    @Test(
        "an address that names a library, or has any other unknown form, is refused",
        arguments: [
            "", "device", "libx.so:y", "cmd:reboot", "/tmp/x", "device:x", "swtpm:path=a b",
        ])
    func addresses(text: String) { #expect(TPMAddress(text) == nil) }
}
