internal import POSIX
internal import Synchronization

/// Lets each client address ask so often and no oftener: a bucket of tokens for each.
///
/// IPv6 addresses count by their first 64 bits, for whoever has one has all of those. A full bucket
/// is as good as none, so it is forgotten; when there are too many all the same, newcomers share
/// one bucket, so that neither memory nor the limit can be outrun by changing addresses.
final class AddressLimiter: Sendable {
    private struct Bucket {
        /// Thousandths of a request.
        var tokens: Int64
        var filledAt: ContinuousClock.Instant
    }

    private struct State {
        var buckets: [NetworkAddress: Bucket] = [:]
        var shared: Bucket
        var sweptAt: ContinuousClock.Instant
    }

    private let rate: AddressRate
    private let capacity: Int
    private let state: Mutex<State>

    /// Starts with full buckets.
    ///
    /// - Parameter capacity: addresses that are remembered at most.
    init(rate: AddressRate, capacity: Int = 65_536, now: ContinuousClock.Instant) {
        self.rate = rate
        self.capacity = capacity
        let full = Bucket(tokens: Int64(rate.burst) * 1_000, filledAt: now)
        state = Mutex(State(shared: full, sweptAt: now))
    }

    /// How many addresses are remembered.
    var count: Int { state.withLock { $0.buckets.count } }

    /// Takes a token, if there is one; else says in how many seconds there will be.
    ///
    /// - Parameter address: as text; all that is none counts as one.
    func take(_ address: String, now: ContinuousClock.Instant) -> Int? {
        let key = NetworkAddress.sender(of: address)
        return state.withLock { state in
            if state.buckets[key] == nil, state.buckets.count >= capacity {
                sweep(&state, now: now)
            }
            if state.buckets[key] == nil, state.buckets.count >= capacity {
                return take(&state.shared, now: now)
            }
            return take(&state.buckets[key, default: full(now)], now: now)
        }
    }

    private func full(_ now: ContinuousClock.Instant) -> Bucket {
        Bucket(tokens: Int64(rate.burst) * 1_000, filledAt: now)
    }

    private func take(_ bucket: inout Bucket, now: ContinuousClock.Instant) -> Int? {
        fill(&bucket, now: now)
        guard bucket.tokens >= 1_000 else {
            let missing = 1_000 - bucket.tokens
            let milliseconds = (missing + Int64(rate.perSecond) - 1) / Int64(rate.perSecond)
            return max(1, Int((milliseconds + 999) / 1_000))
        }
        bucket.tokens -= 1_000
        return nil
    }

    private func fill(_ bucket: inout Bucket, now: ContinuousClock.Instant) {
        let full = Int64(rate.burst) * 1_000
        let passed = (now - bucket.filledAt).components
        guard passed.seconds >= 0, passed.attoseconds >= 0 else { return }
        // Longer than that and every bucket is full.
        guard passed.seconds < 1_000_000 else {
            bucket = Bucket(tokens: full, filledAt: now)
            return
        }
        let milliseconds = passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000
        guard milliseconds > 0 else { return }
        bucket.tokens = min(full, bucket.tokens + milliseconds * Int64(rate.perSecond))
        bucket.filledAt = bucket.filledAt.advanced(by: .milliseconds(milliseconds))
    }

    /// Forgets full buckets, at most once a second: it looks at all of them.
    private func sweep(_ state: inout State, now: ContinuousClock.Instant) {
        guard now - state.sweptAt >= .seconds(1) else { return }
        state.sweptAt = now
        for (address, var bucket) in state.buckets {
            fill(&bucket, now: now)
            if bucket.tokens >= Int64(rate.burst) * 1_000 { state.buckets[address] = nil }
        }
    }
}

/// How often one client address may ask.
package struct AddressRate: Hashable, Sendable {
    /// Requests a second: 1 to 1,000,000.
    package let perSecond: Int
    /// Requests at once after a rest: 1 to 1,000,000.
    package let burst: Int

    /// 100 a second, 1,000 at once.
    package static let standard = AddressRate(checkedPerSecond: 100, burst: 1_000)

    /// Takes what is in range; nothing else.
    package init?(perSecond: Int, burst: Int) {
        guard (1...1_000_000).contains(perSecond), (1...1_000_000).contains(burst) else {
            return nil
        }
        self.init(checkedPerSecond: perSecond, burst: burst)
    }

    private init(checkedPerSecond: Int, burst: Int) {
        self.perSecond = checkedPerSecond
        self.burst = burst
    }
}
