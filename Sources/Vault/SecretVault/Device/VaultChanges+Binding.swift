internal import WatchwordSystem

extension VaultChanges {
    /// Binds an entry to this device, and erases the previous generation, which still contains the
    /// unbound entry.
    ///
    /// - Parameter device: the device's key, which must be loaded.
    /// - Throws: ``VaultError/noSuchEntry``, ``VaultError/wiped``, ``VaultError/boundElsewhere``,
    ///   ``VaultError/deviceKey(_:)``.
    package mutating func bind(
        _ id: RecordID, to device: DeviceID, now: Int64 = SystemClock.unixTime()
    ) throws(VaultError) {
        let old = state.records[try state.index(of: id)]
        try reseal(old, as: old.line.sealed(in: state.generation), to: device, now: now)
        erasesPrevious = true
    }

    /// Ends the binding of an entry to this device.
    ///
    /// - Throws: what ``bind(_:to:now:)`` throws.
    package mutating func unbind(
        _ id: RecordID, now: Int64 = SystemClock.unixTime()
    ) throws(VaultError) {
        let old = state.records[try state.index(of: id)]
        try reseal(old, as: old.line.sealed(in: state.generation), to: nil, now: now)
    }

    /// After a move, binds the entries that are bound to certain keys of this device to a different
    /// key.
    ///
    /// Failures still count, because the revisions do not change. The previous generation is kept,
    /// too: it may hold the only copy of an entry that has vanished, and such an entry must not
    /// prevent the move.
    ///
    /// - Returns: the number of these entries.
    @discardableResult package mutating func rebind(
        from former: Set<DeviceID>, to device: DeviceID, now: Int64 = SystemClock.unixTime()
    ) throws(VaultError) -> Int {
        let bound = state.records.filter { record in
            record.isSealed && record.device.map(former.contains) == true
        }
        for record in bound { try reseal(record, as: record.line, to: device, now: now) }
        return bound.count
    }

    /// Refuses to replace an entry, even one that has vanished, unless this device has its key.
    ///
    /// While the folder of the keys cannot be read, the entry may belong to another device.
    package func requireHome(of id: RecordID) throws(VaultError) {
        let record = state.records[try state.index(of: id)]
        guard record.isSealed || record.isWipedWithoutKey, let device = record.device,
            !key.devices.hasSeen(device)
        else { return }
        throw key.devices.refusal(of: device)
    }

    /// Seals a record again, and records an edit.
    mutating func reseal(
        _ record: VaultState.Record, as line: RecordLine, to device: DeviceID?, now: Int64
    ) throws(VaultError) {
        var properties = record.listed.properties
        properties.edited = edit(at: now)
        try state.replace(
            .sealing(
                record.payload(with: key), as: line, properties, to: device, under: key))
        if device != record.device { invalidateFingerprintIndex() }
        isChanged = true
    }
}
