import Cryptography
@testable import SecretVault

/// Any bytes as a vault's file, as they are and with the checksum that lets them further in.
func fuzzVault(_ bytes: [UInt8]) {
    take(bytes)
    do {
        // What stood as the last line is replaced, so that the parser behind the checksum is reached.
        let end = bytes.dropLast().lastIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
        take(bytes[..<end] + (try VaultEnvelope.lastLine(for: bytes[..<end])))
    } catch {
        preconditionFailure("a digest can't be made")
    }
}

private func take(_ bytes: [UInt8]) {
    do {
        let document = try VaultDocument(parsing: bytes)
        precondition(document.records.count == document.bodies.count, "a record without a body")
        precondition(!document.slots.isEmpty, "a vault that nothing opens")
    } catch {
        // A refusal is an answer.
    }
}

/// Any bytes as a slot of counted failures: refused, or written back byte for byte; with the checksum
/// that lets them further in, too.
func fuzzAttempts(_ bytes: [UInt8]) {
    takeAttempts(bytes)
    do {
        let end = bytes.dropLast().lastIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
        takeAttempts(bytes[..<end] + (try VaultEnvelope.lastLine(for: bytes[..<end])))
    } catch {
        preconditionFailure("a digest can't be made")
    }
}

private func takeAttempts(_ bytes: [UInt8]) {
    do {
        let (attempts, sequence) = try Attempts.read(bytes)
        let again = try attempts.text(sequence: sequence)
        precondition(bytes.starts(with: again), "two forms of one slot")
        let now = ClockReading(wall: 1, boot: nil, uptime: 1)
        for subject in [Attempts.Subject.vault]
            + attempts.records.map({ .record($0, revision: $1.revision) })
        {
            guard case .wait(let seconds, _) = attempts.admission(of: subject, at: now) else {
                continue
            }
            precondition(seconds <= 3600, "a wait that is longer than any")
        }
    } catch {
        // A refusal is an answer.
    }
}

/// Any bytes as what a record seals: refused, or written back byte for byte.
func fuzzRecord(_ bytes: [UInt8]) {
    let sealed = SecretBytes(copying: bytes.span)
    for kind in EntryKind.allCases {
        do {
            let payload = try RecordPayload(reading: sealed, kind: kind)
            let again = try payload.sealedForm()
            precondition(again == sealed, "two forms of one content")
        } catch {
            // A refusal is an answer.
        }
    }
}

/// Any bytes as an entry of the sealed list: refused, or written back byte for byte.
func fuzzManifest(_ bytes: [UInt8]) {
    var fields = SecretFields()
    do {
        let entry = try ManifestEntry(reading: &fields, in: bytes.span)
        let read = Array(bytes[..<fields.position])
        let again = SecretBytes(capacity: read.count) { entry.write(to: &$0) }
        precondition(again == SecretBytes(copying: read.span), "two forms of one entry")
    } catch {
        // A refusal is an answer.
    }
}

/// Any bytes as a recovery key that somebody typed: refused, or the same key when its text is read again.
func fuzzRecoveryKey(_ bytes: [UInt8]) {
    do {
        let key = try RecoveryKey(parsing: SecretBytes(copying: bytes.span))
        let text = try key.text()
        let again = try RecoveryKey(parsing: text).text()
        precondition(again == text, "a key that changes when it is read again")
    } catch {
        // A refusal is an answer.
    }
}
