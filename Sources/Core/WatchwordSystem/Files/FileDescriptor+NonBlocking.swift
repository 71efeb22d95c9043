internal import Glibc

extension FileDescriptor {
    /// The result of a non-blocking read or write.
    public enum Progress: Hashable, Sendable {
        /// This many bytes were transferred.
        case moved(Int)
        /// The call would block.
        case wouldWait
        /// The other side closed the connection.
        case ended
    }

    /// Reads once into the free space; does not wait if the descriptor is non-blocking.
    public func readAvailable(
        into output: inout OutputSpan<UInt8>
    ) throws(SystemCallFailure) -> Progress {
        do throws(SystemCallFailure) {
            let count = try read(into: &output)
            return count == 0 ? .ended : .moved(count)
        } catch {
            guard error.number == EAGAIN else { throw error }
            return .wouldWait
        }
    }

    /// Writes as much as the pipe accepts in one call; a closed read end is reported as
    /// ``Progress/ended``, not by `SIGPIPE`.
    public func writeAvailable(_ bytes: Span<UInt8>) throws(SystemCallFailure) -> Progress {
        let (result, failure) = withoutPipeSignal {
            unsafe bytes.withUnsafeBytes { bytes in
                let result = retrying { unsafe write(number, bytes.baseAddress, bytes.count) }
                return (result, errno)
            }
        }
        guard result < 0 else { return .moved(result) }
        switch failure {
        case EAGAIN: return .wouldWait
        case EPIPE: return .ended
        default: throw SystemCallFailure(call: "write", number: failure)
        }
    }
}

/// Blocks `SIGPIPE` in this thread during `body`, and discards the signal that `body` causes.
///
/// How the program handles `SIGPIPE` for its own standard output is not affected.
private func withoutPipeSignal<Result>(_ body: () -> Result) -> Result {
    var pipeSignal = sigset_t()
    var before = sigset_t()
    var pending = sigset_t()
    unsafe sigemptyset(&pipeSignal)
    unsafe sigaddset(&pipeSignal, SIGPIPE)
    unsafe sigpending(&pending)
    // Do not discard a signal that was already pending.
    guard unsafe sigismember(&pending, SIGPIPE) == 0 else { return body() }
    unsafe pthread_sigmask(SIG_BLOCK, &pipeSignal, &before)
    let result = body()
    var now = timespec(tv_sec: 0, tv_nsec: 0)
    while unsafe sigtimedwait(&pipeSignal, nil, &now) == -1 && errno == EINTR {}
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    return result
}
