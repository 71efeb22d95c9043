@testable import SecretVault
import WatchwordCryptography
import WatchwordSystem

/// Parses the bytes as a vault file, unchanged and with a valid checksum.
func fuzzVault(_ bytes: [UInt8]) {
    take(bytes)
    // The last line is replaced, so that the parser behind the checksum is reached.
    let end = bytes.dropLast().lastIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
    take(bytes[..<end] + VaultEnvelope.lastLine(for: bytes[..<end]))
}

private func take(_ bytes: [UInt8]) {
    do {
        let document = try VaultDocument(parsing: bytes)
        precondition(document.records.count == document.bodies.count, "every record has a body")
        precondition(!document.slots.isEmpty, "a vault has at least one slot")
    } catch {
        // Refusing the input is correct.
    }
}

/// Parses the bytes as a slot of failed attempts, unchanged and with a valid checksum; an accepted
/// slot must be written back byte for byte.
func fuzzAttempts(_ bytes: [UInt8]) {
    takeAttempts(bytes)
    let end = bytes.dropLast().lastIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
    takeAttempts(bytes[..<end] + VaultEnvelope.lastLine(for: bytes[..<end]))
}

private func takeAttempts(_ bytes: [UInt8]) {
    do {
        let (attempts, sequence) = try Attempts.read(bytes)
        let again = attempts.text(sequence: sequence)
        precondition(bytes.starts(with: again), "a slot has only one form")
        let now = ClockReading(wall: 1, boot: nil, uptime: 1)
        for subject in [Attempts.Subject.vault]
            + attempts.records.map({ .record($0, revision: $1.revision) })
        {
            guard case .wait(let seconds, _) = attempts.admission(of: subject, at: now) else {
                continue
            }
            precondition(seconds <= 3600, "the longest wait is an hour")
        }
    } catch {
        // Refusing the input is correct.
    }
}

/// Parses the bytes as the content of a record; accepted content must be written back byte
/// for byte.
func fuzzRecord(_ bytes: [UInt8]) {
    let sealed = SecretBytes(copying: bytes.span)
    for kind in EntryKind.allCases {
        do {
            let payload = try RecordPayload(reading: sealed, kind: kind)
            let again = try payload.sealedForm()
            precondition(again == sealed, "a record's content has only one form")
        } catch {
            // Refusing the input is correct.
        }
    }
}

/// Parses the bytes as an entry of the sealed list, as a history and as a whole list, of both
/// formats; what is accepted in the current format must be written back byte for byte.
func fuzzManifest(_ bytes: [UInt8]) {
    take { fields throws(FieldReader.Unreadable) in
        let entry = try ManifestEntry(reading: &fields, in: bytes.span, formerSave: nil)
        requireOneForm(entry.write, of: bytes[..<fields.position], room: entry.room)
    }
    take { fields throws(FieldReader.Unreadable) in
        let history = try VaultHistory(reading: &fields, in: bytes.span)
        requireOneForm(history.write, of: bytes[..<fields.position], room: history.room)
    }
    let save = VaultHistory.Save(generation: 1, id: SaveID([UInt8](repeating: 1, count: 8).span))
    take { fields throws(FieldReader.Unreadable) in
        _ = try ManifestEntry(reading: &fields, in: bytes.span, formerSave: save.id)
    }
    for former in [nil, save] {
        take { _ throws(FieldReader.Unreadable) in
            _ = try Manifest(reading: bytes.span, former: former)
        }
    }
}

private func take(_ read: (inout FieldReader) throws(FieldReader.Unreadable) -> Void) {
    var fields = FieldReader(.bigEndian)
    do { try read(&fields) } catch {
        // Refusing the input is correct.
    }
}

private func requireOneForm(
    _ write: (inout OutputSpan<UInt8>) -> Void, of read: ArraySlice<UInt8>, room: Int
) {
    let again = SecretBytes(capacity: room) { write(&$0) }
    precondition(again == SecretBytes(copying: Array(read).span), "there is only one form")
}

/// Parses the bytes as a typed recovery key; the text of an accepted key must parse to the same
/// key.
func fuzzRecoveryKey(_ bytes: [UInt8]) {
    do {
        let key = try RecoveryKey(parsing: SecretBytes(copying: bytes.span))
        let text = key.text()
        let again = try RecoveryKey(parsing: text).text()
        precondition(again == text, "a recovery key round-trips")
    } catch {
        // Refusing the input is correct.
    }
}
