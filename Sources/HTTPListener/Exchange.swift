internal import Synchronization

/// One request and its response, from the first line to the last byte.
final class Exchange: Sendable {
    /// The state of the exchange.
    enum Stage {
        /// The first line has arrived; this is the target as sent.
        case begun(target: [UInt8])
        /// The head was accepted, and the body is arriving.
        case receiving(UnderstoodHead, body: [UInt8])
        /// It is refused; what is left of its body is thrown away first, this much at most.
        case refusing(ListenerRefusal, discarding: Int)
        /// Whoever is behind the listener works on it.
        case handling
        /// The response can be sent.
        case answered(ListenerResponse)
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
                // Let go of the other reference, so that it grows in place.
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
    var isComing: Bool {
        stage.withLock { stage in
            switch stage {
            case .begun, .receiving: true
            case .refusing, .handling, .answered, .sent: false
            }
        }
    }

    /// How much of a refused body is read and thrown away: a connection that is closed with bytes unread is
    /// reset, and the client would not see why.
    static let discardLimit = 1 << 20
}
