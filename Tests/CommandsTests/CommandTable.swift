@testable import Commands

// The generic type, specialised for `watchword`'s table of verbs.
typealias ArgumentParser = Commands.ArgumentParser
