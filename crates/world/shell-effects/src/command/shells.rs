//! Programs that take code: shells, whose code is analysed, and interpreters, whose code is not.

use super::{Call, State, options::Line, tools};
use crate::{PathOp, Reader, shell::Field};

const SHELLS: [&str; 10] = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh"];

/// Interpreters, with the options that carry code.
const INTERPRETERS: [(&str, &[&str]); 36] = [
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("node", &["-e", "-p", "--eval", "--print"]),
    ("nodejs", &["-e", "-p", "--eval", "--print"]),
    ("bun", &["-e", "--eval"]),
    ("deno", &["eval", "repl"]),
    ("php", &["-r", "-B", "-R", "-E"]),
    ("lua", &["-e"]),
    ("luajit", &["-e"]),
    ("Rscript", &["-e"]),
    ("R", &["-e"]),
    ("julia", &["-e", "-E", "--eval"]),
    ("osascript", &["-e"]),
    ("tclsh", &[]),
    ("wish", &[]),
    ("expect", &["-c"]),
    ("ipython", &["-c"]),
    ("octave", &["--eval"]),
    ("gnuplot", &["-e"]),
    ("guile", &["-c"]),
    ("racket", &["-e", "--eval"]),
    ("sbcl", &["--eval"]),
    ("clisp", &["-x"]),
    ("emacs", &["--eval", "-eval", "--execute"]),
    ("ghci", &["-e"]),
    ("ocaml", &["-e"]),
    ("swipl", &["-g", "-t"]),
    ("erl", &["-eval", "-run", "-s"]),
    ("elixir", &["-e", "--eval"]),
    ("scala", &["-e"]),
    ("groovy", &["-e"]),
    ("jrunscript", &["-e"]),
    ("pwsh", &["-c", "-Command", "-EncodedCommand"]),
    ("irb", &["-e"]),
];

/// Interpreters that read code from stdin if no file is named.
const NEEDS_FILE: [&str; 24] = [
    "python", "pypy", "perl", "ruby", "node", "nodejs", "lua", "tclsh", "wish", "expect", "ipython", "octave",
    "gnuplot", "guile", "racket", "sbcl", "clisp", "ghci", "ocaml", "swipl", "erl", "pwsh", "irb", "php",
];

impl Reader<'_> {
    /// Analyses a shell or an interpreter. Returns true if the call was one.
    pub(super) fn shell_program(&mut self, call: &Call<'_>, state: &mut State) -> bool {
        if SHELLS.contains(&call.name) {
            self.run_shell(call, state);
            return true;
        }
        let plain = call.name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let Some((name, code)) = INTERPRETERS.iter().find(|(name, _)| *name == plain) else {
            return self.text_program(call, state);
        };
        self.interpreter(call, name, code, state);
        true
    }

    fn run_shell(&mut self, call: &Call<'_>, state: &mut State) {
        let mut args = call.args;
        let mut has_script = false;
        while let Some((first, rest)) = args.split_first() {
            if !first.is_known {
                return self.unclear(&call.shown(), "the shell script is known only at run time");
            }
            let text = first.text.as_str();
            if !text.starts_with(['-', '+']) || text.len() < 2 {
                break;
            }
            args = rest;
            match text {
                "--" => break,
                "-o" | "+o" | "-O" | "+O" => args = args.get(1..).unwrap_or_default(),
                "--rcfile" | "--init-file" => {
                    self.unclear(&call.shown(), "the content of the file is not known");
                    args = args.get(1..).unwrap_or_default();
                }
                text if text.starts_with("--") => {}
                text => has_script |= text.contains('c'),
            }
        }
        match (has_script, args.split_first()) {
            (true, Some((script, words))) => self.inner_script(script, words, state),
            (true, None) => {}
            (false, Some((file, words))) => {
                self.script_file(call, file, state);
                self.files_named(words, state);
            }
            (false, None) => self.code_on_stdin(call, state),
        }
    }

    fn inner_script(&mut self, script: &Field, words: &[Field], state: &State) {
        let mut inner = state.clone();
        for (at, word) in words.iter().enumerate() {
            inner.vars.fix(&at.to_string(), word.clone());
        }
        self.script_field(script, &mut inner);
    }

    /// Checks a script file: it needs read access like a program; a device or an unknown file is unclear.
    fn script_file(&mut self, call: &Call<'_>, file: &Field, state: &State) {
        let is_device = file.text.starts_with("/dev/") || file.text.starts_with("/proc/") || file.text == "-";
        match is_device || !file.is_known {
            true => self.unclear(&call.shown(), "the code is known only at run time"),
            false => self.touch(PathOp::Read, file, state),
        }
    }

    fn code_on_stdin(&mut self, call: &Call<'_>, state: &mut State) {
        match call.fed.cloned() {
            Some(script) => self.script_field(&script, state),
            None => self.unclear(&call.shown(), "it runs what it reads, and that is not known"),
        }
    }

    fn interpreter(&mut self, call: &Call<'_>, name: &str, code: &[&str], state: &State) {
        if matches!(name, "deno" | "bun") && call.args.iter().any(|arg| arg.text.contains("://")) {
            return self.unclear(&call.shown(), "it runs code from elsewhere");
        }
        let mut args = call.args;
        while let Some((first, rest)) = args.split_first() {
            let text = first.text.as_str();
            let carries_code = code.iter().any(|option| match option.strip_prefix('-') {
                Some(letter) if letter.len() == 1 => {
                    text.starts_with('-') && !text.starts_with("--") && cluster_has(name, text, letter)
                }
                _ => text.split('=').next() == Some(*option),
            });
            if carries_code || !first.is_known {
                return self.unclear(&call.shown(), "code in its arguments is not understood");
            }
            if text == "-m" {
                if !rest.first().is_some_and(|module| module.is_known && tools::is_known_module(&module.text)) {
                    self.unclear(&call.shown(), "the effect of the module is not known");
                }
                return self.files_named(rest, state);
            }
            if !text.starts_with('-') || text == "-" {
                break;
            }
            args = rest;
        }
        match args.split_first() {
            Some((file, words)) => {
                self.script_file(call, file, state);
                self.files_named(words, state);
            }
            None if NEEDS_FILE.contains(&name) && !is_question(call.args) => {
                self.unclear(&call.shown(), "it runs what it reads, and that is not known");
            }
            None => {}
        }
    }

    /// Analyses `awk` and `sed`: their programs can start others and write files.
    fn text_program(&mut self, call: &Call<'_>, state: &mut State) -> bool {
        let (with_value, has_program): (&[&str], _) = match call.name {
            "awk" | "gawk" | "mawk" | "nawk" => (
                &["-F", "-v", "-f", "-i", "--file", "--include"],
                ["-f", "--file", "-i", "--include", "-e", "--source"],
            ),
            "sed" | "gsed" => {
                (&["-e", "-f", "-l", "--expression", "--file"], ["-e", "--expression", "-f", "--file", "-f", "-f"])
            }
            _ => return false,
        };
        let line = Line::of(call.args, with_value);
        let mut operands = line.operands.iter();
        let mut programs: Vec<&str> = line.values(&["-e", "--expression", "--source"]).collect();
        let mut is_known = true;
        if !line.has(&has_program)
            && let Some(program) = operands.next()
        {
            is_known = program.is_known;
            programs.push(&program.text);
        }
        let is_awk = call.name.ends_with("awk");
        let is_harmless = |program: &&str| if is_awk { awk_is_harmless(program) } else { sed_is_harmless(program) };
        if line.has(&["-f", "--file"]) || !is_known || !programs.iter().all(is_harmless) {
            self.unclear(&call.shown(), "its program can start others or write files");
        }
        let in_place = line.options.iter().any(|(name, _)| matches!(name.as_str(), "-i" | "--in-place"));
        let op = if in_place { PathOp::Write } else { PathOp::Read };
        operands.for_each(|file| self.touch(op, file, state));
        true
    }
}

