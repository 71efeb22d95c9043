internal import Courier
internal import POSIX

/// Sends one request to a server from a confined process.
///
/// `watchword` starts it and communicates over pipes.
@main struct Program {
    private static let about =
        "watchword-courier is a helper program of watchword; use `watchword login`."

    static func main() {
        switch CommandLine.arguments.dropFirst().first {
        case nil:
            // Tells a user who started it in a terminal what the program is, instead of waiting for
            // input.
            guard !StandardStream.input.isTerminal else { refuse(about) }
            HTTPHelperLoop.run(prepare: Tools.init, ask: ask)
        case "--version":
            say("watchword-courier 0.1.0", on: .output)
        case "--help":
            say(about, on: .output)
        default:
            refuse("watchword-courier takes no arguments.")
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
