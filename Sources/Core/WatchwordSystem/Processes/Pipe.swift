internal import CLinux
internal import Glibc

/// Both ends of a pipe; neither is inherited by programs that are started later.
struct Pipe: ~Copyable {
    let reading: FileDescriptor
    let writing: FileDescriptor

    init() throws(SystemCallFailure) {
        var ends: (Int32, Int32) = (-1, -1)
        try call("pipe2") { unsafe linux_pipe(&ends.0, &ends.1) }
        let reading = FileDescriptor(owning: ends.0)
        let writing = FileDescriptor(owning: ends.1)
        let clearReading = try reading.aboveStandardStreams()
        let clearWriting = try writing.aboveStandardStreams()
        self.reading = clearReading
        self.writing = clearWriting
    }
}

extension FileDescriptor {
    /// The same open file with a number above 2, in case it was given the number of a closed
    /// standard stream.
    fileprivate consuming func aboveStandardStreams() throws(SystemCallFailure) -> FileDescriptor {
        number > STDERR_FILENO ? self : try duplicate()
    }

    /// Duplicates the descriptor with a number above 2.
    public func duplicate() throws(SystemCallFailure) -> FileDescriptor {
        let copy = try call("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }
        return FileDescriptor(owning: copy)
    }

    /// Sets whether reading and writing block.
    func setBlocking(_ blocks: Bool) throws(SystemCallFailure) {
        let flags = try call("fcntl") { fcntl(number, F_GETFL) }
        let wanted = blocks ? flags & ~O_NONBLOCK : flags | O_NONBLOCK
        try call("fcntl") { fcntl(number, F_SETFL, wanted) }
    }
}
