internal import ExportReading
internal import Exports
internal import Glibc
internal import ProcessConfinement
internal import WatchwordCryptography
internal import WatchwordSystem

/// Reads the export on standard input in a confined process, and prints the result.
///
///     ConfinedReading MEBIBYTES [PASSWORD]
///
/// A forbidden system call kills the process.
@main struct Program {
    static func main() throws {
        guard prepareExportReading() else { return report("not prepared") }
        let arguments = CommandLine.arguments
        guard arguments.count >= 2, let mebibytes = Int(arguments[1]) else { exit(2) }
        let password =
            arguments.count > 2 ? SecretBytes(copying: Array(arguments[2].utf8).span) : nil
        try Confinement.enter(
            Confinement.Limits(addressSpace: mebibytes << 20, processorSeconds: 60))
        let file = standardInput()
        do {
            let export = try readExport(ExportSource(file), password: password)
            report(
                "\(export.format): \(export.entries.count) entries, "
                    + "\(export.refusals.count) refused")
        } catch {
            report("\(error)")
        }
        // Libraries would unlock their memory, which is a forbidden call.
        ProcessEnd.atOnce(with: 0)
    }

    private static func standardInput() -> SecretBytes {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
            guard count > 0 else { return SecretBytes(copying: bytes.span) }
            bytes += buffer[..<count]
        }
    }

    /// Writes a line without the buffer of `print`, whose creation is a forbidden call.
    private static func report(_ text: String) {
        let line = Array("\(text)\n".utf8)
        guard unsafe write(STDOUT_FILENO, line, line.count) == line.count else { exit(1) }
    }
}
