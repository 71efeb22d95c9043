import Courier
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography

@testable import DeviceLogin

/// Comparing two copies of an enrolment, as a merge does.
@Suite struct EnrolledOrderTests {
    private func form(_ device: Device) throws -> SecretBytes { try device.state().form() }

    @Test("of two states of one enrolment, the later one is newer")
    func order() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        var forms = [try form(device)]
        for _ in 0..<2 {
            // A secret was presented without a response, then with a response.
            server.faults = [.requestLost]
            #expect(throws: DeviceLoginError.self) { try device.signIn(&server) }
            forms.append(try form(device))
            _ = try device.signIn(&server)
            forms.append(try form(device))
        }
        for (place, first) in forms.enumerated() {
            for (other, second) in forms.enumerated() {
                let expected: EnrolledOrder =
                    place == other ? .same : place > other ? .first : .second
                #expect(EnrolledSecret.order(of: first, second) == expected)
            }
        }
    }

    @Test("two copies that were presented independently are forked; unreadable text is unrelated")
    func forked() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        let common = try device.folder.bytes(of: "vault")
        var copies: [SecretBytes] = []
        for _ in 0..<2 {
            let copy = try Device()
            try copy.folder.write(common, to: "vault")
            try setMode(0o600, of: copy.path)
            var unreachable = TestServer()
            unreachable.faults = [.requestLost]
            #expect(throws: DeviceLoginError.self) { try copy.signIn(&unreachable) }
            copies.append(try form(copy))
        }
        #expect(EnrolledSecret.order(of: copies[0], copies[1]) == .forked)
        #expect(EnrolledSecret.order(of: copies[0], copies[0]) == .same)
        let other = SecretBytes(text: "not an enrolment")
        #expect(EnrolledSecret.order(of: copies[0], other) == .unrelated)
    }

    @Test("a secret that was marked stale is not presented until the device is enrolled again")
    func markedStale() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        _ = try device.signIn(&server)
        try EnrolledSecret.markStale(form(device), in: device.unlock())
        #expect(throws: DeviceLoginError.stale) { try device.signIn(&server) }
        #expect(server.arrived.count == 1)
        server.credential = "cr_second"
        try device.enrol(&server, ticket: SecretBytes(text: "wwt_second"))
        _ = try device.signIn(&server)
        #expect(server.row.wiped == nil)
    }
}
