internal import PictureReading
internal import Pictures
internal import WatchwordSystem

/// Decodes untrusted images in a confined process.
///
/// `watchword` starts the program and communicates over pipes. The argument names a library for
/// images in less common formats, which is loaded before the process gives up access to files.
@main struct Program {
    static func main() {
        HelperProgram.main(
            "watchword-reader", hint: "use `watchword qr read FILE`",
            tasks: ImageLibrary.allCases.map(\.rawValue)
        ) { task in
            prepareSymbolReading()
            // Every filter needs blocks as large as the image, so freed memory is reused.
            FreedMemory.keep()
            guard let needed = task.flatMap(ImageLibrary.init) else {
                ReaderLoop.run { findSymbols(in: $0, library: nil) }
            }
            let library = LoadedImageLibrary(needed)
            ReaderLoop.run(runsLibraries: true) { findSymbols(in: $0, library: library) }
        }
    }
}
