/// A request of the login protocol, as the PAM module sends it.
public struct LoginMessage: Sendable {
    /// 1 verifies a code, 2 asks for the status.
    public var operation: UInt8
    /// Whether reasons are wanted.
    public var wantsReasons = false
    /// The name of the PAM service.
    public var service = "sshd"
    /// The name of the account.
    public var user: [UInt8]
    /// From where the person signs in.
    public var remoteHost = "192.0.2.1"
    /// The code that the person entered.
    public var code = ""

    /// A request to verify a code.
    public init(verifying code: String, of user: String, wantingReasons: Bool = false) {
        operation = 1
        self.user = Array(user.utf8)
        self.code = code
        wantsReasons = wantingReasons
    }

    /// A request for the status of a user.
    public init(statusOf user: String) {
        operation = 2
        self.user = Array(user.utf8)
    }

    /// The bytes to send.
    public var bytes: [UInt8] {
        let head = Array("WWP1".utf8) + [operation, wantsReasons ? 1 : 0]
        let fields =
            Self.field(Array(service.utf8), 32) + Self.field(user, 128)
            + Self.field(Array(remoteHost.utf8), 128) + Self.field(Array(code.utf8), 64)
        return head + fields + [UInt8](repeating: 0, count: 150)
    }

    private static func field(_ text: [UInt8], _ capacity: Int) -> [UInt8] {
        [UInt8(text.count)] + text + [UInt8](repeating: 0, count: capacity - text.count)
    }
}

/// A response of the login protocol.
public struct LoginAnswer: Hashable, Sendable, CustomStringConvertible {
    /// The bytes of a response.
    public static let count = 32

    private let verdict: UInt8
    private let reason: UInt8
    private let wait: UInt32

    /// Reads a response; `nil` if it is malformed.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.count, bytes.starts(with: Array("WWR1".utf8)),
            bytes.dropFirst(10).allSatisfy({ $0 == 0 })
        else { return nil }
        verdict = bytes[4]
        reason = bytes[5]
        wait = bytes[6..<10].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The verdict, its reason and the wait in seconds, as far as there are any.
    public var description: String {
        let verdicts = ["accepted", "denied", "unavailable", "never enrolled", "enrolled"]
        let reasons = ["replayed", "must wait", "locked", "malformed"]
        var text = (1...5).contains(verdict) ? verdicts[Int(verdict) - 1] : "verdict \(verdict)"
        if reason != 0 {
            text += ", " + ((1...4).contains(reason) ? reasons[Int(reason) - 1] : "\(reason)")
        }
        return wait == 0 ? text : text + " \(wait)"
    }
}
