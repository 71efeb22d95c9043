internal import PAMAuthentication
internal import POSIX

/// Runs the system's authentication modules; `watchword` starts it and talks to it over pipes.
@main struct Program {
    private static let about =
        "watchword-presence asks the system's modules (PAM) for watchword, over pipes."

    static func main() {
        switch CommandLine.arguments.dropFirst().first {
        case nil:
            // A person waiting at a prompt that never answers is told what this is.
            guard !StandardStream.input.isTerminal else { refuse(about) }
            PAMProgram.run()
        case "--version":
            say("watchword-presence 0.1.0", on: .output)
        case "--help":
            say(about, on: .output)
        default:
            refuse("watchword-presence takes no arguments.")
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
