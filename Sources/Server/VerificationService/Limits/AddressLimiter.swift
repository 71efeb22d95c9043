internal import Synchronization
internal import WatchwordSystem

/// Limits the request rate of each client address with a token bucket.
///
/// IPv6 addresses are grouped by /64 network, because one host usually controls the whole network.
/// The networks of one /48 also share a bucket with four times the rate, because one customer may
/// control all of them.
final class AddressLimiter: Sendable {
    private struct State {
        var senders: Buckets
        var sites: Buckets
    }

    private let state: Mutex<State>

    /// - Parameter capacity: the maximum number of addresses with their own bucket.
    init(rate: AddressRate, capacity: Int = 65_536, now: ContinuousClock.Instant) {
        state = Mutex(
            State(
                senders: Buckets(rate: rate, capacity: capacity, now: now),
                sites: Buckets(rate: rate.quadruple, capacity: capacity, now: now)))
    }

    /// The number of addresses with their own bucket.
    var count: Int { state.withLock { $0.senders.count } }

    /// Takes a token and returns `nil`, or returns the number of seconds until the next token.
    ///
    /// - Parameter address: any text; all texts that are not addresses share one bucket.
    func take(_ address: String, now: ContinuousClock.Instant) -> Int? {
        let sender = NetworkAddress.sender(of: address)
        return state.withLock { state in
            guard !sender.isVersion4 else { return state.senders.take(sender, now: now) }
            // A refused request takes no token from the other networks of its site, and an
            // exhausted site gets no further buckets.
            if let seconds = state.sites.wait(sender.site, now: now) { return seconds }
            if let seconds = state.senders.take(sender, now: now) { return seconds }
            return state.sites.take(sender.site, now: now)
        }
    }

    /// Whether ``take(_:now:)`` would refuse the address now.
    func isExhausted(_ address: String, now: ContinuousClock.Instant) -> Bool {
        let sender = NetworkAddress.sender(of: address)
        return state.withLock { state in
            state.senders.wait(sender, now: now) != nil
                || !sender.isVersion4 && state.sites.wait(sender.site, now: now) != nil
        }
    }
}

/// Token buckets.
///
/// A full bucket carries no information and is deleted. If there are still too many buckets, new
/// addresses share one bucket, so that an attacker who changes addresses can neither exhaust the
/// memory nor exceed the limit.
private struct Buckets: Sendable {
    fileprivate struct Bucket {
        /// The tokens in thousandths of a request.
        var tokens: Int64
        var filledAt: ContinuousClock.Instant
    }

    private let rate: AddressRate
    private let capacity: Int
    private var buckets: [NetworkAddress: Bucket] = [:]
    private var shared: Bucket
    private var lastSweep: ContinuousClock.Instant

    init(rate: AddressRate, capacity: Int, now: ContinuousClock.Instant) {
        self.rate = rate
        self.capacity = capacity
        shared = Bucket(tokens: rate.full, filledAt: now)
        lastSweep = now
    }

    var count: Int { buckets.count }

    /// Takes a token and returns `nil`, or returns the number of seconds until the next token.
    mutating func take(_ key: NetworkAddress, now: ContinuousClock.Instant) -> Int? {
        if buckets[key] == nil, buckets.count >= capacity { sweep(now: now) }
        if buckets[key] == nil, buckets.count >= capacity { return shared.take(rate, now: now) }
        let full = Bucket(tokens: rate.full, filledAt: now)
        return buckets[key, default: full].take(rate, now: now)
    }

    /// The number of seconds until the next token; `nil` if a token is available.
    func wait(_ key: NetworkAddress, now: ContinuousClock.Instant) -> Int? {
        guard var bucket = buckets[key] ?? (buckets.count < capacity ? nil : shared) else {
            return nil
        }
        return bucket.take(rate, now: now)
    }

    /// Deletes full buckets.
    ///
    /// Runs at most once a second, because it visits every bucket.
    private mutating func sweep(now: ContinuousClock.Instant) {
        guard now - lastSweep >= .seconds(1) else { return }
        lastSweep = now
        for (address, var bucket) in buckets {
            bucket.fill(rate, now: now)
            if bucket.tokens >= rate.full { buckets[address] = nil }
        }
    }
}

