@testable import Devices
import WatchwordSystem

/// Parses the bytes as a frame in each direction between `watchword` and `watchword-token`; an accepted
/// frame must be written back byte for byte.
func fuzzToken(_ bytes: [UInt8]) {
    if let request = TokenRequest(parsing: bytes.span) {
        expect(bytes, from: request.encode)
    }
    if let message = TokenMessage(parsing: bytes.span) {
        // A message is written with its length.
        let length = (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) }
        expect(length + bytes, from: message.encode)
    }
}

private func expect(_ bytes: [UInt8], from encode: (WipedBuffer) -> Void) {
    do {
        let buffer = try WipedBuffer(capacity: bytes.count)
        encode(buffer)
        buffer.withBytes { again in
            precondition(again.count == bytes.count, "there is only one form")
            for index in bytes.indices {
                precondition(again[index] == bytes[index], "there is only one form")
            }
        }
    } catch {
        preconditionFailure("no memory for a frame")
    }
}
