internal import Arguments
internal import PictureReader
internal import SymbolReading

/// Decodes untrusted pictures in a confined process.
///
/// `watchword` starts it and communicates over pipes.
@main struct Program {
    static func main() {
        HelperProgram.main("watchword-reader", hint: "use `watchword qr read FILE`") {
            prepareSymbolReading()
            ReaderLoop.run(read: findSymbols)
        }
    }
}
