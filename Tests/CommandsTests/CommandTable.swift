@testable import Commands

// The generic types, specialised for `watchword`'s table of verbs.
typealias ArgumentParser = Commands.ArgumentParser
typealias HelpPage = Commands.HelpPage
typealias ManualPage = Commands.ManualPage
typealias CompletionScript = Commands.CompletionScript
