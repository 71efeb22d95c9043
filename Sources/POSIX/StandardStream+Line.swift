internal import Glibc

extension StandardStream {
    /// Reads up to the end of the line, which is kept, or to the end of the stream, or until no room is left.
    ///
    /// Byte by byte: what follows the line is somebody else's to read, and may never end.
    public func readLine(into output: inout OutputSpan<UInt8>) throws(SystemCallFailure) {
        var byte: UInt8 = 0
        // It may have been a passphrase's last letter.
        defer { byte = 0 }
        while output.freeCapacity > 0 {
            let count = retrying { unsafe Glibc.read(rawValue, &byte, 1) }
            guard count >= 0 else { throw SystemCallFailure(call: "read", number: errno) }
            guard count == 1 else { return }
            output.append(byte)
            if byte == UInt8(ascii: "\n") { return }
        }
    }
}
