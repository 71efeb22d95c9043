import Testing

@testable import CommandLineInterface
@testable import Commands

struct ArgumentParserTests {
    private func parsed(_ arguments: String...) throws -> ParsedArguments {
        try understood(arguments).1
    }

    private func understood(_ arguments: [String]) throws -> (Verb, ParsedArguments) {
        guard case .run(let verb, let parsed) = try ArgumentParser<Verb>.parse(arguments) else {
            throw UsageError.missingVerb
        }
        return (verb, parsed)
    }

    private func error(_ arguments: String...) -> UsageError? {
        do {
            _ = try ArgumentParser<Verb>.parse(arguments)
            return nil
        } catch {
            return error
        }
    }

    @Test("options can be anywhere, with a space or an equals sign before the value")
    func anywhere() throws {
        for line in [
            ["--json", "code", "github", "--at", "5"], ["code", "--at=5", "github", "--json"],
            ["code", "--json", "--at", "5", "--", "github"],
        ] {
            let (verb, parsed) = try understood(line)
            #expect(verb.name == "code")
            #expect(parsed.operands == ["github"])
            #expect(parsed[.at] == "5")
            #expect(parsed.has(.json))
        }
    }

    @Test("after two dashes, all arguments are operands")
    func dashes() throws {
        #expect(try parsed("code", "--", "--json").operands == ["--json"])
        #expect(try parsed("remove", "--", "-").operands == ["-"])
    }

    @Test("a value can begin with a dash, and can be empty")
    func values() throws {
        #expect(try parsed("totp", "--at", "-5")[.at] == "-5")
        #expect(try parsed("add", "x", "--issuer=")[.issuer] == "")
        #expect(try parsed("totp", "--secret-file", "-")[.secretFile] == "-")
        #expect(try parsed("totp", "--at=a=b")[.at] == "a=b")
    }

    @Test("an option can be a flag for one command and take a value for a different one")
    func twoFaces() throws {
        #expect(try parsed("add", "--qr", "a.png")[.qr] == "a.png")
        #expect(try parsed("--qr", "a.png", "add")[.qr] == "a.png")
        #expect(try parsed("show", "--qr", "github").operands == ["github"])
        #expect(try parsed("--qr", "show", "github").operands == ["github"])
    }

    @Test("commands of two words are found even with options between the words")
    func twoWords() throws {
        #expect(try understood(["slot", "--json", "list"]).0.name == "slot list")
        #expect(try parsed("qr", "read", "a.png").operands == ["a.png"])
    }

    @Test("short options can be combined")
    func shortLetters() throws {
        let both = try parsed("remove", "x", "-qy")
        #expect(both.has(.quiet))
        #expect(both.has(.yes))
    }

    @Test("a short option takes its value from the same argument or from the next one")
    func shortValues() throws {
        #expect(try parsed("export", "-o", "a.json")[.output] == "a.json")
        #expect(try parsed("export", "-oa.json")[.output] == "a.json")
        let both = try parsed("export", "-qo", "-", "-y")
        #expect(both.has(.quiet) && both.has(.yes))
        #expect(both[.output] == "-")
        #expect(error("export", "-o") == .missingValue("output"))
        #expect(error("export", "-oa", "--output", "b") == .duplicateOption("output"))
    }

    @Test("a repeatable option keeps all its values in their order")
    func repeated() throws {
        let parsed = try parsed("export", "--only", "b", "-q", "--only=a", "--only", "b")
        #expect(parsed.values(of: .only) == ["b", "a", "b"])
        #expect(try self.parsed("export").values(of: .only).isEmpty)
    }

    @Test("an optional value follows an equals sign; the next argument is an operand")
    func optionalValue() throws {
        for (words, value) in [
            (["code", "--copy", "xsel"], nil), (["code", "-c", "xsel"], nil),
            (["code", "--copy=osc52", "xsel"], "osc52"), (["code", "xsel", "--copy=XSEL"], "xsel"),
        ] {
            guard case .run(_, let arguments) = try ArgumentParser<Verb>.parse(words) else {
                Issue.record("\(words)")
                continue
            }
            #expect(arguments.operands == ["xsel"])
            #expect(arguments.has(.copy))
            #expect(try arguments.choice(.copy) == value)
        }
    }

    @Test("each kind of mistake has its own error")
    func errors() {
        #expect(error() == .missingVerb)
        #expect(error("cod") == .unknownVerb("cod", nearest: "code"))
        #expect(error("frobnicate") == .unknownVerb("frobnicate", nearest: nil))
        #expect(error("slot") == .needsOneOf(["slot list", "slot add", "slot remove"]))
        #expect(error("slot", "lst") == .unknownVerb("slot lst", nearest: "slot list"))
        #expect(
            error("totp", "--secrt-file", "x")
                == .unknownOption("--secrt-file", nearest: "secret-file"))
        #expect(error("totp", "-x") == .unknownOption("-x", nearest: nil))
        #expect(error("list", "--qr") == .inapplicableOption("qr", verb: "list"))
        #expect(error("list", "--json", "--json") == .duplicateOption("json"))
        #expect(error("list", "--vault") == .missingValue("vault"))
        #expect(error("list", "--json=yes") == .unexpectedValue("json"))
        #expect(error("code") == .missingOperand("NAME"))
        #expect(error("show", "a", "b") == .tooManyOperands(verb: "show"))
        let meant = UsageError.tooManyOperands(verb: "edit", meant: "--this-device=file")
        #expect(error("edit", "a", "--this-device", "file") == meant)
        for (option, word) in [("--this-device", "b"), ("--this-device=tpm", "file")] {
            #expect(error("edit", "a", option, word) == .tooManyOperands(verb: "edit"))
        }
        #expect(
            error("add", "x", "--secret-file", "-", "--passphrase-file", "-")
                == .twoReadersOfStandardInput)
    }

    @Test("an error does not repeat the value of an unknown option, which may be a secret")
    func noSecretInErrors() {
        #expect(
            error("totp", "--secret=GEZDGNBV")
                == .unknownOption("--secret", nearest: "secret-file"))
    }

    @Test("help is shown even if the command line has errors")
    func help() throws {
        for line in [["code", "--help", "--nonsense"], ["help", "code"], ["-h", "code"]] {
            guard case .help(let verb) = try ArgumentParser<Verb>.parse(line), verb?.name == "code"
            else {
                Issue.record("no help for \(line)")
                continue
            }
        }
        guard case .help(nil) = try ArgumentParser<Verb>.parse(["--help"]) else {
            Issue.record("no help")
            return
        }
    }

    @Test("only whole numbers in range, without a plus sign, are accepted")
    func numbers() throws {
        let range: ClosedRange<UInt64> = 0...UInt64.max
        let largest = try parsed("hotp", "--counter", "18446744073709551615")
        #expect(try largest.integer(.counter, in: range) == UInt64.max)
        for spoiled in ["18446744073709551616", "-1", "+1", "1.0", "", " 1", "0x1"] {
            let arguments = try parsed("hotp", "--counter", spoiled)
            #expect(throws: UsageError.self) { try arguments.integer(.counter, in: range) }
        }
    }

    @Test("the choices of an option are accepted in upper or lower case")
    func choices() throws {
        #expect(try parsed("totp", "--algorithm", "sha256").choice(.algorithm) == "SHA256")
        let spoiled = try parsed("totp", "--algorithm", "md5")
        #expect(throws: UsageError.badValue("algorithm", expected: "one of SHA1, SHA256, SHA512")) {
            try spoiled.choice(.algorithm)
        }
    }
}