/// Reports if a cluster such as `-lne` contains the option `-e`. The text after an option with a value is not an
/// option.
fn cluster_has(name: &str, text: &str, letter: &str) -> bool {
    let takes_rest: &[char] = match name {
        "python" | "pypy" => &['W', 'X', 'm', 'Q'],
        "perl" | "ruby" => &['i', 'I', 'M', 'm', 'x', 'C', 'D', 'F', 'r'],
        _ => &[],
    };
    // perl's `-i` takes a suffix without a defined end, so any text that looks like code counts as code.
    let end = text.find(|letter| takes_rest.contains(&letter) && letter != 'i').unwrap_or(text.len());
    text[1..end.max(1)].contains(letter)
}

fn is_question(args: &[Field]) -> bool {
    !args.is_empty()
        && args.iter().all(|arg| matches!(arg.text.as_str(), "-v" | "-V" | "-h" | "--version" | "--help" | "-VV"))
}

fn awk_is_harmless(program: &str) -> bool {
    !["system", "getline", "|", "print >", "@", "printf >", "close"].iter().any(|word| program.contains(word))
        && !writes(program)
}

/// In awk, `>` after a print writes a file; elsewhere it compares.
fn writes(program: &str) -> bool {
    program
        .split("print")
        .skip(1)
        .any(|rest| rest.split(['}', ';', '\n']).next().is_some_and(|statement| statement.contains('>')))
}

/// Accepts only substitutions, deletions, prints and the like; no `e` and no `w`.
fn sed_is_harmless(program: &str) -> bool {
    program.split(['\n', ';']).all(|command| {
        let command = command.trim().trim_matches(['{', '}']).trim();
        match substitution_flags(command) {
            Some(flags) => !flags.contains(['e', 'w']),
            None => {
                let verb =
                    command.trim_start_matches(|letter: char| letter.is_ascii_digit() || "$,!+~ ".contains(letter));
                let verb = after_addresses(verb);
                !verb.starts_with(['e', 'w', 'W', 'r', 'R'])
            }
        }
    })
}

/// Returns the flags after `s/…/…/`.
fn substitution_flags(command: &str) -> Option<&str> {
    let command = after_addresses(
        command.trim_start_matches(|letter: char| letter.is_ascii_digit() || "$,!+~ ".contains(letter)),
    );
    let rest = command.strip_prefix('s').or_else(|| command.strip_prefix('y'))?;
    let mark = rest.chars().next().filter(|mark| !mark.is_alphanumeric() && !mark.is_whitespace())?;
    let mut parts = rest[mark.len_utf8()..].split(mark);
    // Escaped marks create more parts; the last part still follows the last mark.
    parts.next_back()
}

fn after_addresses(command: &str) -> &str {
    let mut command = command.trim_start();
    for _ in 0..2 {
        let Some(rest) = command.strip_prefix('/') else { break };
        let Some(end) = rest.find('/') else { break };
        command =
            rest[end + 1..].trim_start_matches(|letter: char| letter.is_ascii_digit() || "$,!+~I ".contains(letter));
    }
    command
}
