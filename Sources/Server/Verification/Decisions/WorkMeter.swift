internal import Synchronization

/// Counts the work of a decision, so that a test can check that an unknown subject costs as much as
/// a known one.
package final class WorkMeter: Sendable {
    /// A kind of work.
    package enum Work: Int, CaseIterable, Sendable {
        /// Rows of credentials decoded.
        case rows
        /// Codes computed and compared.
        case codes
        /// Sealed boxes opened, or dummy boxes sealed instead.
        case openings
        /// Digests and marks of secrets computed and compared.
        case digests
        /// Recovery codes hashed.
        case hashes
        /// Signatures of passkeys and device keys verified.
        case signatures
    }

    private let rows = Atomic<Int>(0)
    private let codes = Atomic<Int>(0)
    private let openings = Atomic<Int>(0)
    private let digests = Atomic<Int>(0)
    private let hashes = Atomic<Int>(0)
    private let signatures = Atomic<Int>(0)

    package func count(_ work: Work, _ times: Int = 1) {
        switch work {
        case .rows: rows.add(times, ordering: .relaxed)
        case .codes: codes.add(times, ordering: .relaxed)
        case .openings: openings.add(times, ordering: .relaxed)
        case .digests: digests.add(times, ordering: .relaxed)
        case .hashes: hashes.add(times, ordering: .relaxed)
        case .signatures: signatures.add(times, ordering: .relaxed)
        }
    }

    /// The work done so far.
    var counts: [Work: Int] {
        [
            .rows: rows.load(ordering: .relaxed), .codes: codes.load(ordering: .relaxed),
            .openings: openings.load(ordering: .relaxed),
            .digests: digests.load(ordering: .relaxed), .hashes: hashes.load(ordering: .relaxed),
            .signatures: signatures.load(ordering: .relaxed),
        ]
    }
}
