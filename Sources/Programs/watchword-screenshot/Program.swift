internal import Devices
internal import OneTimePassword
internal import ProcessConfinement
internal import WatchwordSystem

/// Takes a screenshot through the desktop portal and writes it to standard output.
///
/// `watchword` starts the program, so that `watchword` itself never parses the desktop's messages.
/// The portal stores the screenshot in a file, which is removed.
@main struct Program {
    private static let limits = Confinement.Limits(addressSpace: 1 << 30, processorSeconds: 20)

    static func main() {
        HelperProgram.main(
            "watchword-screenshot", hint: "use `watchword import --screen`"
        ) {
            do throws(SystemCallFailure) {
                let uri = try DesktopPortal.takeScreenshot(timeout: .seconds(60))
                if let path = path(of: uri) { try send(fileAt: path) }
            } catch {
                if error.isCancelled { say("refused") }
                // Without output, `watchword` tries a different tool.
                ProcessEnd.atOnce(with: 6)
            }
            ProcessEnd.atOnce(with: 0)
        }
    }

    private static func send(fileAt path: String) throws(SystemCallFailure) {
        try StandardStream.input.replace(by: FileDescriptor(reading: path))
        // From here on, the screenshot exists only in memory.
        Folder.removeFile(at: path)
        let buffer = try WipedBuffer(capacity: 1 << 16)
        // This must not happen earlier, because the portal refuses a process that it cannot
        // inspect.
        try Confinement.enter(limits)
        var isFull = true
        while isFull {
            isFull = try buffer.append { output throws(SystemCallFailure) in
                try FileDescriptor.fill(&output, from: StandardStream.input.rawValue)
            }
            try buffer.withBytes { bytes throws(SystemCallFailure) in
                try StandardStream.output.write(bytes)
            }
            buffer.removeAll()
        }
    }

    private static func say(_ word: String) {
        // A failure of this call cannot be reported.
        do { try StandardStream.output.write(Array(word.utf8).span) } catch {}
    }

    /// The path in a file's URI; `nil` for any other URI.
    private static func path(of uri: String) -> String? {
        let prefix = "file://"
        guard uri.hasPrefix(prefix) else { return nil }
        let encoded = Array(uri.dropFirst(prefix.count).utf8)
        let bytes = [UInt8](capacity: encoded.count) { output in
            var decoder = PercentDecoder(plus: .itself)
            decoder.decode(encoded.span, into: &output)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
