import Verification

/// An endless sequence of correct codes: each credential in turn, a few time steps later in each
/// pass.
///
/// Credentials that follow each other here are not neighbours in the store.
final class Attempts: Sendable {
    /// A correct code, and the time at which it is correct.
    struct Attempt: Sendable {
        let subject: Subject
        let code: PresentedCode
        let time: UnixTime
    }

    private let population: Population
    private let next = Turn()
    // A prime larger than any count, so its multiples visit every credential before they repeat.
    private static let stride = 1_299_709
    // Among a million codes, a few are also the code of a neighbouring step. The distance between
    // passes keeps spent steps outside the window, so none of these codes counts as spent.
    private static let steps: Int64 = 4

    private let epoch: Int64

    /// Begins an epoch, whose times are later than those of all earlier epochs.
    init(_ population: Population, epoch: Int = 0) {
        self.population = population
        self.epoch = Int64(epoch) * 1_000_000 * Population.period
    }

    /// Returns the next `count` attempts.
    func take(_ count: Int) throws -> [Attempt] {
        let first = next.take(count)
        return try (first..<(first + count)).map { index in
            let number = index * Self.stride % population.count
            let pass = Self.steps * (Int64(index / population.count) + 1)
            let time = Population.start + epoch + pass * Population.period
            return Attempt(
                subject: try population.subject(number),
                code: try PresentedCode(population.code(number, at: time).utf8.span),
                time: UnixTime(seconds: time))
        }
    }
}