extension Buckets.Bucket {
    fileprivate mutating func take(_ rate: AddressRate, now: ContinuousClock.Instant) -> Int? {
        fill(rate, now: now)
        guard tokens >= 1_000 else {
            let missing = 1_000 - tokens
            let milliseconds = (missing + Int64(rate.perSecond) - 1) / Int64(rate.perSecond)
            return max(1, Int((milliseconds + 999) / 1_000))
        }
        tokens -= 1_000
        return nil
    }

    fileprivate mutating func fill(_ rate: AddressRate, now: ContinuousClock.Instant) {
        let passed = (now - filledAt).components
        guard passed.seconds >= 0, passed.attoseconds >= 0 else { return }
        // After this time every bucket is full; this also prevents an overflow.
        guard passed.seconds < 1_000_000 else {
            (tokens, filledAt) = (rate.full, now)
            return
        }
        let milliseconds = passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000
        guard milliseconds > 0 else { return }
        tokens = min(rate.full, tokens + milliseconds * Int64(rate.perSecond))
        filledAt = filledAt.advanced(by: .milliseconds(milliseconds))
    }
}

/// The permitted request rate of one client address.
package struct AddressRate: Hashable, Sendable {
    /// Requests per second: 1 to 1,000,000.
    package let perSecond: Int
    /// Requests in a burst: 1 to 1,000,000.
    package let burst: Int

    /// The default: 100 per second, 1,000 in a burst.
    package static let standard = AddressRate(checkedPerSecond: 100, burst: 1_000)

    /// A tenth of this rate.
    var tenth: AddressRate {
        AddressRate(checkedPerSecond: max(1, perSecond / 10), burst: max(1, burst / 10))
    }

    /// The tokens of a full bucket, in thousandths of a request.
    fileprivate var full: Int64 { Int64(burst) * 1_000 }

    /// Four times this rate.
    var quadruple: AddressRate {
        AddressRate(checkedPerSecond: 4 * perSecond, burst: 4 * burst)
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

/// Detects that codes are denied for many different subjects in a short time: an attacker tries a
/// few codes on each of many subjects, so that no credential's limit is reached.
///
/// The detector only reports. It counts the subjects whose codes this process denied for any
/// reason, so that the result does not depend on whether a subject exists.
final class DeniedSubjects: Sendable {
    private struct Period {
        var number: Int64 = 0
        /// The hashes of the subjects under a random key; two subjects share a hash with a
        /// negligible probability.
        var subjects: Set<Int> = []
        /// The subjects for whom codes were accepted.
        var accepted: Set<Int> = []
        var isReported = false
    }

    /// The number of subjects from which a period is reported.
    static let reportedCount = 50
    /// The maximum number of subjects that are counted separately.
    static let capacity = 10_000

    private let start: ContinuousClock.Instant
    private let period = Mutex(Period())

    init(start: ContinuousClock.Instant) { self.start = start }

    /// Records a decision about a subject's code.
    ///
    /// - Returns: whether to report the period: codes were denied for at least ``reportedCount``
    ///   subjects, and for more subjects than codes were accepted for.
    func enter(
        _ subject: String, isAccepted: Bool, at now: ContinuousClock.Instant
    ) -> Bool {
        let number = number(now)
        return period.withLock { period in
            if period.number != number { period = Period(number: number) }
            guard !isAccepted else {
                if period.accepted.count < Self.capacity {
                    period.accepted.insert(subject.hashValue)
                }
                return false
            }
            if period.subjects.count < Self.capacity { period.subjects.insert(subject.hashValue) }
            guard !period.isReported, period.subjects.count >= Self.reportedCount,
                period.subjects.count > period.accepted.count
            else { return false }
            period.isReported = true
            return true
        }
    }

    /// The number of subjects for whom codes were denied in the current period.
    func count(at now: ContinuousClock.Instant) -> Int {
        let number = number(now)
        return period.withLock { $0.number == number ? $0.subjects.count : 0 }
    }

    /// The number of the period; a period lasts ten minutes.
    private func number(_ now: ContinuousClock.Instant) -> Int64 {
        (now - start).components.seconds / 600
    }
}
