import WatchwordCryptography
import WatchwordSystem

@testable import Courier
@testable import DeviceLogin

/// Parses the bytes as a frame in each direction between `watchword` and `watchword-courier`; what is
/// written for an accepted frame must be accepted again, with the same content.
func fuzzCourier(_ bytes: [UInt8]) {
    if let request = HelperRequest(parsing: bytes.span) {
        let written = encoded(request, room: bytes.count)
        guard let again = HelperRequest(parsing: written.span) else {
            preconditionFailure("a request that we wrote was refused")
        }
        precondition(encoded(again, room: bytes.count) == written, "a request round-trips")
    }
    if let reply = Reply(parsing: bytes.span) {
        let written = encoded(reply)
        guard let again = Reply(parsing: written.span) else {
            preconditionFailure("a reply that we wrote was refused")
        }
        precondition(encoded(again) == written, "a reply round-trips")
    }
}

/// Parses the bytes as a device key that is stored in a vault; what is written for an accepted one
/// must be accepted again, with the same content.
func fuzzDeviceKey(_ bytes: [UInt8]) {
    do {
        let written = try EnrolledKey(reading: SecretBytes(copying: bytes.span)).form()
        do {
            let again = try EnrolledKey(reading: written)
            precondition(again.form() == written, "a device key round-trips")
        } catch { preconditionFailure("a device key that we wrote was refused") }
    } catch {
        // Refusing the input is correct.
    }
}

private func encoded(_ request: HelperRequest, room: Int) -> [UInt8] {
    do {
        // The normal form of an address may be longer.
        let buffer = try WipedBuffer(capacity: room + 1_024)
        request.encode(into: buffer)
        return content(of: buffer)
    } catch { preconditionFailure("no memory for a frame") }
}

private func encoded(_ reply: Reply) -> [UInt8] {
    do { return content(of: try reply.encoded()) } catch {
        preconditionFailure("no memory for a frame")
    }
}

private func content(of buffer: WipedBuffer) -> [UInt8] {
    buffer.withBytes { bytes in bytes.indices.map { bytes[$0] } }
}
