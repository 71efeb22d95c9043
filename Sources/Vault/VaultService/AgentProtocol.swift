package import WatchwordSystem

// The protocol between `watchword` and its agent, in frames (see `IncomingFrame`).
//
// watchword → agent, each: the version (one byte) and a request
// agent → watchword, each: a response
//
// The agent answers each request with one response. Before that, the agent may send messages and
// questions of the system's PAM modules, and a TPM's request for a PIN; the client answers each
// of these.

/// The limits of the protocol.
package enum AgentProtocol {
    /// The version, which is the first byte of each request.
    ///
    /// The version changes whenever an encoding changes; a test compares a digest of samples.
    package static let version: UInt8 = 12
    /// The maximum size of a request in bytes, unless it contains a change of the vault.
    package static let largestRequest = 64 << 10
    /// The maximum size in bytes of a request that contains a change of the vault, or a vault.
    package static let largestEdit = 64 << 20

    /// The requests that may exceed ``largestRequest``.
    ///
    /// - Parameter isAdmitted: whether a request that begins with these bytes, and has this size,
    ///   is read.
    package static func largeRequests(
        where isAdmitted: @escaping @Sendable (Span<UInt8>, Int) -> Bool
    ) -> IncomingFrame.LargeFrames {
        IncomingFrame.LargeFrames(limit: largestEdit) { beginning, size in
            AgentRequest.isEdit(beginning) && isAdmitted(beginning, size)
        }
    }

    /// The maximum size in bytes of the answer to a module's question.
    package static let largestAnswer = 4096
    /// The maximum size of a response in bytes.
    static let largestResponse = 64 << 20
    /// How long sending or receiving one frame may take.
    package static let frameTimeout = Duration.seconds(10)
    /// The same limit while the agent reserves memory for the frame, because other requests wait
    /// for this memory.
    package static let turnTimeout = Duration.seconds(4)
    /// The name of the agent's socket in the runtime folder.
    package static let socketName = "agent.sock"
    /// The name of the file that a running agent locks.
    package static let lockName = "agent.lock"
}

/// The limits on how long the agent holds a vault.
package struct HoldingTime: Hashable, Sendable {
    /// How long a vault is held after the last use of a secret.
    package let idle: Duration
    /// How long a vault is held in total.
    package let total: Duration

    /// 15 minutes after the last use, and at most 8 hours.
    package static let standard = HoldingTime(idle: .seconds(15 * 60), total: .seconds(8 * 3600))

    /// The longest time that can be set: one week.
    package static let longest = Duration.seconds(7 * 24 * 3600)

    package init(idle: Duration, total: Duration) {
        self.idle = idle
        self.total = total
    }
}

extension HoldingTime: Transferable {
    package func write(to output: FrameWriter) { output.append(idle, total) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
        let allowed = Duration.seconds(1)...HoldingTime.longest
        guard allowed.contains(idle), allowed.contains(total) else { throw Unreadable() }
    }
}

extension Duration {
    /// The whole seconds in the duration.
    package var wholeSeconds: Int64 { components.seconds }
}

// A duration of whole seconds.
extension Duration: Transferable {
    package func write(to output: FrameWriter) { output.append(wholeSeconds) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = .seconds(try fields.value(bytes) as Int64)
    }
}
