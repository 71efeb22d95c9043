package import Devices
package import SecretVault
internal import WatchwordSystem

// The keys of this device, to which entries are bound. Operations that may use a TPM run before
// other processes have to wait for the vault.
extension RequestContext {
    /// Loads the device key of an entry, so that an entry that cannot be opened is refused before a
    /// person is asked.
    func loadKey(of entry: EntrySummary) throws {
        guard let binding = entry.binding else { return }
        guard binding.isHere else { throw VaultError.boundElsewhere }
        do throws(VaultError) {
            try deviceKeys.load(binding.device, for: vault, through: tokens(at:))
        } catch {
            // Locking the vault ends the wait for a TPM.
            try expectHeld()
            throw error
        }
    }

    /// Loads the keys of these entries, or of all entries; entries whose key does not load stay
    /// closed.
    func loadKeys(of entries: [EntrySummary]? = nil) throws {
        deviceKeys.loadKeys(of: vault, for: entries, through: tokens(at:))
        try expectHeld()
    }

    /// The key to which an entry is to be bound; it is created if there is none.
    func deviceKey(for choice: BindingChoice) throws -> DeviceID {
        let key = try deviceKeys.key(for: choice, in: vault, through: tokens(at:))
        try expectHeld()
        return key
    }
}

extension DeviceKeyStore {
    /// Loads the keys of this device for these entries, or for all entries.
    package func loadKeys(
        of vault: UnlockedVault, for entries: [EntrySummary]? = nil, through tokens: TokenAccess
    ) {
        for device in (entries ?? vault.entries).devicesHere {
            // The vault records the reason for a failure.
            _ = ifPossible(try load(device, for: vault, through: tokens))
        }
    }

    /// The key to which an entry is to be bound; if no binding was chosen, a key with the strongest
    /// binding that works here.
    ///
    /// - Parameter others: keys that must not be used.
    func key(
        for choice: BindingChoice, in vault: UnlockedVault, besides others: Set<DeviceID> = [],
        through tokens: TokenAccess
    ) throws(VaultError) -> DeviceID {
        func key(
            _ binding: DeviceBinding, besides others: Set<DeviceID>
        ) throws(VaultError) -> DeviceID {
            guard let known = newestKey(binding, for: vault, in: choice.tpm, besides: others)
            else {
                return try make(
                    binding, name: choice.deviceName, for: vault, tpm: choice.tpm, through: tokens)
            }
            do throws(VaultError) {
                try load(known, for: vault, through: tokens)
                return known
            } catch .deviceKey(.token(.otherDevice)) {
                // The TPM of the known key was cleared.
                return try key(binding, besides: others.union([known]))
            }
        }
        let bindings = choice.binding.map { [$0] } ?? bindings
        for binding in bindings.dropLast() {
            do throws(VaultError) { return try key(binding, besides: others) } catch {
                guard case .deviceKey(.token(let failure)) = error,
                    [.noDevice, .noPermission, .helper(.notFound)].contains(failure)
                else { throw error }
            }
        }
        return try key(bindings[bindings.count - 1], besides: others)
    }
}

// Moving a vault together with its device keys. After the move, the keys are replaced, because they
// were less protected at the former place.
extension DeviceKeyStore {
    /// The keys that open the entries of a vault that is to be moved.
    ///
    /// - Throws: ``VaultError/deviceKey(_:)`` if one of them cannot be loaded.
    package func keysToMove(
        of vault: UnlockedVault, through tokens: TokenAccess
    ) throws(VaultError) -> [DeviceKey] {
        vault.openDevices(self)
        for device in vault.entries.devicesHere {
            try load(device, for: vault, through: tokens)
        }
        return try vault.deviceKeys()
    }

    /// Binds the entries of a vault that has arrived here to a new key, and erases the keys that
    /// came with it.
    ///
    /// If this was done before, only entries whose key is in `carried` change.
    ///
    /// - Parameters:
    ///   - carried: the keys to replace and to erase, unless an entry that has vanished may need
    ///     them.
    ///   - tpm: the TPM in which to create a key.
    /// - Returns: the binding of the entries; `nil` if none is bound to this device.
    package func replaceKeys(
        of vault: UnlockedVault, carried: Set<DeviceID>, in tpm: TPMAddress = .standard,
        through tokens: TokenAccess
    ) throws(VaultError) -> DeviceBinding? {
        let keys = try keysToMove(of: vault, through: tokens)
        // Copies of the carried keys may exist elsewhere, even if an earlier move was reversed and
        // the keys are kept here as before.
        let old = carried.intersection(vault.entries.devicesHere)
        if let first = keys.first(where: { old.contains($0.id) }) {
            let choice = BindingChoice(nil, deviceName: first.name, tpm: tpm)
            let new = try key(for: choice, in: vault, besides: carried, through: tokens)
            try vault.update { changes throws(VaultError) in
                try changes.rebind(from: old, to: new)
            }
        }
        // An entry that has vanished may be restored from another copy.
        let needed = vault.entries.contains(where: \.hasVanished) ? carried : []
        try erase(carried.subtracting(vault.entries.devicesHere).subtracting(needed), for: vault)
        return vault.entries.first(where: \.isBoundHere)?.binding?.binding
    }
}

extension EntrySummary {
    /// Whether the entry is bound to a key of this device.
    package var isBoundHere: Bool { binding?.isHere == true }
}

extension [EntrySummary] {
    /// The keys of this device to which these entries are bound.
    fileprivate var devicesHere: Set<DeviceID> {
        Set(filter(\.isBoundHere).compactMap(\.binding?.device))
    }
}
