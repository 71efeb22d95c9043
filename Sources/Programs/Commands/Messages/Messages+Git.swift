import WatchwordSystem

// Vaults that git or Syncthing keeps.
extension Messages {
    /// How to have git merge the vault at `path`; `nil` if it is not in a git work tree.
    static func gitAdvice(for path: String) -> String? {
        let (folder, name) = OutputFile.split(path)
        guard top(of: folder, with: ".git") != nil else { return nil }
        let pattern = attributePattern(of: name)
        return """
            The vault is in a git work tree. git cannot merge it as text; to have it merged by watchword, run:
              cd \(ShellWord.quoted(folder))
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
        func word(_ text: String) -> String { ShellWord.quoted(text) }
        return """
            to get both versions and merge them, run:
              cd \(word(folder))
              (umask 077; git show \(word(":2:./" + name)) >\(word(ours)); git show \(word(":3:./" + name)) >\(word(theirs)))
              mv \(word(vault)) \(word(name)) && watchword --vault \(word(name)) merge \(word(copy))
              rm \(word(copy)) && git add \(word(name))
            """
    }

    /// How to keep Watchword's own files out of the folders that Syncthing synchronises; `nil` if the
    /// vault at `path` is not in one.
    static func syncthingAdvice(for path: String) -> String? {
        guard let top = top(of: OutputFile.split(path).folder, with: ".stfolder") else {
            return nil
        }
        return """
            The vault is in a folder that Syncthing synchronises. The files in .watchword belong to \
            this device, and copies of them would keep what is erased here; on each device, run:
              echo .watchword >>\(ShellWord.quoted(top + "/.stignore"))
            """
    }

    /// The folder or one above it that contains a file or folder with this name, such as the top of a
    /// git work tree.
    private static func top(of folder: String, with name: String) -> String? {
        var parts = Folder.parts(of: Folder.resolvedPath(folder))
        repeat {
            // `.git` is a file in a further work tree, and in a submodule.
            do throws(SystemCallFailure) {
                let path = "/" + (parts + [name]).joined(separator: "/")
                if [.file, .folder].contains(try FileKind(at: path, following: true)) {
                    return "/" + parts.joined(separator: "/")
                }
            } catch {}
        } while parts.popLast() != nil
        return nil
    }

    /// The pattern that matches only this file in `.gitattributes`.
    private static func attributePattern(of name: String) -> String {
        var pattern = "/"
        for scalar in name.unicodeScalars {
            // `?` matches any byte, and a space or a line feed would end the pattern.
            let isSpecial = "*?[]\\\" ".unicodeScalars.contains(scalar) || scalar.isInvisible
            let count = UTF8.width(scalar)
            pattern += isSpecial ? String(repeating: "?", count: count) : String(scalar)
        }
        return pattern
    }
}
