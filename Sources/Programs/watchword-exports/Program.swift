internal import ExportReading
internal import Exports
internal import WatchwordSystem

/// Decrypts and parses a different app's export, which is untrusted, in a confined process.
///
/// `watchword` starts the program and communicates over pipes.
@main struct Program {
    static func main() {
        HelperProgram.main(
            "watchword-exports", hint: "use `watchword import FILE`",
            tasks: [ExportLoop.raisedLimits]
        ) { task in
            let limits = task == nil ? ExportLimits.standard : .raised
            prepareExportReading()
            ExportLoop.run(limits: limits) { source, password throws(ExportError) in
                try readExport(source, password: password, limits: limits)
            }
        }
    }
}
