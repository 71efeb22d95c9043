import POSIX

// Vaults that git keeps.
extension Messages {
    /// How to have git merge the vault at `path`; `nil` if it is not in a git work tree.
    static func gitAdvice(for path: String) -> String? {
        let (folder, name) = OutputFile.split(path)
        guard isInWorkTree(folder) else { return nil }
        let pattern = attributePattern(of: name)
        return """
            The vault is in a git work tree. git cannot merge it as text; to have it merged by watchword, run:
              cd \(ShellWord.quoted(VisibleText.of(folder)))
              echo \(ShellWord.quoted("\(pattern) -text merge=watchword")) >>.gitattributes
              echo /.watchword/ >>.gitignore
              git config merge.watchword.driver 'watchword --vault %P merge --into %A %B'
              git config merge.watchword.recursive binary
            Repeat the git config commands in each clone. git's history keeps what is wiped or purged \
            in the vault.
            """
    }

    /// How to resolve a conflict that git has left in the vault at `path`.
    ///
    /// - Parameter reversed: whether our version is merged into the other one.
    static func mergeAdvice(at path: String, reversed: Bool = false) -> String {
        let (folder, name) = OutputFile.split(path)
        let (ours, theirs) = (name + "_LOCAL_1", name + "_REMOTE_1")
        let (vault, copy) = reversed ? (theirs, ours) : (ours, theirs)
        func word(_ text: String) -> String { ShellWord.quoted(VisibleText.of(text)) }
        return """
            to get both versions and merge them, run:
              cd \(word(folder))
              (umask 077; git show \(word(":2:./" + name)) >\(word(ours)); git show \(word(":3:./" + name)) >\(word(theirs)))
              mv \(word(vault)) \(word(name)) && watchword --vault \(word(name)) merge \(word(copy))
              rm \(word(copy)) && git add \(word(name))
            """
    }

    /// Whether the folder or one above it is the top of a git work tree.
    private static func isInWorkTree(_ folder: String) -> Bool {
        var parts = Folder.parts(of: Folder.resolvedPath(folder))
        repeat {
            // It is a file in a further work tree, and in a submodule.
            do throws(SystemCallFailure) {
                let path = "/" + (parts + [".git"]).joined(separator: "/")
                if [.file, .folder].contains(try FileKind(at: path, following: true)) {
                    return true
                }
            } catch {}
        } while parts.popLast() != nil
        return false
    }

    /// The pattern that matches only this file in `.gitattributes`.
    private static func attributePattern(of name: String) -> String {
        var pattern = "/"
        for scalar in VisibleText.of(name).unicodeScalars {
            // `?` matches any character, and a space would end the pattern.
            pattern += "*?[]\\\" ".unicodeScalars.contains(scalar) ? "?" : String(scalar)
        }
        return pattern
    }
}
