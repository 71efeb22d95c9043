internal import Courier
internal import POSIX

/// Sends requests to servers, confined; `watchword` starts it and talks to it over pipes.
@main struct Program {
    private static let about =
        "watchword-courier talks to servers for watchword, over pipes; use `watchword login`."

    static func main() {
        switch CommandLine.arguments.dropFirst().first {
        case nil:
            // Started by hand, it would wait forever; it says what it is instead.
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
        // If this fails, there is nobody to report to.
        do { try stream.write(Array("\(sentence)\n".utf8).span) } catch {}
    }
}
