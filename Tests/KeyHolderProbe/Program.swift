import Glibc
import ProcessConfinement
import WatchwordSystem

/// Confines itself like the key holder of the agent, and reports which operations are still
/// possible.
///
/// The arguments are a folder that it may reach and a file that it may not. With `--emulator`, it
/// confines itself like the helper that talks to an emulated TPM on TCP port 1.
@main struct Program {
    static func main() throws {
        if CommandLine.arguments[1] == "--emulator" { return try connect() }
        let (folder, other) = (CommandLine.arguments[1], CommandLine.arguments[2])
        print("limits", try Confinement.enterAsKeyHolder(folders: [folder]))
        tell("inside", unsafe open(folder + "/made", O_RDWR | O_CREAT, 0o600))
        tell("move", unsafe renameat(AT_FDCWD, folder + "/made", AT_FDCWD, folder + "/deep/made"))
        tell("outside", unsafe open(other, O_RDONLY))
        tell("make outside", unsafe open(other + "2", O_RDWR | O_CREAT, 0o600))
        tell("users", unsafe open("/etc/passwd", O_RDONLY))
        tell("boot", unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY))
        tell("connect", socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        tell("internet", socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        tell("exec", unsafe execv("/bin/true", [nil]))
        var child: pid_t = 0
        errno = unsafe posix_spawn(&child, "/bin/true", nil, nil, [nil], [nil])
        tell("spawn", errno == 0 ? 0 : -1)
        tell("signal", kill(getppid(), 0))
        let thread = WorkerThread {}
        thread?.join()
        print("thread", thread == nil ? "none" : "done")
    }

    private static func connect() throws {
        try Confinement.prepareForDevice()
        let limits = Confinement.Limits(addressSpace: 2 << 30, processorSeconds: 60)
        try Confinement.enterWithDevice(limits, emulator: [1])
        for port in [UInt16](1...2) {
            let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = unsafe withUnsafePointer(to: &address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe Glibc.connect(connection, $0, size)
                }
            }
            tell("port \(port)", result)
        }
        tell("datagram", socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0))
        tell("local", socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
    }

    private static func tell(_ what: String, _ result: Int32) {
        print(what, result >= 0 ? "done" : unsafe String(cString: strerror(errno)))
    }
}
