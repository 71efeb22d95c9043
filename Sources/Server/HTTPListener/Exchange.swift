internal import Synchronization
internal import WatchwordCoding

/// One request and its response, from the first line to the last byte.
final class Exchange: Sendable {
    /// The state of the exchange.
    enum Stage {
        /// The first line has arrived; this is the target as sent.
        case begun(target: [UInt8])
        /// The head was accepted, and the body is arriving.
        case receiving(ValidatedHead, body: [UInt8])
        /// The request is refused; at most this much of its remaining body is discarded first.
        case refusing(HTTPRequestError, discarding: Int)
        /// The handler is working on the request.
        case handling
        /// The response can be sent.
        case answered(HTTPResponse)
        /// The exchange is complete.
        case sent
    }

    private let stage: Mutex<Stage>

    init(target: [UInt8]) { stage = Mutex(.begun(target: target)) }

    func withStage<Result: Sendable>(_ body: (inout Stage) -> Result) -> Result {
        stage.withLock { body(&$0) }
    }

    /// Receives a part of the body.
    ///
    /// Returns whether to continue.
    func receive(_ part: UnsafeBufferPointer<UInt8>, limit: Int) -> Bool {
        stage.withLock { stage in
            switch stage {
            case .receiving(let head, var body):
                // Release the other reference, so that the array grows in place.
                stage = .sent
                guard body.count + part.count <= limit else {
                    stage = .refusing(.bodyTooLarge, discarding: Exchange.discardLimit)
                    return true
                }
                unsafe body.append(contentsOf: part)
                stage = .receiving(head, body: body)
                return true
            case .refusing(let refusal, let left):
                guard part.count <= left else { return false }
                stage = .refusing(refusal, discarding: left - part.count)
                return true
            case .begun, .handling, .answered, .sent:
                return false
            }
        }
    }

    /// Whether the request is still incomplete and has not been refused.
    var isIncomplete: Bool {
        stage.withLock { stage in
            switch stage {
            case .begun, .receiving: true
            case .refusing, .handling, .answered, .sent: false
            }
        }
    }

    /// How much of a refused body is read and discarded.
    ///
    /// A connection that is closed with unread bytes is reset, and the client would not see the
    /// reason.
    static let discardLimit = 1 << 20
}
