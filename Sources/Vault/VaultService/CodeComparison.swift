package import WatchwordSystem

/// A presented code, and the window in which it is accepted.
package struct CodeComparison: Sendable {
    package let code: String
    /// The time of a time-based code in Unix seconds; `nil` compares the code with the entry's
    /// counter.
    package let moment: Int64?
    package let behind: Int
    package let ahead: Int

    package init(code: String, moment: Int64?, behind: Int, ahead: Int) {
        self.code = code
        self.moment = moment
        self.behind = behind
        self.ahead = ahead
    }

    /// The maximum number of steps in either direction.
    package static let widest = 10_000
    /// The number of counter-based codes after the next one that are compared without a further
    /// proof that the client can open the vault; `verify` compares this number by default.
    package static let widestAhead = 10
}

extension CodeComparison: Transferable {
    package func write(to output: FrameWriter) {
        output.append(code, moment, behind, ahead)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
        let allowed = 0...CodeComparison.widest
        guard allowed.contains(behind), allowed.contains(ahead) else { throw Unreadable() }
    }
}

/// The time or counter for which a code is computed.
package enum CodeTime: Hashable, Sendable {
    /// The code of a time-based entry, `offset` steps after this time in Unix seconds.
    ///
    /// A program that refreshes the codes that it shows does not reset the idle time.
    case moment(Int64, offset: UInt64, isRefresh: Bool)
    /// The next code of a counter-based entry, whose counter is saved first.
    case counter
}

extension CodeTime: Transferable {
    private enum Kind: UInt8, Transferable {
        case moment, counter
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .moment(let moment, let offset, let isRefresh):
            output.append(Kind.moment, moment, offset, isRefresh)
        case .counter: output.append(Kind.counter)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .moment: try fields.make(Self.moment, from: bytes)
            case .counter: .counter
            }
    }
}
