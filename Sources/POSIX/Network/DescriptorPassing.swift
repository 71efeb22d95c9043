internal import CLinux
internal import Glibc

/// One byte from another process of this machine, and the open file that came with it.
public struct ReceivedFile: ~Copyable {
    /// What the sender says with it.
    public let byte: UInt8
    private let file: FileDescriptor?

    fileprivate init(byte: UInt8, file: consuming FileDescriptor?) {
        self.byte = byte
        self.file = file
    }

    /// The open file; `nil` if only a byte was sent.
    public consuming func takeFile() -> FileDescriptor? { file }
}

// Sending open files to another process over a local socket (SCM_RIGHTS).
extension FileDescriptor {
    /// Sends one byte.
    public func send(_ byte: UInt8) throws(SystemCallFailure) {
        guard linux_send_file(number, byte, -1) == 0 else {
            throw SystemCallFailure(call: "sendmsg", number: errno)
        }
    }

    /// Sends one byte and an open file, which stays open here.
    public func send(
        _ byte: UInt8, with file: borrowing FileDescriptor
    ) throws(SystemCallFailure) {
        guard linux_send_file(number, byte, file.number) == 0 else {
            throw SystemCallFailure(call: "sendmsg", number: errno)
        }
    }

    /// Receives one byte, and the open file that came with it.
    ///
    /// - Returns: `nil` if the other side closed the connection.
    public func receiveFile() throws(SystemCallFailure) -> ReceivedFile? {
        var byte: UInt8 = 0
        var file: Int32 = -1
        let received = unsafe linux_receive_file(number, &byte, &file)
        guard received >= 0 else { throw SystemCallFailure(call: "recvmsg", number: errno) }
        guard received > 0 else { return nil }
        return ReceivedFile(byte: byte, file: file < 0 ? nil : FileDescriptor(owning: file))
    }
}
