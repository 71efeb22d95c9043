internal import Foundation

/// A TPM in software (`swtpm`) on this machine.
public final class EmulatedTPM {
    /// Why the emulator cannot be used.
    public enum Failure: Error {
        case missing
        case notStarted
        case noResponse
    }

    /// Whether the emulator is installed.
    public static let isInstalled = ForeignProgram("swtpm") != nil

    /// The port of the TPM on 127.0.0.1; its control port is the next port.
    public let port: UInt16
    private let process: Process
    private let state: TemporaryFolder

    /// Whether emulated TPMs can have a certificate.
    public static let canHaveCertificate =
        isInstalled
        && ["swtpm_setup", "swtpm_localca", "certtool"].allSatisfy { ForeignProgram($0) != nil }

    /// Starts a new TPM, which has its own seeds.
    ///
    /// - Parameters:
    ///   - hasCertificate: whether a maker, which exists only for this TPM, has certified its
    ///     endorsement key.
    ///   - other: a TPM whose seeds the new TPM has instead.
    public init(hasCertificate: Bool = false, copying other: EmulatedTPM? = nil) throws {
        guard let program = ForeignProgram("swtpm") else { throw Failure.missing }
        state = try TemporaryFolder()
        if let other {
            let name = "tpm2-00.permall"
            _ = try state.write(other.state.bytes(of: name), to: name)
        }
        if hasCertificate { try EmulatedTPM.certify(in: state) }
        for _ in 0..<20 {
            let port = try FreePort.find(2)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: program.path)
            process.arguments = [
                "socket", "--tpm2", "--tpmstate", "dir=\(state.path)",
                "--server", "type=tcp,port=\(port),bindaddr=127.0.0.1",
                "--ctrl", "type=tcp,port=\(port + 1),bindaddr=127.0.0.1",
                "--flags", "not-need-init,startup-clear",
            ]
            process.standardError = FileHandle.nullDevice
            try process.start()
            if try EmulatedTPM.isListening(process, on: port) {
                self.port = port
                self.process = process
                return
            }
        }
        throw Failure.notStarted
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The file with the certificate of the TPM's maker, if it has one.
    public var makersCertificate: String { state.file("ca/issuercert.pem") }

    /// Makes a maker, and the state of a TPM with the maker's certificate.
    private static func certify(in state: TemporaryFolder) throws {
        let folder = state.file("ca")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        for (name, lines) in [
            (
                "setup.conf",
                [
                    "create_certs_tool=\(ForeignProgram("swtpm_localca")?.path ?? "")",
                    "create_certs_tool_config=\(state.file("ca.conf"))",
                    "create_certs_tool_options=\(state.file("ca.options"))",
                    "active_pcr_banks = sha256",
                ]
            ),
            (
                "ca.conf",
                [
                    "statedir = \(folder)", "signingkey = \(folder)/signkey.pem",
                    "issuercert = \(folder)/issuercert.pem", "certserial = \(folder)/serial",
                ]
            ),
            (
                "ca.options",
                [
                    "--platform-manufacturer Example", "--platform-version 1",
                    "--platform-model emulated",
                ]
            ),
        ] {
            let text = lines.joined(separator: "\n") + "\n"
            _ = try state.write(Array(text.utf8), to: name)
        }
        guard let program = ForeignProgram("swtpm_setup") else { throw Failure.missing }
        let outcome = try program.run([
            "--tpm2", "--tpmstate", state.path, "--create-ek-cert", "--overwrite", "--config",
            state.file("setup.conf"),
        ])
        guard outcome.status == 0 else { throw Failure.notStarted }
    }

    /// The TPM's address for `watchword --tpm`.
    public var address: String { "swtpm:host=127.0.0.1,port=\(port)" }

    /// Waits until the TPM accepts connections; `false` if it ends instead, because another program
    /// has taken one of its ports in the meantime.
    private static func isListening(_ process: Process, on port: UInt16) throws -> Bool {
        // Not a performance requirement: this only ends a test that would otherwise hang.
        let end = ContinuousClock.now + .seconds(60)
        while process.isRunning, .now < end {
            // The port of the controls is opened first.
            if try LoopbackSocket.connected(to: port) != nil { return process.isRunning }
            usleep(10_000)
        }
        guard !process.isRunning else { throw Failure.notStarted }
        return false
    }

    /// Adds a measurement to PCR 7, as a change to Secure Boot does (TPM 2.0 Library, Part 3,
    /// `TPM2_PCR_Extend`).
    public func extendPCR7() throws {
        let digest = [0, 0, 0, 1, 0, 0x0b] + [UInt8](repeating: 7, count: 32)
        try command([0, 0, 1, 0x82], handle: [0, 0, 0, 7], digest)
    }

    /// Gives the TPM new seeds, as its owner does before selling the computer (`TPM2_Clear`).
    public func clear() throws {
        try command([0, 0, 1, 0x26], handle: [0x40, 0, 0, 0x0a], [])
    }

    /// Sends a command for a handle that has an empty password.
    private func command(_ code: [UInt8], handle: [UInt8], _ parameters: [UInt8]) throws {
        let password: [UInt8] = [0, 0, 0, 9, 0x40, 0, 0, 9, 0, 0, 0, 0, 0]
        let body = code + handle + password + parameters
        let size = UInt8(6 + body.count)
        let response = try send([0x80, 2, 0, 0, 0, size] + body)
        guard response.count > 10, response[6..<10].allSatisfy({ $0 == 0 }) else {
            throw Failure.noResponse
        }
    }

    private func send(_ command: [UInt8]) throws -> [UInt8] {
        guard let connection = try LoopbackSocket.connected(to: port),
            connection.send(command[...]), let response = connection.receive()
        else { throw Failure.noResponse }
        return response
    }
}
