internal import Foundation

/// tpm2-tools, an independent client of a TPM.
public struct TPMTools {
    /// A program of tpm2-tools failed.
    public struct Failed: Error {
        let program: String
        let errors: String
    }

    /// Whether the tools and the program `openssl` are installed.
    public static let areInstalled =
        EmulatedTPM.isInstalled
        && ["tpm2_activatecredential", "openssl"].allSatisfy { ForeignProgram($0) != nil }

    /// The folder for the tools' files.
    public let folder: TemporaryFolder
    private let tpm: EmulatedTPM

    /// Makes a folder for files about this TPM.
    public init(for tpm: EmulatedTPM) throws {
        self.tpm = tpm
        folder = try TemporaryFolder()
    }

    /// Runs a program; arguments with a dot are files.
    public func run(_ name: String, _ arguments: String...) throws {
        let outcome = try start(name, arguments)
        guard outcome.status == 0 else {
            throw Failed(program: name, errors: String(decoding: outcome.errors, as: UTF8.self))
        }
        // There are three places for keys.
        if name.hasPrefix("tpm2_") { _ = try start("tpm2_flushcontext", ["-t"]) }
    }

    /// Runs a program that may fail; arguments with a dot are files.
    public func start(_ name: String, _ arguments: [String]) throws -> ForeignProgram.Outcome {
        guard let program = ForeignProgram(name) else { throw Failed(program: name, errors: "") }
        var environment = ProcessInfo.processInfo.environment
        environment["TPM2TOOLS_TCTI"] = tpm.address
        let files = arguments.map { argument in
            argument.contains(".") && !argument.contains(":") ? folder.file(argument) : argument
        }
        return try program.run(files, environment: environment)
    }
}

extension EmulatedTPM {
    /// Removes what killed programs have left in the TPM, as the kernel's resource manager does.
    public func flush() throws {
        let tools = try TPMTools(for: self)
        for kind in ["-t", "-l", "-s"] { _ = try tools.start("tpm2_flushcontext", [kind]) }
    }
}
