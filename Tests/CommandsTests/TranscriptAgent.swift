import Foundation
import TestSupport

/// A `watchword` that runs commands through an agent of its own.
///
/// Where a command names a file with the passphrase, the agent unlocks the vault with it, and the
/// command runs without it; if the agent refuses, its refusal must read as the command's.
///
/// These run unchanged: commands that open the vault in their own process or show secrets, for
/// which the agent asks for the passphrase again, and commands that name another way to open the
/// vault.
final class TranscriptAgent {
    private let folder: TemporaryFolder

    /// The folder with the program.
    var programs: String { folder.file("bin") }

    /// Whether it has unlocked a vault for a command.
    var wasUsed: Bool { FileManager.default.fileExists(atPath: folder.file("log")) }

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: programs, withIntermediateDirectories: false)
        let program = BuiltProgram.path("watchword")
        try folder.addProgram(Self.script(program, runtime: folder.path), as: "bin/watchword")
    }

    deinit {
        do {
            _ = try Transcript.run(
                "XDG_RUNTIME_DIR='\(folder.path)' watchword agent stop", in: folder)
        } catch {}
    }

    private static func script(_ program: String, runtime: String) -> String {
        #"""
        #!/bin/sh
        program='\#(program)'
        # Returns if the command runs unchanged.
        throughAgent() {
            last= file= vault= json= verb=
            for argument do
                shift
                case $last in
                --passphrase-file) file=$argument last=; continue ;;
                --vault) vault=$argument ;;
                *)
                    case $argument in
                    --json) json=--json ;;
                    --passphrase-file=*) echo "no test may use $argument" >&2; exit 70 ;;
                    -*) ;;
                    *) verb=${verb:-$argument} ;;
                    esac ;;
                esac
                last=$argument
                [ "$argument" = --passphrase-file ] || set -- "$@" "$argument"
            done
            [ "${file:--}" != - ] || return
            case $verb in init | passphrase | rekey | slot | export) return ;; esac
            case " $* " in
            *' --read-only '* | *' --recovery-key-file '*) return ;;
            *' --into '* | *' --copy-passphrase-file '*) return ;;
            *' --uri '* | *' --reveal '* | *' --qr '* | *' --qr-png '*) return ;;
            esac
            export XDG_RUNTIME_DIR='\#(runtime)'
            unset WATCHWORD_PASSPHRASE_FILE
            unlock
            # The agent reaches only the folders with which it was started.
            case $said in *'the running agent cannot reach this folder'*)
                "$program" agent stop -q
                unlock
            esac
            if [ $status != 0 ]; then
                printf '%s\n' "$said" >&2
                exit $status
            fi
            echo "$verb" >>'\#(runtime)/log'
            exec "$program" "$@"
        }
        # A refusal is also printed as JSON, to the standard output of the command.
        unlock() {
            said=$("$program" unlock -q $json --passphrase-file "$file" \
                ${vault:+--vault "$vault"} 2>&1 >&9)
            status=$?
        } 9>&1
        throughAgent "$@"
        exec "$program" "$@"

        """#
    }
}
