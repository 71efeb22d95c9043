internal import POSIX
internal import Synchronization

/// Limits the request rate of each client address with a token bucket.
///
/// IPv6 addresses are grouped by /64 network, because one host usually has the whole network. A
/// full bucket carries no information and is deleted. If there are still too many buckets, new
/// addresses share one, so that an attacker who changes addresses can neither exhaust the memory
/// nor exceed the limit.
final class AddressLimiter: Sendable {
    private struct Bucket {
        /// Thousandths of a request.
        var tokens: Int64
        var filledAt: ContinuousClock.Instant
    }

    private struct State {
        var buckets: [NetworkAddress: Bucket] = [:]
        var shared: Bucket
        var lastSweep: ContinuousClock.Instant
    }

    private let rate: AddressRate
    private let capacity: Int
    private let state: Mutex<State>

    /// - Parameter capacity: the maximum number of addresses with their own bucket.
    init(rate: AddressRate, capacity: Int = 65_536, now: ContinuousClock.Instant) {
        self.rate = rate
        self.capacity = capacity
        let full = Bucket(tokens: Int64(rate.burst) * 1_000, filledAt: now)
        state = Mutex(State(shared: full, lastSweep: now))
    }

    /// The number of addresses with their own bucket.
    var count: Int { state.withLock { $0.buckets.count } }

    /// Takes a token and returns `nil`, or returns the number of seconds until the next token.
    ///
    /// - Parameter address: any text; all strings that are not addresses share one bucket.
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

    /// Whether ``take(_:now:)`` would refuse the address now.
    func isExhausted(_ address: String, now: ContinuousClock.Instant) -> Bool {
        let key = NetworkAddress.sender(of: address)
        return state.withLock { state in
            guard var bucket = state.buckets[key] else {
                return state.buckets.count >= capacity && state.shared.tokens < 1_000
            }
            fill(&bucket, now: now)
            return bucket.tokens < 1_000
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
        // After this time every bucket is full; this also prevents an overflow.
        guard passed.seconds < 1_000_000 else {
            bucket = Bucket(tokens: full, filledAt: now)
            return
        }
        let milliseconds = passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000
        guard milliseconds > 0 else { return }
        bucket.tokens = min(full, bucket.tokens + milliseconds * Int64(rate.perSecond))
        bucket.filledAt = bucket.filledAt.advanced(by: .milliseconds(milliseconds))
    }

    /// Deletes full buckets.
    ///
    /// Runs at most once a second, because it visits every bucket.
    private func sweep(_ state: inout State, now: ContinuousClock.Instant) {
        guard now - state.lastSweep >= .seconds(1) else { return }
        state.lastSweep = now
        for (address, var bucket) in state.buckets {
            fill(&bucket, now: now)
            if bucket.tokens >= Int64(rate.burst) * 1_000 { state.buckets[address] = nil }
        }
    }
}

/// The permitted request rate of one client address.
package struct AddressRate: Hashable, Sendable {
    /// Requests per second: 1 to 1,000,000.
    package let perSecond: Int
    /// Requests in a burst: 1 to 1,000,000.
    package let burst: Int

    /// 100 per second, 1,000 in a burst.
    package static let standard = AddressRate(checkedPerSecond: 100, burst: 1_000)

    /// A tenth of the rate.
    var tenth: AddressRate {
        AddressRate(checkedPerSecond: max(1, perSecond / 10), burst: max(1, burst / 10))
    }

    /// Returns `nil` if a value is out of range.
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
