import CFIDO2
import Devices
import Foundation
import TokenDrivers

/// A `watchword-token` that is connected to a software authenticator.
///
/// The file `authenticator` beside the program sets its properties, one in each line: `seed TEXT`,
/// `pin TEXT`, `retries NUMBER`, `fault NAME`. Without the file, no authenticator is connected.
/// With `second TEXT`, a second authenticator with that seed is connected.
@main struct Program {
    static func main() {
        TokenChannel.run { request, channel throws(TokenFailure) in
            try AuthenticatorProgram.answer(
                request, over: channel, from: SoftwareAuthenticators(reading: settings()))
        }
    }

    private static func settings() -> [String: String]? {
        let path = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appending(path: "authenticator")
        guard let text = try? String(contentsOf: path, encoding: .utf8) else { return nil }
        var settings: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            if words.count == 2 { settings[words[0]] = words[1] }
        }
        return settings
    }
}

/// Authenticators in this process.
private struct SoftwareAuthenticators: AuthenticatorSource {
    /// libfido2's callbacks get only the path and the device, so the authenticators are global.
    nonisolated(unsafe) fileprivate static var all: [SoftwareAuthenticator] = []

    init(reading settings: [String: String]?) {
        guard let settings else { return }
        for seed in [settings["seed"], settings["second"]].compactMap(\.self) {
            unsafe SoftwareAuthenticators.all.append(
                SoftwareAuthenticator(
                    seed: Array(seed.utf8), pin: settings["pin"].map { Array($0.utf8) },
                    retries: settings["retries"].flatMap { Int($0) } ?? 8,
                    fault: settings["fault"].flatMap(SoftwareAuthenticator.Fault.init(rawValue:))
                        ?? .sound))
        }
    }

    func open(_ path: String?) throws(TokenFailure) -> [Authenticator] {
        var opened: [Authenticator] = []
        for number in unsafe SoftwareAuthenticators.all.indices {
            guard let device = unsafe fido_dev_new() else { throw .noDevice }
            var io = unsafe fido_dev_io_t(
                open: { path in
                    let text = unsafe path.map { unsafe String(cString: $0) }
                    return unsafe UnsafeMutableRawPointer(
                        bitPattern: 1 + (text.flatMap { Int($0) } ?? 0))
                },
                close: { _ in }, read: { _, _, _, _ in -1 }, write: { _, _, _ in -1 })
            var transport = unsafe fido_dev_transport_t(rx: receiveResponse, tx: sendMessage)
            guard unsafe fido_dev_set_io_functions(device, &io) == FIDO_OK,
                unsafe fido_dev_set_transport_functions(device, &transport) == FIDO_OK,
                unsafe fido_dev_open(device, String(number)) == FIDO_OK
            else { throw .noDevice }
            opened.append(unsafe Authenticator(owning: device))
        }
        return opened
    }
}

/// The authenticator of a device.
private func authenticator(of device: OpaquePointer?) -> SoftwareAuthenticator? {
    guard let handle = unsafe fido_dev_io_handle(device) else { return nil }
    return unsafe SoftwareAuthenticators.all[Int(bitPattern: handle) - 1]
}

private func receiveResponse(
    _ device: OpaquePointer?, _ command: UInt8, _ buffer: UnsafeMutablePointer<UInt8>?,
    _ count: Int, _ timeout: Int32
) -> Int32 {
    guard let own = unsafe authenticator(of: device), let buffer = unsafe buffer else { return -1 }
    if own.isSilent, command == 0x10 { while true { sleep(60) } }
    let response = own.response
    guard response.command == command, response.bytes.count <= count else { return -1 }
    for (index, byte) in response.bytes.enumerated() { unsafe buffer[index] = byte }
    return Int32(response.bytes.count)
}

private func sendMessage(
    _ device: OpaquePointer?, _ command: UInt8, _ buffer: UnsafePointer<UInt8>?, _ count: Int
) -> Int32 {
    guard let own = unsafe authenticator(of: device) else { return -1 }
    let bytes = unsafe Array(UnsafeBufferPointer(start: buffer, count: count))
    own.receive(command, bytes)
    return 0
}
