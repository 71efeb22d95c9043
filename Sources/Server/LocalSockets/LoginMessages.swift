package import WatchwordCryptography
internal import WatchwordSystem

/// A request on a socket for logins; LoginProtocol.md describes its bytes.
package struct LoginRequest: Sendable {
    /// The question about the user.
    package enum Operation: Sendable {
        /// Whether this code of 1 to 64 bytes is correct for the user.
        case verify(SecretBytes)
        /// Whether the user ever had a second factor.
        case status
    }

    package let operation: Operation
    /// Whether the response may contain the reason for a denial.
    package let wantsReasons: Bool
    /// The name of the PAM service; empty if unknown.
    package let service: String
    /// The name of a local account; `nil` if it is not UTF-8, and therefore no account has it.
    package let user: String?
    /// The host from which the person signs in; empty if unknown.
    package let remoteHost: String

    /// The size of every request in bytes.
    package static let count = 512

    private static let magic = "WWP1"
    private static let serviceField = TextField(offset: 6, capacity: 32)
    private static let userField = TextField(offset: 39, capacity: 128)
    private static let remoteHostField = TextField(offset: 168, capacity: 128)
    private static let codeField = TextField(offset: 297, capacity: 64)

    /// Reads a request; `nil` if it is malformed in any way.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.count, bytes.holds(Self.magic, at: 0), bytes[5] <= 1,
            let service = Self.serviceField.range(in: bytes),
            let user = Self.userField.range(in: bytes), !user.isEmpty,
            let remoteHost = Self.remoteHostField.range(in: bytes),
            let code = Self.codeField.range(in: bytes),
            bytes.areZero(Self.codeField.end..<Self.count),
            service.allSatisfy({ (0x21...0x7E).contains(bytes[$0]) }),
            remoteHost.allSatisfy({ (0x21...0x7E).contains(bytes[$0]) }),
            user.allSatisfy({ bytes[$0] >= 0x20 && bytes[$0] != 0x7F })
        else { return nil }
        let operation: Operation
        switch (bytes[4], code.isEmpty) {
        case (1, false): operation = .verify(SecretBytes(copying: bytes.extracting(code)))
        case (2, true): operation = .status
        default: return nil
        }
        self.operation = operation
        wantsReasons = bytes[5] == 1
        self.service = String(decoding: bytes.array(service), as: UTF8.self)
        self.user = String(validating: bytes.array(user), as: UTF8.self)
        self.remoteHost = String(decoding: bytes.array(remoteHost), as: UTF8.self)
    }
}

/// The response to a ``LoginRequest``; LoginProtocol.md describes its bytes.
package enum LoginResponse: Hashable, Sendable {
    /// The code is correct, and is spent.
    case accepted
    /// The code is denied; the reason is included only if the asker may learn it.
    case denied(Reason?)
    /// The server could not decide.
    case unavailable
    /// The user never had a confirmed credential.
    case neverEnrolled
    /// The user has or had a confirmed credential, in any state.
    case enrolled

    /// Why a code is denied.
    package enum Reason: Hashable, Sendable {
        case replayed
        /// The next code is checked after at least this many seconds; never 0.
        case mustWait(seconds: UInt32)
        /// The credential is disabled.
        case locked
        /// The text does not have the form of a code.
        case malformed
    }

    /// The size of every response in bytes.
    package static let count = 32

    private static let magic = "WWR1"

    package var bytes: [UInt8] {
        var wait: UInt32 = 0
        if case .denied(.mustWait(let seconds)) = self { wait = max(seconds, 1) }
        let start = Array(Self.magic.utf8) + [verdict, reason] + wait.littleEndianBytes.reversed()
        return start + [UInt8](repeating: 0, count: Self.count - start.count)
    }

    private var verdict: UInt8 {
        switch self {
        case .accepted: 1
        case .denied: 2
        case .unavailable: 3
        case .neverEnrolled: 4
        case .enrolled: 5
        }
    }

    private var reason: UInt8 {
        guard case .denied(let reason?) = self else { return 0 }
        return switch reason {
        case .replayed: 1
        case .mustWait: 2
        case .locked: 3
        case .malformed: 4
        }
    }
}

/// A text in a message: its length in one byte, and a field of fixed size.
private struct TextField {
    /// The offset of the length.
    let offset: Int
    /// The size of the field.
    let capacity: Int

    /// The offset after the field.
    var end: Int { offset + 1 + capacity }

    /// The range of the text; `nil` if it is too long, or if the bytes after it are not zero.
    func range(in message: Span<UInt8>) -> Range<Int>? {
        let start = offset + 1
        let behind = start + Int(message[offset])
        guard behind <= end, message.areZero(behind..<end) else { return nil }
        return start..<behind
    }
}

extension Span<UInt8> {
    fileprivate func areZero(_ range: Range<Int>) -> Bool { range.allSatisfy { self[$0] == 0 } }

    fileprivate func array(_ range: Range<Int>) -> [UInt8] { range.map { self[$0] } }
}
