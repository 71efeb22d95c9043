internal import Glibc

extension FileDescriptor {
    /// What came of reading or writing without waiting.
    public enum Progress: Hashable, Sendable {
        /// This many bytes went over.
        case moved(Int)
        /// Nothing can be had, or taken, before a wait.
        case wouldWait
        /// The other side has closed.
        case ended
    }

    /// Reads once into the room that is left, without waiting where the descriptor does not block.
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

    /// Writes once what the pipe takes; a reader that has gone is told as an ending, not by `SIGPIPE`.
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

/// Holds `SIGPIPE` back from this thread during `body`, and forgets the one that `body` brought about.
///
/// What the program does about its own standard output's reader going away is left as it is.
private func withoutPipeSignal<Result>(_ body: () -> Result) -> Result {
    var pipeSignal = sigset_t()
    var before = sigset_t()
    var pending = sigset_t()
    unsafe sigemptyset(&pipeSignal)
    unsafe sigaddset(&pipeSignal, SIGPIPE)
    unsafe sigpending(&pending)
    // One that was waiting already is not ours to forget.
    guard unsafe sigismember(&pending, SIGPIPE) == 0 else { return body() }
    unsafe pthread_sigmask(SIG_BLOCK, &pipeSignal, &before)
    let result = body()
    var now = timespec(tv_sec: 0, tv_nsec: 0)
    while unsafe sigtimedwait(&pipeSignal, nil, &now) == -1 && errno == EINTR {}
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    return result
}
