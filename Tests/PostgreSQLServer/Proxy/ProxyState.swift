import Foundation
import Synchronization

/// The current action of a proxy on its connections.
final class ProxyState: Sendable {
    /// The action on a message.
    struct Verdict {
        /// The number of bytes to forward.
        let count: Int
        /// The fault that occurs afterwards.
        let deed: ProxyFault.Deed?
    }

    /// The bytes and messages that were sent in one direction since a fault was armed.
    struct Tally {
        var armed = 0
        var bytes = 0
        var messages: [Character: Int] = [:]
    }

    private struct Content {
        var fault: ProxyFault?
        /// The number of times a fault was armed.
        var armed = 0
        var isStalled = false
        var isRefusing = false
        var delay: Duration = .zero
        var passed: [ProxyFault.Way: Int] = [:]
    }

    private let content = Mutex(Content())

    var hasFault: Bool { content.withLock { $0.fault != nil } }
    var isRefusing: Bool { content.withLock { $0.isRefusing } }
    var isStalled: Bool { content.withLock { $0.isStalled } }
    var delay: Duration { content.withLock { $0.delay } }

    /// The largest number of bytes that a single connection has sent in this direction since the
    /// last fault was armed.
    func passed(_ way: ProxyFault.Way) -> Int { content.withLock { $0.passed[way] ?? 0 } }

    func arm(_ fault: ProxyFault?) {
        content.withLock { content in
            content.fault = fault
            content.armed += 1
            content.passed = [:]
        }
    }

    func stall() { content.withLock { $0.isStalled = true } }
    func refuse() { content.withLock { $0.isRefusing = true } }
    func delay(by delay: Duration) { content.withLock { $0.delay = delay } }

    func heal() {
        content.withLock { content in
            content.fault = nil
            content.isStalled = false
            content.isRefusing = false
            content.delay = .zero
        }
    }

    /// Counts a message and decides on its treatment.
    ///
    /// A fault occurs once.
    func judge(
        _ message: MessageStream.Message, going way: ProxyFault.Way, _ tally: inout Tally
    ) -> Verdict {
        content.withLock { content in
            if tally.armed != content.armed { tally = Tally(armed: content.armed) }
            let length = message.bytes.count
            let before = tally.bytes
            tally.bytes += length
            content.passed[way] = max(content.passed[way] ?? 0, tally.bytes)
            if let kind = message.kind { tally.messages[kind, default: 0] += 1 }
            let stop: Int? =
                switch content.fault?.place {
                case .message(let wanted, let count, let part)
                where wanted.way == way && wanted.rawValue == message.kind
                    && tally.messages[wanted.rawValue] == count:
                    switch part {
                    case .none: 0
                    case .half: length / 2
                    case .all: length
                    }
                case .byte(way, let count) where count <= tally.bytes: max(count - before, 0)
                default: nil
                }
            guard let stop, let deed = content.fault?.deed else {
                return Verdict(count: length, deed: nil)
            }
            content.fault = nil
            if deed == .stall { content.isStalled = true }
            return Verdict(count: stop, deed: deed)
        }
    }
}
