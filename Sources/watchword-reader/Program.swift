internal import Arguments
internal import Cryptography
internal import ExportReading
internal import POSIX
internal import PictureReader
internal import SymbolReading

/// Decodes untrusted pictures and exports in a confined process.
///
/// `watchword` starts it and communicates over pipes.
@main struct Program {
    static func main() {
        HelperProgram.main(
            "watchword-reader", hint: "use `watchword qr read FILE`", tasks: [ExportLoop.task]
        ) { task in
            prepareSymbolReading()
            if task == ExportLoop.task {
                prepareExportReading()
                ExportLoop.run(read: readFile)
            }
            ReaderLoop.run(read: findSymbols)
        }
    }
}
