package import WatchwordSystem

/// The time of a code.
package enum CodeTime: Hashable, Sendable {
    /// The code of a time-based entry, `offset` steps after this time in Unix seconds.
    ///
    /// A program that refreshes the codes that it shows does not reset the idle time.
    case moment(Int64, offset: UInt64, isRefresh: Bool)
    /// The next code of a counter-based entry, whose counter is saved first.
    case counter

    /// Whether a program refreshes a code that it shows, without a request from the user.
    package var isRefresh: Bool {
        if case .moment(_, _, let isRefresh) = self { isRefresh } else { false }
    }
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
