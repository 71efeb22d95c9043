/// Measures pieces of work in interleaved rounds, and keeps the minimum time of each.
///
/// A disturbance affects all pieces alike, and the minimum ignores it.
struct Stopwatch {
    private struct Work {
        let name: String
        let count: Int
        let body: (Int) -> Void
        var best: Double
    }

    private var works: [Work] = []

    /// Adds a piece of work; the argument of `body` is the number of repetitions.
    mutating func add(_ name: String, count: Int, body: @escaping (Int) -> Void) {
        works.append(Work(name: name, count: count, body: body, best: .infinity))
    }

    /// Runs all pieces in turn, `rounds` times.
    mutating func run(rounds: Int) {
        let clock = ContinuousClock()
        for _ in 0..<rounds {
            for index in works.indices {
                let work = works[index]
                let time = clock.measure { work.body(work.count) }
                let nanoseconds = Double(time.components.attoseconds) / 1e9 / Double(work.count)
                works[index].best = min(works[index].best, nanoseconds)
            }
        }
    }

    /// Prints lines “NAME NANOSECONDS”.
    func report() {
        for work in works {
            print(work.name, (work.best * 100).rounded() / 100)
        }
    }
}
