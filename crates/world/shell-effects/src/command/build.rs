//! Build tools that do more than build: `cmake -E`, `make` with code in its arguments, `patch` with a directory option.

use super::{Call, State, options::Line};
use crate::{PathOp, Reader, shell::Field};

/// Tools of `cmake -E` that behave like a usual program.
const CMAKE_TOOLS: [(&str, &[&str]); 13] = [
    ("rm", &["rm"]),
    ("remove", &["rm"]),
    ("remove_directory", &["rm", "-r"]),
    ("copy", &["cp", "-r"]),
    ("copy_if_different", &["cp", "-r"]),
    ("copy_directory", &["cp", "-r"]),
    ("rename", &["mv"]),
    ("make_directory", &["mkdir"]),
    ("touch", &["touch"]),
    ("create_symlink", &["ln", "-s"]),
    ("create_hardlink", &["ln"]),
    ("cat", &["cat"]),
    ("tar", &["tar"]),
];

/// Tools of `cmake -E` that only print or compare.
const CMAKE_HARMLESS: [&str; 12] = [
    "echo",
    "echo_append",
    "true",
    "false",
    "sleep",
    "capabilities",
    "environment",
    "compare_files",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
];

impl Reader<'_> {
    /// Analyses a build tool with a command in its arguments. Returns true if the call was one.
    pub(super) fn build_tool(&mut self, call: &Call<'_>, state: &mut State) -> bool {
        match call.name {
            "cmake" => self.cmake(call, state),
            "make" | "gmake" | "bmake" => {
                self.make(call, state);
                false
            }
            "patch" => {
                self.patch_program(call, state);
                true
            }
            _ => false,
        }
    }

    fn cmake(&mut self, call: &Call<'_>, state: &mut State) -> bool {
        let Some(("-E", args)) = call.args.split_first().map(|(first, rest)| (first.text.as_str(), rest)) else {
            if call.args.iter().any(|arg| arg.text.starts_with("-D") && arg.text.contains("_LAUNCH")) {
                self.unclear(&call.shown(), "a setting names a program that runs the compiler");
            }
            return false;
        };
        let Some((tool, args)) = args.split_first() else { return true };
        let like = CMAKE_TOOLS.iter().find(|(name, _)| *name == tool.text);
        match (tool.text.as_str(), like) {
            (_, Some((_, words))) => {
                let words = words.iter().map(|word| Field::known(*word)).chain(args.iter().cloned());
                self.call(&words.collect::<Vec<_>>(), None, state);
            }
            ("time", _) => self.call(args, None, state),
            ("env", _) => {
                let words: Vec<Field> = std::iter::once(Field::known("env")).chain(args.iter().cloned()).collect();
                self.call(&words, None, state);
            }
            ("chdir", _) => {
                let mut inner = state.clone();
                args.first().into_iter().for_each(|folder| inner.enter(folder));
                self.call(args.get(1..).unwrap_or_default(), None, &mut inner);
            }
            (tool, _) if CMAKE_HARMLESS.contains(&tool) => self.files_named(args, state),
            _ => self.unclear(&call.shown(), "the tool of cmake is not known here"),
        }
        true
    }

    /// A makefile on standard input is code, and so is a variable that make passes to a shell.
    fn make(&mut self, call: &Call<'_>, _state: &State) {
        let line = Line::of(call.args, &["-f", "--file", "--makefile", "-C", "--directory", "-I", "-o", "-W", "-j"]);
        let is_input = |file: &str| file == "-" || file.starts_with("/dev/") || file.starts_with("/proc/");
        if line.values(&["-f", "--file", "--makefile"]).any(is_input) {
            self.unclear(&call.shown(), "it runs what it reads, and that is not known");
        }
        let sets: Vec<String> = line.operands.iter().map(|field| field.text.clone()).collect();
        sets.iter().for_each(|set| self.dangerous_set(set));
    }

    /// A patch writes the files that it names, below the directory of the option.
    fn patch_program(&mut self, call: &Call<'_>, state: &State) {
        const WITH_VALUE: [&str; 14] = [
            "-d",
            "--directory",
            "-o",
            "--output",
            "-i",
            "--input",
            "-r",
            "--reject-file",
            "-p",
            "--strip",
            "-B",
            "-z",
            "-D",
            "-F",
        ];
        let line = Line::of(call.args, &WITH_VALUE);
        let known = |names: &[&str]| line.values(names).map(Field::known).collect::<Vec<Field>>();
        let mut written = known(&["-d", "--directory", "-o", "--output", "-r", "--reject-file"]);
        written.extend(line.operands.first().map(|file| (*file).clone()));
        written.iter().for_each(|file| self.touch(PathOp::Write, file, state));
        known(&["-i", "--input"]).iter().for_each(|file| self.touch(PathOp::Read, file, state));
        if line.has(&["-D", "-B", "-z"]) || !call.args.iter().all(|arg| arg.is_known) {
            self.unclear(&call.shown(), "the output path is known only at run time");
        }
    }
}
