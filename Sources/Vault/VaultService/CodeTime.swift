internal import SecretVault
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
    private enum Kind: UInt8 {
        case moment, refresh, counter
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .moment(let moment, let offset, let isRefresh):
            output.append(choice: isRefresh ? Kind.refresh : Kind.moment)
            output.append(signed: moment)
            output.append(offset)
        case .counter: output.append(choice: Kind.counter)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .moment, .refresh:
            self = .moment(
                try fields.signedNumber(bytes), offset: try fields.value(bytes),
                isRefresh: kind == .refresh)
        case .counter: self = .counter
        }
    }
}
