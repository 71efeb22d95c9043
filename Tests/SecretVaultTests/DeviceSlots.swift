import Devices
import WatchwordCryptography

@testable import SecretVault

/// Slots of simulated devices with secrets that the tests choose.
enum DeviceSlots {
    static let secret = SecretBytes(copying: [UInt8](repeating: 0x5e, count: 32).span)

    static func object(pin: Bool = true, pcr7: Bool = false) -> TPMObject {
        guard
            let object = TPMObject(
                publicArea: [0, 2, 1, 2], privateArea: [0, 3, 7, 8, 9], requiresPIN: pin,
                isBoundToPCR7: pcr7)
        else { preconditionFailure("the object is valid") }
        return object
    }

    static func credential(pin: Bool = true) -> FIDOCredential {
        guard
            let credential = FIDOCredential(
                id: [4, 5, 6], salt: [UInt8](repeating: 3, count: 32),
                relyingParty: "watchword.vault", requiresPIN: pin)
        else { preconditionFailure("the credential is valid") }
        return credential
    }

    /// A vault with slots of each kind and with each property.
    static func vault() throws -> TestVault {
        let vault = try TestVault(recoveryKey: true)
        try vault.unlock().update { changes throws(VaultError) in
            try changes.addTPM(object(), sealing: secret, now: 10)
            try changes.addTPM(object(pin: false, pcr7: true), sealing: secret, now: 11)
            try changes.addAuthenticator(credential(), secret: secret, now: 12)
            try changes.addAuthenticator(credential(pin: false), secret: secret, now: 13)
            try changes.add(
                .plainSecret(
                    issuer: "one", account: "entry", value: SecretBytes(copying: [7].span)),
                now: 14)
        }
        return vault
    }
}

extension TestVault {
    /// Opens the vault with a device's secret.
    func unlock(
        by slot: SlotSummary, secret: SecretBytes = DeviceSlots.secret
    ) throws(VaultError) -> UnlockedVault {
        try Vault.unlock(at: path, with: .device(secret, of: slot))
    }
}
