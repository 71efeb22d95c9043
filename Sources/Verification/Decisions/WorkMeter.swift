internal import Synchronization

/// Counts what a decision costs, so that a test can see that an unknown subject costs the same.
final class WorkMeter: Sendable {
    /// What is counted.
    enum Work: Int, CaseIterable, Sendable {
        /// Codes that were computed and compared.
        case codes
        /// Boxes that were opened, or sealed in place of it.
        case openings
        /// Digests and marks of secrets that were computed and compared.
        case digests
        /// Recovery codes that were hashed.
        case hashes
    }

    private let codes = Atomic<Int>(0)
    private let openings = Atomic<Int>(0)
    private let digests = Atomic<Int>(0)
    private let hashes = Atomic<Int>(0)

    func count(_ work: Work, _ times: Int = 1) {
        switch work {
        case .codes: codes.add(times, ordering: .relaxed)
        case .openings: openings.add(times, ordering: .relaxed)
        case .digests: digests.add(times, ordering: .relaxed)
        case .hashes: hashes.add(times, ordering: .relaxed)
        }
    }

    /// How much was done since the beginning.
    var counts: [Work: Int] {
        [
            .codes: codes.load(ordering: .relaxed), .openings: openings.load(ordering: .relaxed),
            .digests: digests.load(ordering: .relaxed), .hashes: hashes.load(ordering: .relaxed),
        ]
    }
}
