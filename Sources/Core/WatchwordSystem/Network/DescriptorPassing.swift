internal import CLinux
internal import Glibc

/// One byte from another process of this machine, and the open files that came with it.
public struct ReceivedFile: ~Copyable {
    /// What the sender says with it.
    public let byte: UInt8
    private let first: FileDescriptor?
    private let second: FileDescriptor?

    fileprivate init(
        byte: UInt8, first: consuming FileDescriptor?, second: consuming FileDescriptor?
    ) {
        self.byte = byte
        self.first = first
        self.second = second
    }

    /// The open file; `nil` if only a byte was sent.
    public consuming func takeFile() -> FileDescriptor? { first }

    /// The two open files; `nil` if fewer were sent.
    public consuming func takeFiles() -> FilePair? {
        guard let first, let second else { return nil }
        return FilePair(first: first, second: second)
    }
}

/// Two open files.
public struct FilePair: ~Copyable, Sendable {
    /// The one that was sent first.
    public let first: FileDescriptor
    /// The other one.
    public let second: FileDescriptor
}

// Sending open files to another process over a local socket (SCM_RIGHTS).
extension FileDescriptor {
    /// Sends one byte.
    public func send(_ byte: UInt8) throws(SystemCallFailure) {
        try send(byte, with: [])
    }

    /// Sends one byte and an open file, which stays open here.
    public func send(
        _ byte: UInt8, with file: borrowing FileDescriptor
    ) throws(SystemCallFailure) {
        try send(byte, with: [file.number])
    }

    /// Sends one byte and two open files, which stay open here, in one message.
    public func send(
        _ byte: UInt8, with first: borrowing FileDescriptor, _ second: borrowing FileDescriptor
    ) throws(SystemCallFailure) {
        try send(byte, with: [first.number, second.number])
    }

    private func send(_ byte: UInt8, with files: [Int32]) throws(SystemCallFailure) {
        try call("sendmsg") { unsafe linux_send_files(number, byte, files, Int32(files.count)) }
    }

    /// Receives one byte, and the open files that came with it.
    ///
    /// - Returns: `nil` if the other side closed the connection.
    public func receiveFile() throws(SystemCallFailure) -> ReceivedFile? {
        var byte: UInt8 = 0
        var files = [Int32](repeating: -1, count: Int(LINUX_MOST_FILES))
        let received = unsafe linux_receive_files(number, &byte, &files)
        let number = errno
        func file(_ index: Int) -> FileDescriptor? {
            files[index] < 0 ? nil : FileDescriptor(owning: files[index])
        }
        guard received >= 0 else { throw SystemCallFailure(call: "recvmsg", number: number) }
        guard received > 0 else { return nil }
        return ReceivedFile(byte: byte, first: file(0), second: file(1))
    }
}
