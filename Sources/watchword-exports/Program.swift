internal import Arguments
internal import ExportReader
internal import ExportReading
internal import Interchange

/// Decrypts and parses another app's export, which is untrusted, in a confined process.
///
/// `watchword` starts it and communicates over pipes.
@main struct Program {
    static func main() {
        HelperProgram.main("watchword-exports", hint: "use `watchword import FILE`") {
            prepareExportReading()
            ExportLoop.run { file, password throws(ExportError) in
                try readExport(file, password: password)
            }
        }
    }
}
