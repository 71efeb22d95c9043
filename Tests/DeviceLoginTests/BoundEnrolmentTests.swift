import Courier
import Devices
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography

@testable import DeviceLogin

/// Enrolled secrets that are bound to this device.
struct BoundEnrolmentTests {
    /// A server, which may be older than the field `custody`.
    private struct Server: RequestSender {
        var device = TestServer()
        var isOlder = false
        /// The custody and the idempotency key of each enrolment that arrived.
        var enrolments: [(custody: SecretCustody?, key: String)] = []

        mutating func send(_ request: HelperRequest) throws(HTTPHelperFailure) -> HelperResponse {
            guard case .enrolment(_, _, let custody) = request.operation else {
                return try device.send(request)
            }
            enrolments.append((custody, request.idempotencyKey))
            guard isOlder, custody != nil else { return try device.send(request) }
            return .problem(
                HelperResponse.Problem(
                    status: 400, type: PlainText(showing: "urn:watchword:problem:unknown-field"),
                    retryAfter: 0))
        }
    }

    /// A handler for a key in a file, which needs no TPM.
    private struct NoTPM: TokenRequestHandler {
        func carryOut(
            _ request: TokenRequest, with person: inout some TokenHelper.Person
        ) throws(TokenFailure) -> TokenResponse { throw .noDevice }
    }

    private let device: Device
    private let keys: DeviceKeyStore

    init() throws {
        device = try Device()
        keys = DeviceKeyStore(folder: device.folder.file("keys"), bindings: [.file])
    }

    /// The vault on this device, and the key of the device.
    private func open() throws -> (vault: UnlockedVault, key: DeviceID) {
        let vault = try device.unlock()
        vault.openDevices(keys)
        func tokens(at address: TPMAddress) -> any TokenRequestHandler { NoTPM() }
        guard let key = keys.newestKey(.file, for: vault) else {
            let key = try keys.make(
                .file, name: "attic", for: vault, tpm: .standard, through: tokens(at:))
            return (vault, key)
        }
        try keys.load(key, for: vault, through: tokens(at:))
        return (vault, key)
    }

    private func enrol(_ server: inout Server, isBound: Bool = true) throws -> UnlockedVault {
        let (vault, key) = try open()
        var enrolment = Enrolment(
            Device.ticket, at: TrustedServer(try #require(ServerAddress("https://login.example"))),
            deviceName: "attic", name: EntryName(issuer: "Mill", account: "alice"),
            access: AccessControlChange(presence: nil, onFailure: nil))
        enrolment.device = isBound ? key : nil
        let turn = try vault.takeLoginLock()
        try enrolment.redeem(in: vault, turn: turn, over: &server, now: Device.now)
        return vault
    }

    @Test("an enrolled secret is bound before it is stored, and the server learns the custody")
    func custody() throws {
        var server = Server()
        let vault = try enrol(&server)
        #expect(server.enrolments.map(\.custody) == [.file])
        #expect(vault.entries.first?.binding?.binding == .file)
        // Without the key of this device, the vault does not sign in.
        #expect(throws: VaultError.boundElsewhere) { try device.signIn(&server.device) }
        #expect(server.device.arrived.isEmpty)
        for number in 1...2 {
            #expect(
                try device.signIn(&server.device, vault: open().vault) == "wwl_\(number)")
        }
        #expect(vault.entries.count == 1)
    }

    @Test("an unbound enrolment reports no custody, as before")
    func unbound() throws {
        var server = Server()
        let vault = try enrol(&server, isBound: false)
        #expect(server.enrolments.map(\.custody) == [nil])
        #expect(vault.entries.first?.binding == nil)
    }

    @Test("an older server gets the same request again, once, without the custody")
    func olderServer() throws {
        var server = Server()
        server.isOlder = true
        let vault = try enrol(&server)
        #expect(server.enrolments.map(\.custody) == [.file, nil])
        #expect(Set(server.enrolments.map(\.key)).count == 1)
        #expect(vault.entries.first?.binding?.binding == .file)
    }

    @Test("an enrolment replaces one whose key does not load, but not that of a different device")
    func replaced() throws {
        var server = Server()
        _ = try enrol(&server)
        server.device.credential = "cr_other"
        let enrolment = Enrolment(
            SecretBytes(text: "wwt_other"),
            at: TrustedServer(try #require(ServerAddress("https://login.example"))),
            deviceName: "cellar", name: EntryName(issuer: "Mill", account: "alice"),
            access: AccessControlChange(presence: nil, onFailure: nil))
        func replace(on keys: DeviceKeyStore) throws -> UnlockedVault {
            let vault = try device.unlock()
            vault.openDevices(keys)
            let turn = try vault.takeLoginLock()
            try enrolment.redeem(in: vault, turn: turn, over: &server, now: Device.now)
            return vault
        }
        let other = DeviceKeyStore(folder: device.folder.file("other"), bindings: [.file])
        #expect(throws: DeviceLoginError.vault(.boundElsewhere)) { try replace(on: other) }
        // A folder that cannot be read may belong to a different device.
        let loop = device.folder.file("loop")
        try linkSymbolically(loop, to: loop)
        let unreadable = DeviceKeyStore(folder: loop, bindings: [.file])
        #expect(throws: DeviceLoginError.vault(.deviceKey(.missing))) {
            try replace(on: unreadable)
        }
        #expect(server.enrolments.count == 1)
        let vault = try replace(on: keys)
        #expect(vault.entries.count == 1 && vault.entries[0].binding == nil)
    }
}
