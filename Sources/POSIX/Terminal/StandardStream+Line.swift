internal import Glibc

extension StandardStream {
    /// Reads up to and including the line ending, up to the end of the stream, or until there is no
    /// free space.
    ///
    /// It reads byte by byte, because the data after the line is for another reader, and may never
    /// end.
    public func readLine(into output: inout OutputSpan<UInt8>) throws(SystemCallFailure) {
        var byte: UInt8 = 0
        // It may have been the last letter of a passphrase.
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
