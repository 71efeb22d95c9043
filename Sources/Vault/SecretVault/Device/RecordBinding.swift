package import Devices
internal import WatchwordCryptography
internal import WatchwordSystem

/// The device that a record is bound to, as the manifest lists it.
struct RecordBinding: Hashable {
    let device: DeviceID
    let binding: DeviceBinding
    /// The device's name, for display only.
    let name: String
    /// The state of the secret, which a merge compares: see ``RecordPayload/state(of:)``.
    let state: UInt64

    /// The maximum encoded size in bytes.
    static let room = DeviceID.count + 1 + 4 + DeviceKey.longestName + 8
}

extension RecordBinding {
    func write(to output: inout OutputSpan<UInt8>) {
        output.append(copying: device.bytes.span)
        output.append(binding.number)
        output.append(string: Array(name.utf8).span)
        output.append(state, bytes: 8)
    }

    init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        device = DeviceID(bytes.extracting(try fields.take(DeviceID.count, of: bytes)))
        let found = DeviceBinding(number: try fields.byte(bytes))
        name = try fields.text(bytes, limit: DeviceKey.longestName)
        guard let found, DeviceKey.isName(name) else { throw FieldReader.Unreadable() }
        binding = found
        state = try fields.number(bytes, width: 8)
    }

    /// The associated data of a record's inner box.
    ///
    /// None of it can be changed without the device's key. The revision is not part of it.
    func associatedData(
        of line: RecordLine, _ traits: EntryTraits, in vaultID: [UInt8]
    ) -> [UInt8] {
        var text = VaultText()
        text.write(VaultLines.vault(vaultID))
        text.write("bound ")
        text.writeBase64(line.id.bytes)
        text.write(" ")
        text.writeBase64(device.bytes)
        text.write(" \(binding.rawValue) ")
        text.writeBase64([UInt8](capacity: EntryTraits.room) { traits.write(to: &$0) })
        text.write(" ")
        line.accessControl.write(to: &text)
        text.write(" \(state)")
        text.endLine()
        return text.bytes
    }
}

/// The secret of a record in its inner box, which is kept without being opened.
struct ClosedSecret {
    let box: SecretBytes
    let binding: RecordBinding
    let fingerprint: [UInt8]
    let associatedData: [UInt8]

    /// Takes the inner box from the content of the outer one; `nil` if its size is not that of a
    /// box.
    init?(
        _ content: SecretBytes, _ binding: RecordBinding, fingerprint: [UInt8],
        associatedData: [UInt8]
    ) {
        let size = content.count - SealingKey.overhead
        guard size > 0, size.isMultiple(of: RecordPayload.step) else { return nil }
        box = content
        self.binding = binding
        self.fingerprint = fingerprint
        self.associatedData = associatedData
    }

    /// Seals `payload` as the record of `line` under the key of a device.
    init(
        sealing payload: RecordPayload, as line: RecordLine, _ traits: EntryTraits,
        under key: DeviceKey, in vaultID: [UInt8]
    ) throws(VaultError) {
        binding = RecordBinding(
            device: key.id, binding: key.binding, name: key.name,
            state: payload.state(of: traits.kind))
        fingerprint = key.fingerprint(of: payload, in: vaultID)
        associatedData = binding.associatedData(of: line, traits, in: vaultID)
        let sealed = try SealedBox.seal(
            payload.sealedForm(), under: key.recordKey(line.id, in: vaultID),
            associatedData: associatedData)
        box = SecretBytes(copying: sealed.span)
    }

    /// Opens the inner box of the record `id`.
    ///
    /// - Throws: ``VaultError/damaged(_:)``, also if the content does not have the state that
    ///   the manifest lists.
    func opened(
        of id: RecordID, _ kind: EntryKind, with key: DeviceKey, in vaultID: [UInt8]
    ) throws(VaultError) -> RecordPayload {
        let sealed = box.withBytes { [UInt8](copying: $0) }
        let plaintext = try SealedBox.open(
            sealed, under: key.recordKey(id, in: vaultID), associatedData: associatedData,
            or: .damaged(.content(id)))
        let payload = try replacingErrors(
            of: RecordPayload(reading: plaintext, kind: kind),
            with: VaultError.damaged(.content(id)))
        guard payload.state(of: kind) == binding.state else { throw .damaged(.content(id)) }
        return payload
    }
}

/// The device that an entry is bound to, for display in a list.
public struct EntryBinding: Hashable, Sendable {
    /// The ID of the key to which the entry is bound.
    public let device: DeviceID
    /// Where that key is kept.
    public let binding: DeviceBinding
    /// The device's name, for display only.
    public let name: String
    /// The counter of a counter-based password, or how far an enrolled secret has advanced.
    public let state: UInt64
    /// Whether the entry is bound to this device.
    public let isHere: Bool
}

extension EntrySummary {
    /// Whether the entry can be opened here: it is not bound, or is bound to this device.
    package var isHere: Bool { binding?.isHere ?? true }
}

/// A request to bind a new or an existing entry to this device.
package struct BindingChoice: Sendable {
    /// `nil` for the strongest binding that works here.
    package let binding: DeviceBinding?
    package let deviceName: String
    package let tpm: TPMAddress

    package init(_ binding: DeviceBinding?, deviceName: String, tpm: TPMAddress) {
        self.binding = binding
        self.deviceName = deviceName
        self.tpm = tpm
    }
}
