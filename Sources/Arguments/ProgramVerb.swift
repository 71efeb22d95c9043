/// Everything that a program can be told to do: an enumeration whose raw values are the words it is called by.
///
/// The parser, the help pages, the manual and the completions are made from it.
package protocol ProgramVerb: RawRepresentable<String>, CaseIterable, Hashable, Sendable
where AllCases == [Self] {
    /// What the program is called.
    static var program: String { get }
    /// The options that every verb takes.
    static var global: [Option] { get }
    /// What is said of the program itself.
    static var about: ProgramPage { get }
    /// What is said of this verb.
    var page: Page { get }
    /// Refuses what goes wrong in a way that only this program knows.
    static func check(_ arguments: ParsedArguments) throws(UsageError)
}

extension ProgramVerb {
    /// Refuses nothing.
    package static func check(_ arguments: ParsedArguments) throws(UsageError) {}

    /// The word or words it is called by.
    package var name: String { rawValue }

    /// Every option of every verb; the same name may be there twice, with and without a value.
    package static var allOptions: [Option] { table.allOptions }

    /// All verbs, as the command line is read by them.
    static var table: VerbTable {
        let verbs = allCases
        return VerbTable(names: verbs.map { $0.name }, global: global) { verbs[$0].page }
    }
}
