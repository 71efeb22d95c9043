import Courier
import DeviceLogin
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography

/// A device with its own vault, enrolled or not.
final class Device {
    let folder: TemporaryFolder
    let path: String
    static let now: Int64 = 1_795_000_000
    static let passphrase = SecretBytes(text: "correct horse")
    static let ticket = SecretBytes(text: "wwt_ticket")
    static let server = ServerAddress("https://login.example")
    static let lostConnection = DeviceLoginError.helper(.connectionLost, at: server)

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("vault")
        try Vault.create(
            at: path, passphrase: Device.passphrase, cost: .lowest,
            recoveryKey: nil, now: Device.now)
    }

    /// Whether the previous generation of the vault still exists.
    func keepsPrevious() throws -> Bool {
        try names(in: folder.file(".watchword/by-name/vault")).contains("previous")
    }

    func unlock() throws -> UnlockedVault {
        try Vault.unlock(at: path, with: .passphrase(Device.passphrase))
    }

    private func enrolment(_ ticket: SecretBytes, _ account: String) throws -> Enrolment {
        Enrolment(
            ticket, at: TrustedServer(try #require(Device.server)),
            deviceName: "attic", name: EntryName(issuer: "Mill", account: account),
            access: AccessControlChange(presence: nil, onFailure: nil))
    }

    /// Redeems a ticket for the account.
    @discardableResult
    func enrol(
        _ server: inout TestServer, ticket: SecretBytes = ticket, account: String = "alice",
        confirmed: Set<RecordID> = []
    ) throws -> EnrolledSecret {
        let vault = try unlock()
        let turn = try vault.takeLoginLock()
        return try enrolment(ticket, account).redeem(
            in: vault, turn: turn, over: &server, now: Device.now, confirmed: confirmed)
    }

    /// Signs in as one run of the program does, from unlocking the vault to receiving the ticket.
    func signIn(_ server: inout TestServer, vault: UnlockedVault? = nil) throws -> String {
        let vault = try vault ?? unlock()
        let turn = try vault.takeLoginLock()
        let id = try #require(vault.entries.first).id
        let content = try vault.open(id, proof: vault.proofOfUnlocking(for: id))
        var login = try EnrolledLogin(content, of: id, in: vault)
        return try login.signIn(turn: turn, over: &server, now: Device.now).text.text
    }

    /// The enrolled secret that the vault currently holds.
    func state() throws -> EnrolledSecret {
        let vault = try unlock()
        let id = try #require(vault.entries.first).id
        return try EnrolledSecret(vault.open(id, proof: vault.proofOfUnlocking(for: id)))
    }

    func tombstone() throws -> Tombstone.Reason? {
        try #require(try unlock().entries.first).tombstone?.reason
    }
}
