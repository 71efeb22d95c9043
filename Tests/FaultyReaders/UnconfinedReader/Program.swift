internal import CSeccomp
internal import Pictures

/// A reader on a simulated system without seccomp.
@main struct Program {
    static func main() {
        guard let filter = unsafe seccomp_init(SCMP_ACT_ALLOW) else { return }
        let refuse = SCMP_ACT_ERRNO | 38  // ENOSYS
        let isSeccomp = scmp_arg_cmp(arg: 0, op: SCMP_CMP_EQ, datum_a: 22, datum_b: 0)
        for (name, conditions) in [("seccomp", []), ("prctl", [isSeccomp])] {
            let number = unsafe seccomp_syscall_resolve_name(name)
            _ = unsafe seccomp_rule_add_array(
                filter, refuse, number, UInt32(conditions.count), conditions)
        }
        guard unsafe seccomp_load(filter) == 0 else { return }
        ReaderLoop.run { .symbols([$0], tried: []) }
    }

    /// `SCMP_ACT_ERRNO(0)`, a macro that Swift does not import.
    private static let SCMP_ACT_ERRNO: UInt32 = 0x0005_0000
}
