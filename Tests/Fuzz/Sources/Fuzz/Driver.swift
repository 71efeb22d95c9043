import Glibc

// SwiftPM renames an executable's `main` to `<Target>_main`, so that it does not collide with
// libFuzzer's. The renamed `main` starts libFuzzer's driver:
//
//     Fuzz TARGET [libFuzzer's arguments…]
//     Fuzz --list | --seeds
@_silgen_name("LLVMFuzzerRunDriver") private func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

@_cdecl("Fuzz_main") func start(
    _ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
    let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: " ")
    guard count >= 2, let arguments, let program = arguments[0], let word = arguments[1] else {
        print(names)
        return 2
    }
    if String(cString: word) == "--list" {
        print(names)
        return 0
    }
    if String(cString: word) == "--seeds" { return printSeeds() }
    guard let target = FuzzTarget(rawValue: String(cString: word)) else {
        print("unknown target; choose one of: \(names)")
        return 2
    }
    chosen = target
    // libFuzzer expects the program's name and its own arguments.
    arguments[1] = program
    var rest = count - 1
    var shifted: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = arguments + 1
    return runDriver(&rest, &shifted) { bytes, count in
        chosen.tryOut(Array(UnsafeBufferPointer(start: bytes, count: count)))
        return 0
    }
}

/// Prints the target and the bytes of each seed, in hexadecimal.
private func printSeeds() -> Int32 {
    do {
        for seed in try messageSeeds() {
            let digits = seed.bytes.map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
            print(seed.target.rawValue, digits.joined())
        }
        return 0
    } catch {
        print("a seed is invalid: \(error)")
        return 1
    }
}

/// Set once, before libFuzzer's only thread starts.
nonisolated(unsafe) private var chosen = FuzzTarget.picture

// Only the linker needs this; the driver calls the function that it was given.
@_cdecl("LLVMFuzzerTestOneInput") func unused(_: UnsafePointer<UInt8>?, _: Int) -> Int32 {
    0
}
