internal import Courier
internal import POSIX

/// The confined courier of questions to strangers' servers; `watchword` starts it and talks to it over pipes.
@main struct Program {
    private static let about =
        "watchword-courier talks to servers for watchword, over pipes; use `watchword login`."

    static func main() {
        switch CommandLine.arguments.dropFirst().first {
        case nil:
            // A person waiting at a prompt that never answers is told what this is.
            guard !StandardStream.input.isTerminal else { refuse(about) }
            CourierLoop.run(prepare: Tools.init, ask: ask)
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
        // Where even that cannot be written there is nobody to tell.
        do { try stream.write(Array("\(sentence)\n".utf8).span) } catch {}
    }
}
