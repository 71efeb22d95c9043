internal import WatchwordCryptography

/// The keys that prove that this program wrote the contents of a database.
///
/// They authenticate rows and chain events. They are stored outside the database and never change.
public struct AuditKey: Sendable {
    private let events: HMACKey
    let rows: HMACKey

    init(events: SecretBytes, rows: SecretBytes) {
        self.events = HMACKey(events)
        self.rows = HMACKey(rows)
    }

    /// Computes an authentication code over the bytes that `write` produces, for this purpose only.
    func authenticate(_ purpose: String, _ write: (inout ByteWriter) -> Void) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(purpose)
        write(&writer)
        return events.authenticationCode(of: writer.bytes.span)
    }
}

extension AuditKey {
    /// The event with its digest, which chains it to the event with the digest `previous`.
    func tying(_ event: ChainedEvent, behind previous: [UInt8]) -> ChainedEvent {
        let digest = authenticate("watchword event") { writer in
            writer.write(previous)
            writer.write(event.node)
            writer.write(event.sequence)
            writer.write(event.behind)
            writer.write(event.body)
        }
        var tied = event
        tied.digest = digest
        return tied
    }

    /// The start with its authentication code.
    func authenticating(_ start: ChainStart) -> ChainStart {
        var authenticated = start
        authenticated.authentication = authenticate("watchword chain start") { writer in
            writer.write(start.node)
            writer.write(start.sequence)
            writer.write(start.digest)
            writer.write(start.position)
            writer.write(start.behind)
            writer.writeOptional(start.pruning) { writer, pruning in
                writer.write(pruning.before)
                writer.writeOptional(pruning.at) { $0.write($1) }
            }
        }
        return authenticated
    }

    func mark(node: [UInt8], sequence: UInt64, digest: [UInt8]) -> ChainCheckpoint {
        let authentication = authenticate("watchword chain mark") { writer in
            writer.write(node)
            writer.write(sequence)
            writer.write(digest)
        }
        return ChainCheckpoint(
            node: node, sequence: sequence, digest: digest, authentication: authentication)
    }

    /// Checks whether a checkpoint was made with this key.
    public func isAuthentic(_ mark: ChainCheckpoint) -> Bool {
        let expected = self.mark(
            node: mark.node, sequence: mark.sequence, digest: mark.digest)
        return isEqualInConstantTime(expected.authentication.span, mark.authentication.span)
    }

    /// Checks whether a start was made with this key.
    public func isAuthentic(_ start: ChainStart) -> Bool {
        let expected = authenticating(start)
        return isEqualInConstantTime(expected.authentication.span, start.authentication.span)
    }
}
