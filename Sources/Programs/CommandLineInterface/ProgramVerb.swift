/// What a verb accepts on the command line.
package struct VerbEntry: Sendable {
    /// The word or words on the command line.
    package let name: String
    package let operands: Operands
    // Lists are made when they are needed, because most runs need only one.
    private let makeOptions: @Sendable () -> [Option]

    /// Creates an entry.
    package init(
        _ name: String, _ operands: Operands, options: @escaping @Sendable () -> [Option]
    ) {
        self.name = name
        self.operands = operands
        makeOptions = options
    }

    /// The options that the verb accepts in addition to the global ones.
    package var options: [Option] { makeOptions() }
}

/// A program's verb: an entry, and the function that runs it.
///
/// `allCases` is the table of all verbs. The parser, the help pages, the manual and the completions
/// are generated from it and from the program's documents.
package protocol ProgramVerb: CaseIterable, Sendable where AllCases == [Self] {
    /// The program's name.
    static var program: String { get }
    /// The options that every verb accepts.
    static var global: [Option] { get }
    /// The text of the help pages and the manual.
    static var documents: ProgramDocuments { get }
    /// The verb's name, operands and options.
    var entry: VerbEntry { get }
    /// Performs checks that are specific to this program.
    static func check(_ arguments: ParsedArguments) throws(UsageError)
}

extension ProgramVerb {
    /// The word or words on the command line.
    package var name: String { entry.name }

    /// All options of all verbs.
    ///
    /// A name can occur twice, with and without a value.
    package static var allOptions: [Option] { table.allOptions }

    /// All verbs, for reading the command line.
    static var table: VerbTable {
        VerbTable(entries: allCases.map { $0.entry }, global: global) { documents.help }
    }
}
