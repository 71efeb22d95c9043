import WatchwordCryptography

@testable import Courier
@testable import DeviceLogin

/// Parses the bytes as a frame in each direction between `watchword` and `watchword-courier`; an
/// accepted frame must be written back byte for byte.
func fuzzCourier(_ bytes: [UInt8]) {
    expectOneForm(HelperRequest.self, bytes)
    expectOneForm(ResponseFrame.self, bytes)
}

/// Parses the bytes as a device key that is stored in a vault; the encoding of an accepted key must
/// be accepted again, with the same content.
func fuzzDeviceKey(_ bytes: [UInt8]) {
    // Refusing the input is correct.
    guard let key = EnrolledKey(reading: SecretBytes(copying: bytes.span)) else { return }
    let written = key.form()
    guard let again = EnrolledKey(reading: written) else {
        preconditionFailure("a device key that we wrote was refused")
    }
    precondition(again.form() == written, "a device key round-trips")
}
