import Courier
import TestSupport
import Testing
import WatchwordCryptography

@testable import DeviceLogin

@Suite struct EnrolledSecretTests {
    /// A device without a vault.
    ///
    /// Its stored record is all that survives a kill.
    struct Bare {
        var disk: SecretBytes

        /// Runs one login, and kills it after `steps` steps unless it finishes first.
        ///
        /// Returns whether it finished.
        mutating func run(_ server: inout TestServer, steps: Int) throws -> Bool {
            var left = steps
            for _ in 0..<3 {
                let state = try #require(EnrolledSecret(reading: disk))
                let (presentation, written) = state.presentation(
                    with: RotationNonce.random(), now: 1)
                if left == 0 { return false }
                if let written { disk = written.form() }
                left -= 1
                if left == 0 { return false }
                let login = HelperRequest.Login(
                    credential: state.credential, secret: presentation.secret,
                    nonce: presentation.nonce)
                let key = EnrolledLogin.key(of: "login", login.secret, login.nonce.bytes)
                let request = HelperRequest(
                    server: state.server, idempotencyKey: key,
                    operation: .login(login))
                let answer: HelperResponse
                do { answer = try server.send(request) } catch { return false }
                left -= 1
                if left == 0 { return false }
                let kept = written ?? state
                guard
                    case .signedIn(let next, _) = kept.consequence(
                        of: answer, to: presentation, now: 2)
                else { throw Refused() }
                disk = next.form()
                left -= 1
                if !presentation.isRepeated { return true }
            }
            return false
        }
    }

    struct Refused: Error {}

    @Test("a device key that waits to replace the secret is kept through every step")
    func waitingKey() throws {
        var (device, server) = try enrolled()
        let plain = device.disk
        let key = SecretBytes(text: "the stored form of a key")
        var state = try #require(EnrolledSecret(reading: device.disk))
        state.next = key
        device.disk = state.form()
        for steps in [1, 2, 3, 10, 10] {
            _ = try device.run(&server, steps: steps)
            let read = try #require(EnrolledSecret(reading: device.disk))
            #expect(read.next.map { $0 == key } == true, "\(steps)")
            #expect(read.form() == device.disk)
        }
        state.next = nil
        #expect(state.form() == plain)
        // No other bytes may follow.
        let bytes = plain.known
        for rest in [[0], [0, 0, 0, 0], [0, 0, 0, 2, 1], [0, 0, 0, 1, 1, 0]] as [[UInt8]] {
            #expect(EnrolledSecret(reading: SecretBytes(copying: (bytes + rest).span)) == nil)
        }
    }

    private func enrolled() throws -> (Bare, TestServer) {
        let state = EnrolledSecret(
            server: TrustedServer(
                try #require(ServerAddress("https://login.example")), authorities: [1, 2, 3]),
            credential: try #require(Token("cr_a")),
            handed: HelperResponse.NextSecret(secret: SecretBytes(text: "wws_0"), generation: 0),
            now: 7)
        return (Bare(disk: state.form()), TestServer())
    }

    @Test("R-06 the owner can still sign in after ten thousand random faults and kills")
    func faults() throws {
        var (device, server) = try enrolled()
        var generator = SystemRandomNumberGenerator()
        for round in 0..<10_000 {
            let fault = TestServer.Fault.allCases.randomElement(using: &generator)
            server.faults = [fault ?? .none]
            let steps = Int.random(in: 0...8, using: &generator)
            _ = try device.run(&server, steps: steps)
            if round.isMultiple(of: 7) {
                server.faults = []
                #expect(
                    try device.run(&server, steps: .max), "\(String(describing: fault)), \(steps)")
            }
            try #require(server.row.wiped == nil)
        }
    }

    @Test("R-07 a copy of the secret, made at any time, is detected once both holders have used it")
    func fork() throws {
        for fork in 0..<6 {
            for isThiefFirst in [true, false] {
                var (device, server) = try enrolled()
                for _ in 0..<fork { #expect(try device.run(&server, steps: .max)) }
                var thief = device
                // The server accepts the first holder, and denies both once the second holder has
                // appeared.
                if isThiefFirst { swap(&device, &thief) }
                #expect(try device.run(&server, steps: .max))
                #expect(throws: Refused.self) { try thief.run(&server, steps: .max) }
                #expect(server.row.wiped == .reuseDetected)
                #expect(throws: Refused.self) { try device.run(&server, steps: .max) }
            }
        }
    }

    @Test("the stored form decodes unchanged in each state")
    func roundTrip() throws {
        var (device, server) = try enrolled()
        for steps in [0, 1, .max, 1, .max, .max] {
            _ = try device.run(&server, steps: steps)
            let state = try #require(EnrolledSecret(reading: device.disk))
            #expect(state.form() == device.disk)
            #expect(state.server.address.text == "https://login.example")
            #expect(state.server.authorities == [1, 2, 3])
        }
    }

    @Test("a stored form that is truncated, too long or of a different version is refused")
    func spoiled() throws {
        var (device, server) = try enrolled()
        _ = try device.run(&server, steps: .max)
        let bytes = device.disk.known
        for count in bytes.indices { try refuse(Array(bytes.prefix(count))) }
        try refuse(bytes + [0])
        try refuse([2] + bytes.dropFirst())
        // A secret that is not a token.
        let text = Array("wws_0".utf8)
        let place = try #require(
            bytes.indices.first { bytes[$0...].starts(with: text) })
        var spaced = bytes
        spaced[place] = UInt8(ascii: " ")
        try refuse(spaced)
    }

    private func refuse(_ bytes: [UInt8]) throws {
        #expect(EnrolledSecret(reading: SecretBytes(copying: bytes.span)) == nil)
    }
}
