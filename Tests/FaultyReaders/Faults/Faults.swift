internal import Glibc

/// What a hostile file could make its reader do, by name.
public let faults: [String: @Sendable () -> Void] = [
    "trap": { _ = [UInt8]()[indexOutside] },
    "segfault": { unsafe UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1 },
    "abort": { abort() },
    "overflow the stack": { _ = sink(0) },
    "loop": { while true {} },
    "eat memory": {
        var eaten: [[UInt8]] = []
        while true { eaten.append([UInt8](repeating: 1, count: 1 << 20)) }
    },
    "leave": { _exit(0) },
    "open a file": { _ = unsafe open("/dev/null", O_RDONLY) },
    "make a file": { _ = unsafe open("/tmp/made-by-a-faulty-reader", O_CREAT | O_WRONLY, 0o600) },
    "open a socket": { _ = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) },
    "fork": { _ = fork() },
    "start a thread": {
        var thread = pthread_t()
        _ = unsafe pthread_create(&thread, nil, { _ in nil }, nil)
    },
    "run a program": { _ = unsafe execv("/bin/true", [nil]) },
    "signal the parent": { kill(getppid(), 0) },
    "write to standard input": { _ = unsafe write(0, "x", 1) },
    "read standard output": {
        var byte: UInt8 = 0
        _ = unsafe read(1, &byte, 1)
    },
    "use another descriptor": { _ = unsafe write(9, "x", 1) },
    "duplicate a descriptor": { dup2(1, 9) },
    "map executable memory": {
        _ = unsafe mmap(
            nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    },
    "make memory executable": {
        let memory = unsafe mmap(
            nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        _ = unsafe mprotect(memory, 4096, PROT_READ | PROT_EXEC)
    },
    "raise a limit": {
        var limit = rlimit(rlim_cur: 9, rlim_max: 9)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    },
    "list a folder": { _ = unsafe opendir("/") },
]

/// An index outside every array; computed, so that the compiler does not detect it.
private var indexOutside: Int { Int(getpid()) }

/// Recurses until the stack overflows.
///
/// Each call lets libc write to its frame, so that the optimiser cannot make a loop of the
/// recursion.
private func sink(_ depth: Int) -> Int {
    unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { frame in
        guard let start = frame.baseAddress else { return 0 }
        unsafe explicit_bzero(start, frame.count)
        return unsafe sink(depth &+ 1) &+ Int(frame[0])
    }
}

/// The process's environment.
public func environment() -> [[UInt8]] {
    var found: [[UInt8]] = []
    var next = unsafe environ
    while let entry = unsafe next.pointee {
        found.append(unsafe Array(String(cString: entry).utf8))
        unsafe next = next.successor()
    }
    return found
}
