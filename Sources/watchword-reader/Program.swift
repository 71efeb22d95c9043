internal import POSIX
internal import PictureReader
internal import SymbolReading

/// Decodes untrusted pictures in a confined process.
///
/// `watchword` starts it and communicates over pipes.
@main struct Program {
    private static let about =
        "watchword-reader is a helper program of watchword; use `watchword qr read FILE`."

    static func main() {
        switch CommandLine.arguments.dropFirst().first {
        case nil:
            // Tells a user who started it in a terminal what the program is, instead of waiting for
            // input.
            guard !StandardStream.input.isTerminal else { refuse(about) }
            prepareSymbolReading()
            ReaderLoop.run(read: findSymbols)
        case "--version":
            say("watchword-reader 0.1.0", on: .output)
        case "--help":
            say(about, on: .output)
        default:
            refuse("watchword-reader takes no arguments.")
        }
    }

    private static func refuse(_ sentence: String) -> Never {
        say(sentence, on: .error)
        ProcessEnd.exit(with: 2)
    }

    private static func say(_ sentence: String, on stream: StandardStream) {
        // If writing fails, the error cannot be reported anywhere else.
        do { try stream.write(Array("\(sentence)\n".utf8).span) } catch {}
    }
}
