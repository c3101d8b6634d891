//! Options of usual programs that carry code or name a program to run. Nobody reads those here, so a person has to say yes.

use super::{Call, State};
use crate::{PathOp, decide::Scene, shell::Field};

/// A program and its options: exact, or followed by `=` or attached.
const CODE: [(&[&str], &[&str]); 14] = [
    (&["make", "gmake"], &["--eval", "-E"]),
    (&["gdb", "gdb-multiarch", "lldb"], &["-ex", "-iex", "-x", "--command", "--eval-command", "-o"]),
    (&["vim", "vi", "nvim", "ex", "view"], &["-c", "--cmd", "-S", "-s", "+", "-es"]),
    (&["emacs"], &["--eval", "-eval", "-f", "-l", "--load", "--script"]),
    (&["rg"], &["--pre", "--hostname-bin"]),
    (&["bat"], &["--pager"]),
    (&["man"], &["-P", "--pager", "-H"]),
    (&["zip"], &["-TT", "--unzip-command"]),
    (&["cargo"], &["--config"]),
    (&["npm", "npx", "pnpm", "yarn"], &["--node-options", "--script-shell", "-c", "--call"]),
    (&["gcc", "g++", "cc", "clang", "clang++"], &["-wrapper", "-fplugin", "-specs"]),
    (&["sqlite3"], &["-cmd", ".shell", ".system"]),
    (&["ed", "ex"], &[]),
    (&["docker", "podman"], &["--privileged"]),
];

impl Scene<'_> {
    /// Looks for code in the options of a program.
    pub(super) fn code_in_options(&mut self, call: &Call<'_>, state: &State) {
        if matches!(call.name, "ed" | "ex" | "at" | "expect") {
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

    /// `-o FILE` and `--output FILE` of compilers and the like write that file.
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
                || (option.len() == 2
                    && option != "-c"
                    && option != "-o"
                    && option != "-s"
                    && option != "-f"
                    && option != "-l"
                    && option != "-x")
        })
}
