internal import Glibc

/// A failed system call: its name and its error number, never its arguments.
public struct SystemCallFailure: Error, Hashable, Sendable {
    /// The call's name as in its manual page.
    public let call: String
    /// The error number (`errno`).
    public let number: Int32

    /// Combines the name of a call and its error number.
    public init(call: String, number: Int32) {
        self.call = call
        self.number = number
    }

    /// The C library's description of the number, such as “No space left on device”.
    public var reason: String { unsafe String(cString: strerror(number)) }
}

// What it means for a file.
extension SystemCallFailure {
    /// Whether the file does not exist.
    public var isMissingFile: Bool { number == ENOENT }

    /// Whether nothing exists at the path, or part of the path is not a folder.
    public var isMissing: Bool { number == ENOENT || number == ENOTDIR }

    /// Whether the read end of a pipe is closed.
    public var isBrokenPipe: Bool { number == EPIPE }

    /// Whether this user lacks permission.
    public var isPermissionDenied: Bool { number == EACCES || number == EPERM }

    /// Whether the location is not writable: a read-only file system, or no permission.
    public var isWriteForbidden: Bool { number == EROFS || isPermissionDenied }

    /// Whether the user refused.
    public var isCancelled: Bool { number == ECANCELED }

    /// Whether the file is a folder.
    public var isDirectory: Bool { number == EISDIR }

    /// Whether the name is already in use.
    public var isAlreadyExists: Bool { number == EEXIST }

    // The errors that file systems without hard links return.
    var isLinkUnsupported: Bool { [EPERM, ENOSYS, EOPNOTSUPP, EMLINK].contains(number) }

    // The errors that file systems and kernels return if they cannot exchange two names.
    var isExchangeUnsupported: Bool { [EINVAL, EPERM, ENOSYS, EOPNOTSUPP].contains(number) }

    /// Whether the name to be opened belongs to a folder, a symbolic link or a socket.
    public var isNotRegularFile: Bool { [EISDIR, ELOOP, ENXIO].contains(number) }
}

extension SystemCallFailure {
    /// The result of `call`; `nil` if it fails with an expected failure.
    @discardableResult package static func nilIf<Result: ~Copyable>(
        _ isExpected: (SystemCallFailure) -> Bool,
        _ call: @autoclosure () throws(SystemCallFailure) -> Result
    ) throws(SystemCallFailure) -> Result? {
        do { return try call() } catch {
            guard isExpected(error) else { throw error }
            return nil
        }
    }
}

/// An error that a failed system call can become.
package protocol SystemCallError: Error {
    static func system(_ failure: SystemCallFailure) -> Self
}

extension SystemCallError {
    /// Converts the failure of a system call.
    @discardableResult package static func system<Result: ~Copyable>(
        in call: @autoclosure () throws(SystemCallFailure) -> Result
    ) throws(Self) -> Result {
        do { return try call() } catch { throw .system(error) }
    }
}

/// Runs a system call, which returns -1 and sets `errno` if it fails.
///
/// - Parameters:
///   - name: the call's name as in its manual page.
///   - retrying: whether to repeat the call when a signal interrupts it.
/// - Returns: what the call returned.
@discardableResult package func call<Result: SignedInteger>(
    _ name: String, retrying: Bool = false, _ body: () -> Result
) throws(SystemCallFailure) -> Result {
    while true {
        let result = body()
        guard result == -1 else { return result }
        let number = errno
        guard retrying, number == EINTR else { throw SystemCallFailure(call: name, number: number) }
    }
}

/// Runs a call that returns an error number, or 0 if it succeeds, and does not set `errno`.
func callReturningErrorNumber(_ name: String, _ body: () -> Int32) throws(SystemCallFailure) {
    let number = body()
    guard number == 0 else { throw SystemCallFailure(call: name, number: number) }
}

/// Repeats a system call until no signal interrupts it.
package func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

/// The result of `work`, or `nil` if it fails.
///
/// Use it only where the reason of a failure does not matter: where invalid input is treated as
/// absent, or where a failure must not stop anything else, as with a record that is only used to
/// sort a list.
package func ifPossible<Result: ~Copyable>(
    _ work: @autoclosure () throws -> Result
) -> Result? {
    do { return try work() } catch { return nil }
}

/// The result of `work`; whatever error it throws, `replacement` is thrown instead.
///
/// Use it where the reason of a failure does not matter, such as for data that must have a certain
/// form.
package func replacingErrors<Result, Replacement: Error>(
    of work: @autoclosure () throws -> Result, with replacement: Replacement
) throws(Replacement) -> Result {
    do { return try work() } catch { throw replacement }
}
