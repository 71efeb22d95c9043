import AgentService
import Glibc

/// Does what `watchword-agent` does on a machine that was suspended for an hour, if the file
/// `suspended` is beside the vault.
@main struct Program {
    static func main() {
        let file = (CommandLine.arguments.last ?? "") + "/suspended"
        AgentProgram.main {
            let now = AgentClock.now()
            guard unsafe access(file, F_OK) == 0 else { return now }
            return AgentClock(sinceBoot: now.sinceBoot + .seconds(3600), awake: now.awake)
        }
    }
}
