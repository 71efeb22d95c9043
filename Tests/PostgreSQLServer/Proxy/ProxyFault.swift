/// A fault in the connection between a client and its database, which occurs once.
public struct ProxyFault: Sendable {
    /// The direction of a message.
    public enum Way: Sendable, CaseIterable {
        case toServer
        case toClient
    }

    /// Message types of PostgreSQL's protocol, by their type byte
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

        /// The direction of the message.
        ///
        /// Some type bytes have a different meaning in the other direction.
        public var way: Way {
            switch self {
            case .parse, .bind, .execute, .sync, .query: .toServer
            case .parseComplete, .bindComplete, .dataRow, .commandComplete, .readyForQuery:
                .toClient
            }
        }
    }

    /// How much of the message is forwarded first.
    public enum Part: Sendable, CaseIterable {
        case none
        case half
        case all
    }

    /// The place of the fault, counted on each connection from the time the fault was armed.
    public enum Place: Sendable {
        /// At the `count`th message of this type.
        case message(Message, count: Int = 1, Part)
        /// After this number of bytes in this direction.
        case byte(Way, Int)
    }

    /// The effect on the connection.
    public enum Deed: Sendable, CaseIterable {
        /// Both sides see the end of the connection.
        case cut
        /// No data is forwarded in either direction, and the connection stays open, until the fault
        /// is cleared.
        case stall
    }

    let place: Place
    let deed: Deed

    /// Specifies a fault for the first connection that reaches `place`.
    public init(_ deed: Deed, at place: Place) {
        self.place = place
        self.deed = deed
    }
}
