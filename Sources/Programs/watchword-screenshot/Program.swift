internal import Devices
internal import OneTimePassword
internal import WatchwordSystem

/// Takes a screenshot through the desktop portal and writes it to standard output.
///
/// `watchword` starts it, so that `watchword` itself never parses the desktop's messages. The
/// portal stores the picture in a file, which is removed.
@main struct Program {
    static func main() {
        HelperProgram.main(
            "watchword-screenshot", hint: "use `watchword import --screen`"
        ) {
            do throws(SystemCallFailure) {
                try send(fileAt: DesktopPortal.takeScreenshot(timeout: .seconds(60)))
            } catch {
                if error.isCancelled { say("refused") }
                // Without output, `watchword` tries another tool.
                ProcessEnd.atOnce(with: 6)
            }
            ProcessEnd.atOnce(with: 0)
        }
    }

    private static func send(fileAt uri: String) throws(SystemCallFailure) {
        let prefix = "file://"
        guard uri.hasPrefix(prefix) else { return }
        let path = decoded(uri.dropFirst(prefix.count))
        let file = try FileDescriptor(reading: path)
        // From here on, the picture exists only in memory.
        Folder.removeFile(at: path)
        let buffer = try WipedBuffer(capacity: 1 << 16)
        while true {
            let count = try buffer.append { output throws(SystemCallFailure) in
                try file.read(into: &output)
            }
            guard count > 0 else { return }
            try buffer.withBytes { bytes throws(SystemCallFailure) in
                try StandardStream.output.write(bytes)
            }
            buffer.removeAll()
        }
    }

    private static func say(_ word: String) {
        // If this fails, there is no way to report it.
        do { try StandardStream.output.write(Array(word.utf8).span) } catch {}
    }

    private static func decoded(_ text: Substring) -> String {
        let text = Array(text.utf8)
        let bytes = [UInt8](capacity: text.count) { output in
            var decoder = PercentDecoder(plus: .itself)
            decoder.decode(text.span, into: &output)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
