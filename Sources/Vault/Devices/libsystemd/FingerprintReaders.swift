internal import CSystemd

/// The fingerprint readers of this machine, which fprintd manages.
package enum FingerprintReaders {
    /// fprintd may take this long for each of its answers; it starts when it is first asked.
    private static let timeout: UInt32 = 5_000

    /// The fingers of a user that are enrolled; `nil` if fprintd does not report them.
    package static func fingers(of user: String) -> EnrolledFingers? {
        var names = [CChar](repeating: 0, count: EnrolledFingers.longestText + 2)
        guard unsafe enrolled_fingers(user, &names, names.count, timeout) == 0 else { return nil }
        let text = String(
            decoding: names.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return EnrolledFingers(text.split(separator: "\n"))
    }
}
