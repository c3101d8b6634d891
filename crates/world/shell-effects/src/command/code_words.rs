//! Options of common programs that carry code, name a program to run, or name a file with arguments. They are not
//! analysed here, so a person must confirm.

use super::{Call, State};
use crate::{PathOp, Reader, shell::Field};

/// Programs and their code-carrying options: exact, followed by `=`, or with the value attached.
const CODE: [(&[&str], &[&str]); 35] = [
    (&["make", "gmake"], &["--eval", "-E"]),
    (&["gdb", "gdb-multiarch", "lldb"], &["-ex", "-iex", "-x", "--command", "--eval-command", "-o"]),
    (&["vim", "vi", "nvim", "ex", "view"], &["-c", "--cmd", "-S", "-s", "+", "-es"]),
    (&["emacs"], &["--eval", "-eval", "-f", "-l", "--load", "--script"]),
    (&["date"], &["-s", "--set"]),
    (&["hash"], &["-p"]),
    (&["php"], &["-S", "-d", "-z"]),
    (&["rg"], &["--pre", "--hostname-bin"]),
    (&["bat"], &["--pager"]),
    (&["man"], &["-P", "--pager", "-H"]),
    (&["zip"], &["-TT", "--unzip-command"]),
    (&["cargo"], &["--config"]),
    (&["npm", "npx", "pnpm", "yarn"], &["--node-options", "--script-shell", "-c", "--call"]),
    (&["gcc", "g++", "cc", "clang", "clang++"], &["-wrapper", "-fplugin", "-specs"]),
    (&["sqlite3"], &["-cmd", ".shell", ".system"]),
    (&["docker", "podman"], &["--privileged"]),
    (&["split"], &["--filter"]),
    (&["install"], &["--strip-program"]),
    (&["go"], &["-toolexec", "-exec", "-vettool"]),
    (&["rustc"], &["-Clinker", "linker"]),
    (&["ld", "gold", "lld", "mold"], &["-plugin", "--plugin"]),
    (&["pandoc"], &["--filter", "-F", "--lua-filter", "--pdf-engine"]),
    (
        &["tex", "latex", "pdflatex", "xelatex", "lualatex", "pdftex"],
        &["-shell-escape", "--shell-escape", "-enable-write18"],
    ),
    (&["gs"], &["-dNOSAFER"]),
    (&["rpm", "rpmbuild"], &["--eval", "-E", "--define"]),
    (&["gradle", "gradlew"], &["-I", "--init-script"]),
    (&["ninja", "samu"], &["-f"]),
    (&["cpio"], &["--rsh-command", "-F", "--file"]),
    (&["less", "more", "most"], &["+"]),
    (&["wc", "sort", "du", "find"], &["--files0-from", "-files0-from"]),
    (&["tar", "bsdtar"], &["-T", "--files-from"]),
    (&["rsync"], &["--files-from", "-e", "--rsh", "--rsync-path"]),
    (&["wget"], &["-i", "--input-file", "--use-askpass"]),
    (&["git"], &["--pathspec-from-file"]),
    (&["gcc", "g++", "cc", "clang", "clang++", "ld", "rustc", "javac", "java"], &["@"]),
];

/// Programs that execute their input, or whose language can start other programs: their effect is unknown, with a file
/// or without.
const ESCAPES: [&str; 22] = [
    "ed",
    "ex",
    "red",
    "at",
    "dc",
    "m4",
    "psql",
    "mysql",
    "mariadb",
    "lftp",
    "mail",
    "mailx",
    "mutt",
    "tmux",
    "screen",
    "dtach",
    "run-parts",
    "start-stop-daemon",
    "dbus-send",
    "gdbus",
    "busctl",
    "xdg-open",
];

impl Reader<'_> {
    /// Reports code in the options of a program.
    pub(super) fn code_in_options(&mut self, call: &Call<'_>, state: &State) {
        if ESCAPES.contains(&call.name) {
            self.unclear(&call.shown(), "it does what it reads, and that is not known");
        }
        for (_, options) in CODE.iter().filter(|(names, _)| names.contains(&call.name)) {
            let carries = |field: &&Field| options.iter().any(|option| is_option(&field.text, option));
            if call.args.iter().find(carries).is_some() {
                self.unclear(&call.shown(), "an option carries code or names a program to run");
            }
        }
        self.outputs(call, state);
    }

    /// `-o FILE` of compilers and similar tools writes that file.
    fn outputs(&mut self, call: &Call<'_>, state: &State) {
        const COMPILERS: [&str; 12] =
            ["gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "as", "rustc", "objcopy", "strip", "ar"];
        let is_compiler = COMPILERS.contains(&call.name)
            || call.name.ends_with("-gcc")
            || call.name.ends_with("-ld")
            || call.name.ends_with("-objcopy");
        if !is_compiler {
            return;
        }
        for pair in call.args.windows(2).filter(|pair| pair[0].text == "-o") {
            self.touch(PathOp::Write, &pair[1], state);
        }
    }
}

fn is_option(text: &str, option: &str) -> bool {
    text == option
        || text.strip_prefix(option).is_some_and(|rest| {
            rest.starts_with('=')
                || option == "+"
                || option == "@"
                || (option.len() == 2
                    && option != "-c"
                    && option != "-o"
                    && option != "-s"
                    && option != "-f"
                    && option != "-l"
                    && option != "-x")
        })
}
