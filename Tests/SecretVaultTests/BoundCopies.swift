import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

/// A vault on two devices: "home", to which its entries are bound, and "elsewhere".
struct BoundCopies {
    enum Place: CaseIterable {
        case home, elsewhere
        var other: Place { self == .home ? .elsewhere : .home }
    }

    let copies: MergeTests.Copies
    let device: DeviceKey

    /// One entry of each kind: TOTP, HOTP, static secret, enrolled secret.
    var ids: [RecordID] { copies.ids }

    init(bound: Bool = true) throws {
        copies = try MergeTests.Copies()
        device = try testDevice()
        try change(at: .home) { changes throws(VaultError) in
            try changes.advance(copies.ids[3], to: BoundCopies.enrolled(2))
            guard bound else { return }
            for id in copies.ids { try changes.bind(id, to: device.id, now: 10) }
        }
        try copyHome()
    }

    /// Replaces the file elsewhere with the file at home.
    func copyHome() throws { try copies.vault.put(copies.vault.bytes(), as: "copy") }

    static func enrolled(_ state: UInt64) -> EntryContent {
        .enrolledSecret(issuer: "shop", account: "alice", value: MergeModel.form(state))
    }

    static func order(_ first: SecretBytes, _ second: SecretBytes) -> EnrolledOrder {
        let order = MergeModel.order(first, second)
        return order == .same && !(first == second) ? .forked : order
    }

    func path(at place: Place) -> String { place == .home ? copies.vault.path : copies.path }

    /// Opens the file of a place on its own device; with a `key`, opens the file from elsewhere at
    /// home.
    func unlock(at place: Place, with key: DeviceKey? = nil) throws -> UnlockedVault {
        let vault = try Vault.unlock(at: path(at: place), with: .passphrase(TestVault.passphrase))
        if place == .home { try vault.key.devices.attach(device) }
        if let key { try vault.key.devices.attach(key) }
        return vault
    }

    func change(
        at place: Place, with key: DeviceKey? = nil, _ change: MergeTests.Change
    ) throws {
        try unlock(at: place, with: key).change(change)
    }

    /// Merges the file of the other place.
    @discardableResult func merge(
        at place: Place, with key: DeviceKey? = nil, confirmed: Set<RecordID> = []
    ) throws -> MergePlan {
        let open = try unlock(at: place, with: key)
        let other = path(at: place.other)
        let copy: VaultCopy
        if let found = try open.copy(at: other) {
            copy = found
        } else {
            copy = try open.copy(at: other, passphrase: TestVault.passphrase, among: [])
        }
        let plan = try open.planOfMerge(
            with: copy, comparing: Self.order, now: MergeTests.now)
        try open.merge(plan, confirmed: confirmed, comparing: Self.order, now: MergeTests.now)
        return plan
    }

    func record(_ id: RecordID, at place: Place) throws -> VaultState.Record {
        try #require(try unlock(at: place).state.record(id))
    }

    func entry(_ id: RecordID, at place: Place) throws -> EntrySummary {
        try unlock(at: place).entry(id)
    }

    /// The content of an entry in the file of a place, opened with the device's key.
    func facts(_ id: RecordID, at place: Place) throws -> Facts {
        let vault = try unlock(at: place, with: device)
        return Facts(try #require(vault.state.record(id)).content(with: vault.key))
    }

    /// The inner box of an entry in a file.
    func box(_ id: RecordID, at place: Place) throws -> [UInt8] {
        let vault = try unlock(at: place)
        guard
            case .closed(let secret) = try #require(vault.state.record(id)).carried(
                with: vault.key)
        else { throw VaultError.otherKind }
        return secret.box.copied
    }
}

/// A device's key, always the same for the same number.
func testDevice(_ number: UInt8 = 1, name: String = "laptop") throws -> DeviceKey {
    let id = [UInt8](repeating: number, count: 16)
    let bytes = [UInt8](repeating: number, count: 32)
    return try #require(
        DeviceKey(
            id: DeviceID(id.span), name: name, binding: .file,
            secret: SecretBytes(copying: bytes.span)))
}

func replacing(_ id: RecordID, by value: String, at time: Int64) -> MergeTests.Change {
    {
        try $0.replace(
            id, with: .plainSecret(issuer: "Wi-Fi", account: "home", value: secret(value)),
            now: time)
    }
}

func renaming(_ id: RecordID, to name: String, at time: Int64) -> MergeTests.Change {
    { try $0.rename(id, issuer: name, account: "", now: time) }
}
