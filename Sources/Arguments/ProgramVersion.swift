/// The version that `--version` of every program prints.
package enum ProgramVersion {
    package static let text = "0.1.0"
}
