/// Something that befalls the connection between a client and its database, once.
public struct ProxyFault: Sendable {
    /// Which way a message goes.
    public enum Way: Sendable, CaseIterable {
        case toServer
        case toClient
    }

    /// Messages of PostgreSQL's protocol, by the byte that they begin with
    /// (https://www.postgresql.org/docs/15/protocol-message-formats.html).
    public enum Message: Character, Sendable, CaseIterable {
        case parse = "P"
        case bind = "B"
        case execute = "E"
        case sync = "S"
        case query = "Q"
        case parseComplete = "1"
        case bindComplete = "2"
        case dataRow = "D"
        case commandComplete = "C"
        case readyForQuery = "Z"

        /// Who sends it: the bytes of some mean something else when the other side sends them.
        public var way: Way {
            switch self {
            case .parse, .bind, .execute, .sync, .query: .toServer
            case .parseComplete, .bindComplete, .dataRow, .commandComplete, .readyForQuery:
                .toClient
            }
        }
    }

    /// How much of the message is let through first.
    public enum Part: Sendable, CaseIterable {
        case none
        case half
        case all
    }

    /// Where it happens, counted on each connection from when the fault was armed.
    public enum Place: Sendable {
        /// At the `count`th message of this kind.
        case message(Message, count: Int = 1, Part)
        /// When so many bytes have gone this way.
        case byte(Way, Int)
    }

    /// What happens.
    public enum Deed: Sendable, CaseIterable {
        /// Both sides see the connection's end.
        case cut
        /// Nothing goes either way any more, and nobody is told; until the proxy is healed.
        case stall
    }

    let place: Place
    let deed: Deed

    /// The fault that does `deed` at `place`, on the first connection that gets there.
    public init(_ deed: Deed, at place: Place) {
        self.place = place
        self.deed = deed
    }
}
