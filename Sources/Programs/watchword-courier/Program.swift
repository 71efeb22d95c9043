internal import Courier
internal import WatchwordSystem

/// Sends one request to a server from a confined process.
///
/// `watchword` starts the courier and communicates over pipes.
@main struct Program {
    static func main() {
        HelperProgram.main("watchword-courier", hint: "use `watchword login`") {
            HTTPHelperLoop.run(prepare: Tools.init, ask: ask)
        }
    }
}
