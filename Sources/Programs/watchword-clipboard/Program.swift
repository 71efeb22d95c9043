internal import Devices
internal import WatchwordSystem

/// Clears the clipboard if it still holds the code that `watchword` has copied.
///
/// `watchword` starts the program in a separate session and does not wait for it.
@main struct Program {
    static func main() {
        HelperProgram.main(
            ClipboardClearing.program, hint: "it clears the clipboard after `watchword code --copy`"
        ) {
            do {
                try ProcessHardening.apply()
                guard let clearing = try ClipboardClearing.read() else {
                    ProcessEnd.atOnce(with: 3)
                }
                try clearing.run()
            } catch {
                // No process would see a report.
                ProcessEnd.atOnce(with: 6)
            }
            ProcessEnd.atOnce(with: 0)
        }
    }
}
