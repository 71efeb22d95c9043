package import WatchwordSystem

/// The system modules' verdict on the person.
public enum ModuleVerdict: Hashable, Sendable {
    /// The person was recognised, and the account may be used.
    case granted
    /// The person was not recognised.
    case denied
    /// There is no service file, so there are no modules to ask.
    case noServiceFile
    /// The user of this process has no name.
    case noUserName
    /// The person was recognised, but the account is locked or has expired.
    case accountRefused(PAMCallFailure)
    /// No module could decide.
    case failed(PAMCallFailure)
}

extension ModuleVerdict: Transferable {
    private enum Kind: UInt8, Transferable {
        case granted, denied, noServiceFile, noUserName, accountRefused, failed
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .granted: output.append(Kind.granted)
        case .denied: output.append(Kind.denied)
        case .noServiceFile: output.append(Kind.noServiceFile)
        case .noUserName: output.append(Kind.noUserName)
        case .accountRefused(let failure): output.append(Kind.accountRefused, failure)
        case .failed(let failure): output.append(Kind.failed, failure)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .granted: self = .granted
        case .denied: self = .denied
        case .noServiceFile: self = .noServiceFile
        case .noUserName: self = .noUserName
        case .accountRefused: self = try fields.make(Self.accountRefused, from: bytes)
        case .failed: self = try fields.make(Self.failed, from: bytes)
        }
    }
}

/// A libpam call that failed.
public struct PAMCallFailure: Error, Hashable, Sendable {
    /// The libpam calls that are made.
    public enum Call: String, CaseIterable, Sendable {
        case start = "pam_start"
        case authenticate = "pam_authenticate"
        case validateAccount = "pam_acct_mgmt"
    }

    /// The call.
    public let call: Call
    /// The return code, one of the `PAM_…` constants.
    public let code: UInt8

    /// What the code means.
    public enum Cause: Hashable, Sendable {
        case moduleNotLoaded
        case moduleFailed
        case notPermitted
        /// The module's data or device, or the service that it asks, cannot be reached.
        case unavailable
        case passwordExpired
        case promptFailed
        case gaveUp
        case other
    }

    /// The cause, by Linux-PAM's numbers in `_pam_types.h`.
    public var cause: Cause {
        switch code {
        // PAM_OPEN_ERR, PAM_SYMBOL_ERR, PAM_MODULE_UNKNOWN
        case 1, 2, 28: .moduleNotLoaded
        // PAM_SERVICE_ERR, PAM_SYSTEM_ERR, PAM_BUF_ERR
        case 3, 4, 5: .moduleFailed
        // PAM_CRED_INSUFFICIENT
        case 8: .notPermitted
        // PAM_AUTHINFO_UNAVAIL
        case 9: .unavailable
        // PAM_NEW_AUTHTOK_REQD, PAM_AUTHTOK_EXPIRED
        case 12, 27: .passwordExpired
        // PAM_CONV_ERR, PAM_CONV_AGAIN
        case 19, 30: .promptFailed
        // PAM_ABORT
        case 26: .gaveUp
        default: .other
        }
    }

    /// Records the call that returned `code`.
    public init(call: Call, code: Int32) {
        self.call = call
        self.code = UInt8(clamping: code)
    }
}

extension PAMCallFailure.Call: Transferable {}

extension PAMCallFailure: Transferable {
    package func write(to output: FrameWriter) { output.append(call, code) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        call = try fields.value(bytes)
        code = try fields.value(bytes)
    }
}

// The protocol between `watchword` and `watchword-presence`, in frames (see `IncomingFrame`).
//
// program → watchword, first: ready
// program → watchword, each:  says or asks; after a question, the program waits for the answer
//                             before it sends the next frame
// watchword → program, each:  the bytes that were typed
// program → watchword, last:  verdict
//
// A text is not yet safe to show on a terminal.

/// A frame from the program that runs the system's modules.
enum ModuleFrame: Hashable, Sendable {
    case ready(version: UInt8)
    /// A module has a message for the person.
    case says(String, isError: Bool)
    /// A module has a question for the person.
    case asks(String, isEchoed: Bool)
    case verdict(ModuleVerdict)

    static let version: UInt8 = 2
    /// Bytes of a module's text; the rest is truncated.
    static let longestText = 4096
    /// The maximum size of a frame in bytes: an invalid byte becomes three when it is replaced.
    static let largestFrame = 3 * longestText + 64
    /// Bytes of an answer; PAM's own limit (`PAM_MAX_RESP_SIZE`).
    static let longestAnswer = 512
}

extension ModuleFrame: Transferable {
    private enum Kind: UInt8, Transferable {
        // Other versions of the protocol report their version in the same form.
        case ready = 1
        case says, asks, verdict
    }

    func write(to output: FrameWriter) {
        switch self {
        case .ready(let version): output.append(Kind.ready, version)
        case .says(let text, let isError): output.append(Kind.says, text, isError)
        case .asks(let text, let isEchoed): output.append(Kind.asks, text, isEchoed)
        case .verdict(let verdict): output.append(Kind.verdict, verdict)
        }
    }

    init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .ready: self = try fields.make(Self.ready, from: bytes)
        case .says: self = .says(try fields.moduleText(bytes), isError: try fields.flag(bytes))
        case .asks: self = .asks(try fields.moduleText(bytes), isEchoed: try fields.flag(bytes))
        case .verdict: self = try fields.make(Self.verdict, from: bytes)
        }
    }
}

extension FieldReader {
    fileprivate mutating func moduleText(_ bytes: Span<UInt8>) throws(Unreadable) -> String {
        try text(bytes, limit: 3 * ModuleFrame.longestText)
    }
}

/// A person's answer to a module; wiped when the last reference is released.
public struct ModuleAnswer {
    private let frame: WipedBuffer
    private let text: Range<Int>

    /// The maximum size of a frame in bytes.
    static let largestFrame = 4 + ModuleFrame.longestAnswer

    /// Parses a frame.
    init(parsing frame: WipedBuffer) throws(FieldReader.Unreadable) {
        self.frame = frame
        text = try frame.withBytes { bytes throws(FieldReader.Unreadable) in
            var fields = FieldReader(.bigEndian)
            let text = try fields.string(bytes, limit: ModuleFrame.longestAnswer)
            try fields.finish(bytes)
            return text
        }
    }

    /// Lends the answer.
    public func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        frame.withBytes { body($0.extracting(text)) }
    }
}
