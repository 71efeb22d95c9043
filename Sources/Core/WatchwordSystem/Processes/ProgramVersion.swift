/// The version that every program prints for `--version`.
package enum ProgramVersion {
    package static let text = "0.1.0"
}
