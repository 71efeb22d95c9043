import WatchwordCryptography

@testable import SecretVault

/// A slot that a later version may create; this version can use only its public key.
struct FutureSlot {
    let secret: SlotSecret
    let number: Int
    private let rest = Array("pcr=7 c2VhbGVk".utf8)

    init(number: Int) throws(VaultError) {
        self.number = number
        secret = try SlotSecret.make()
    }

    private var head: SlotHead {
        SlotHead(
            number: number, created: 5, method: .other(Array("tpm2".utf8)),
            publicKey: secret.pair.publicKey)
    }

    /// The slot, with this vault key sealed to it.
    func sealed(_ key: VaultKey) throws(VaultError) -> TrustedSlot {
        try TrustedSlot(
            slot: Slot(head: head, secret: rest, vaultKey: []),
            authenticationKey: secret.authenticationKey
        ).holding(key)
    }

    /// Adds the slot to a vault without changing the generation.
    func add(to vault: TestVault) throws {
        let document = try VaultDocument(parsing: vault.bytes())
        let key = try document.opened(with: .passphrase(TestVault.passphrase), ceiling: 10).key
        var state = try VaultState(verifying: document, with: key)
        state.slots.append(try sealed(key))
        try vault.put(try state.written(with: key))
    }

    /// The vault key of `document`, as the later version opens it.
    func key(of document: VaultDocument) throws(VaultError) -> VaultKey {
        guard let slot = document.slots.first(where: { $0.number == number }) else {
            throw .noSuchSlot
        }
        return try SealedVaultKey.open(
            slot.vaultKey, with: secret, vaultID: document.vaultID, lead: slot.lead,
            or: .damaged(.slot(number)))
    }
}
