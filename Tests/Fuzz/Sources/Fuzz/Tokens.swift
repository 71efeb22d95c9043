@testable import Devices

/// Parses the bytes as a frame in each direction between `watchword` and `watchword-token`, and
/// between it and `watchword-presence`; an accepted frame must be written back byte for byte.
func fuzzToken(_ bytes: [UInt8]) {
    expectOneForm(TokenRequest.self, bytes)
    expectOneForm(TokenMessage.self, bytes)
    expectOneForm(ModuleFrame.self, bytes)
    expectOneForm(EnrolledFingers?.self, bytes)
}
