internal import Devices
internal import WatchwordSystem

/// Clears the clipboard if it still holds the code that `watchword` has copied.
///
/// `watchword` starts it in a session of its own and does not wait for it.
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
                // There is nobody to report to.
                ProcessEnd.atOnce(with: 6)
            }
            ProcessEnd.atOnce(with: 0)
        }
    }
}
