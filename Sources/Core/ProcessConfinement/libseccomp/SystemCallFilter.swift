internal import CSeccomp
internal import Glibc
internal import WatchwordSystem

/// A list of allowed system calls; the kernel kills the process for any other call (seccomp), or
/// makes the call fail.
///
/// The names are libseccomp's, so that one list works for x86-64 and arm64.
@safe struct SystemCallFilter: ~Copyable {
    private let context: scmp_filter_ctx

    /// Starts with a filter that allows nothing.
    ///
    /// - Parameter failure: the error number of calls that are not allowed; `nil` kills the
    ///   process.
    init(failingWith failure: Int32? = nil) throws(SystemCallFailure) {
        try self.init(
            otherwise: failure.map(SystemCallFilter.error) ?? SCMP_ACT_KILL_PROCESS)
    }

    private init(otherwise action: UInt32) throws(SystemCallFailure) {
        guard let context = unsafe seccomp_init(action) else {
            throw SystemCallFailure(call: "seccomp_init", number: ENOSYS)
        }
        unsafe self.context = context
    }

    /// Creates a filter that makes these calls fail with the error `number`, and allows all others.
    ///
    /// A call that the library does not support is left out.
    static func refusing(
        _ names: [StaticString], with number: Int32
    ) throws(SystemCallFailure) -> SystemCallFilter {
        let filter = try SystemCallFilter(otherwise: SCMP_ACT_ALLOW)
        for name in names {
            try SystemCallFailure.nilIf(
                { $0.number == ENOSYS }, filter.answer(name, with: number))
        }
        return filter
    }

    deinit { unsafe seccomp_release(context) }

    /// Allows a call if all of `conditions` hold for its arguments.
    func allow(
        _ name: StaticString, when conditions: ArgumentCondition...
    ) throws(SystemCallFailure) {
        try add(name, SCMP_ACT_ALLOW, conditions)
    }

    /// Makes a call fail with the error `number` without executing it; with 0, makes it appear to
    /// succeed.
    func answer(
        _ name: StaticString, with number: Int32, when conditions: ArgumentCondition...
    ) throws(SystemCallFailure) {
        try add(name, SystemCallFilter.error(number), conditions)
    }

    /// `SCMP_ACT_ERRNO(x)`, which is a macro.
    private static func error(_ number: Int32) -> UInt32 {
        0x0005_0000 | UInt32(number) & 0xffff
    }

    private func add(
        _ name: StaticString, _ action: UInt32, _ conditions: [ArgumentCondition]
    ) throws(SystemCallFailure) {
        let resolved = unsafe name.utf8Start.withMemoryRebound(
            to: CChar.self, capacity: name.utf8CodeUnitCount + 1
        ) { unsafe seccomp_syscall_resolve_name($0) }
        guard resolved != SystemCallFilter.unknown else {
            throw SystemCallFailure(call: "seccomp_syscall_resolve_name", number: ENOSYS)
        }
        // Negative: the call does not exist on this architecture (time on arm64).
        guard resolved >= 0 else { return }
        let comparisons = conditions.map(\.comparison)
        try check(
            "seccomp_rule_add",
            unsafe seccomp_rule_add_array(
                context, action, resolved, UInt32(comparisons.count), comparisons))
    }

    /// Activates the filter for the rest of the process's lifetime.
    func load() throws(SystemCallFailure) {
        // Calls through another architecture's table (32 bit, x32) must not bypass the list.
        try check(
            "seccomp_attr_set",
            unsafe seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS))
        // Threads that a library has already started are confined too.
        try check("seccomp_attr_set", unsafe seccomp_attr_set(context, SCMP_FLTATR_CTL_TSYNC, 1))
        // The library maps most kernel errors to a single code; errno still has the original.
        errno = 0
        let result = unsafe seccomp_load(context)
        guard result == 0 || errno == 0 else {
            throw SystemCallFailure(call: "seccomp_load", number: errno)
        }
        try check("seccomp_load", result)
    }

    /// `__NR_SCMP_ERROR`, which is a macro with a cast.
    private static let unknown: Int32 = -1

    private func check(_ call: String, _ result: Int32) throws(SystemCallFailure) {
        guard result == 0 else { throw SystemCallFailure(call: call, number: -result) }
    }
}

/// A condition on one argument of a system call.
struct ArgumentCondition {
    fileprivate let comparison: scmp_arg_cmp

    private init(argument: UInt32, mask: UInt64, value: UInt64) {
        comparison = scmp_arg_cmp(
            arg: argument, op: SCMP_CMP_MASKED_EQ, datum_a: mask, datum_b: value)
    }

    /// Requires an `int` argument, of which the kernel uses only the lower half, to equal `value`.
    static func argument(_ index: UInt32, is value: Int32) -> ArgumentCondition {
        ArgumentCondition(
            argument: index, mask: 0xffff_ffff, value: UInt64(UInt32(bitPattern: value)))
    }

    /// Requires an argument with flags to contain all of `bits`.
    static func argument(_ index: UInt32, has bits: Int32) -> ArgumentCondition {
        let bits = UInt64(UInt32(bitPattern: bits))
        return ArgumentCondition(argument: index, mask: bits, value: bits)
    }

    /// Requires the type of a new socket, whatever its flags are.
    static func socketType(argument index: UInt32, is type: Int32) -> ArgumentCondition {
        ArgumentCondition(argument: index, mask: 0xf, value: UInt64(UInt32(bitPattern: type)))
    }

    /// Requires the request of an `ioctl` call to belong to the driver class `kind`.
    static func request(of kind: UInt8) -> ArgumentCondition {
        ArgumentCondition(argument: 1, mask: 0xff00, value: UInt64(kind) << 8)
    }

    /// Requires an argument with flags to contain none of `bits`.
    static func argument(_ index: UInt32, isWithout bits: Int32) -> ArgumentCondition {
        ArgumentCondition(argument: index, mask: UInt64(UInt32(bitPattern: bits)), value: 0)
    }
}
