@testable import Commands

// What is made of `watchword`'s own table of verbs, not of any program's.
typealias ArgumentParser = Commands.ArgumentParser
typealias HelpPage = Commands.HelpPage
typealias ManualPage = Commands.ManualPage
typealias CompletionScript = Commands.CompletionScript
