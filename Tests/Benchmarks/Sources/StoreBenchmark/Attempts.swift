import Verification

/// Right codes without an end: each credential in its turn, and some time steps later the next time.
///
/// Neighbours in the order are no neighbours in the store.
final class Attempts: Sendable {
    /// A right code, and the moment at which it is.
    struct Attempt: Sendable {
        let subject: Subject
        let code: PresentedCode
        let time: UnixTime
    }

    private let population: Population
    private let next = Turn()
    // A prime above any count: its multiples visit every credential before they come back.
    private static let stride = 1_299_709
    // Of a million codes a few are those of a neighbouring step as well. So that none of them counts as
    // spent, what was spent is out of the window when its credential's turn comes again.
    private static let steps: Int64 = 4

    private let epoch: Int64

    /// Begins an epoch, whose times are behind those of the epochs before.
    init(_ population: Population, epoch: Int = 0) {
        self.population = population
        self.epoch = Int64(epoch) * 1_000_000 * Population.period
    }

    /// The next so many.
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
