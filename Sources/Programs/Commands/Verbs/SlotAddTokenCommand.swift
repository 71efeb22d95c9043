import CommandLineInterface
import Devices
import SecretVault
import WatchwordCryptography
import WatchwordSystem

/// `slot add tpm2` and `slot add fido2`.
enum SlotAddTokenCommand {
    static func addTPM(_ session: Session) throws {
        let address = try session.tpmAddress()
        let vault = try session.unlockToChangeSlots()
        let isPINless = session.arguments.has(.noPIN)
        if isPINless {
            session.printer.warn(
                "without a PIN, anyone who can run programs on this computer opens the vault; the slot "
                    + "only protects copies of the file")
        }
        let pin = isPINless ? nil : try session.newPIN()
        let secret = Randomness.secret(count: TokenRequest.secretCount)
        let request = TokenRequest.seal(
            secret, pin: pin, isBoundToPCR7: session.arguments.has(.pcr7), in: address)
        guard case .sealed(let object) = try session.carryOut(request, on: .tpm) else {
            throw CommandFailure.token(.badAnswer, .tpm)
        }
        let number = try session.change(vault) { changes throws(VaultError) in
            try changes.addTPM(object, sealing: secret, now: SystemClock.unixTime())
        }
        report(number, of: vault, session)
    }

    static func addAuthenticator(_ session: Session) throws {
        let vault = try session.unlockToChangeSlots()
        let salt = Randomness.bytes(count: FIDOCredential.saltCount)
        let isPINless = session.arguments.has(.noPIN)
        if isPINless {
            session.printer.warn(
                "without a PIN, anyone who has the authenticator and the vault opens it with a touch"
            )
        }
        let request = TokenRequest.makeCredential(
            device: session.arguments[.device], salt: salt, requiresPIN: !isPINless)
        guard
            case .made(let credential, let secret) = try session.carryOut(
                request, on: .authenticator)
        else { throw CommandFailure.token(.badAnswer, .authenticator) }
        let number = try session.change(vault) { changes throws(VaultError) in
            try changes.addAuthenticator(
                credential, secret: secret, now: SystemClock.unixTime())
        }
        report(number, of: vault, session)
    }

    private static func report(_ number: Int, of vault: UnlockedVault, _ session: Session) {
        session.printer.note("Added slot \(number).")
        if let advice = Messages.advice(about: vault.slots, session.program) {
            session.printer.note(advice)
        }
    }
}
