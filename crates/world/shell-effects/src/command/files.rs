//! The effect of common programs on the files in their arguments.

use super::{Call, State, options::Line};
use crate::{PathOp, Reader, Risk, shell::Field};

/// The effect of a program on its operands.
#[derive(Clone, Copy)]
enum Takes {
    Reads,
    /// Its first operand is not a file.
    ReadsButFirst,
    Writes,
    WritesButFirst,
    Deletes,
    Empties,
}

/// Programs that change the permissions or the owner of a file.
const RIGHTS: &[&str] = &["chmod", "chown", "chgrp", "chattr", "setfacl"];

/// Options of those programs that are not permissions.
const RIGHTS_OPTIONS: [&str; 8] = ["-R", "-c", "-f", "-v", "-h", "-H", "-L", "-P"];

/// Programs with the options that take a value, so that the value is not mistaken for a file.
const PROGRAMS: [(&[&str], &[&str], Takes); 10] = [
    (
        &[
            "cat",
            "less",
            "more",
            "nl",
            "od",
            "hexdump",
            "strings",
            "base64",
            "base32",
            "wc",
            "cut",
            "md5sum",
            "sha1sum",
            "sha256sum",
            "sha512sum",
            "cksum",
            "file",
            "stat",
            "readlink",
            "realpath",
            "ls",
            "tree",
            "du",
            "diff",
            "cmp",
            "comm",
            "paste",
            "join",
            "tac",
            "rev",
            "fold",
            "fmt",
            "column",
            "bat",
            "zcat",
            "bzcat",
            "xzcat",
            "nm",
            "objdump",
            "readelf",
            "size",
            "jq",
            "vdir",
            "dir",
            "sum",
            "expand",
        ],
        &[],
        Takes::Reads,
    ),
    (&["head", "tail"], &["-n", "-c", "--lines", "--bytes"], Takes::Reads),
    (
        &["grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep"],
        &["-A", "-B", "-C", "-m", "-g", "-t", "--include", "--exclude"],
        Takes::ReadsButFirst,
    ),
    (
        &[
            "tee", "mkdir", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "mkfifo", "sponge", "dos2unix",
            "unix2dos", "gofmt", "rustfmt",
        ],
        &["-m"],
        Takes::Writes,
    ),
    (&["touch"], &["-d", "-t", "-r", "--date", "--reference"], Takes::Writes),
    (RIGHTS, &["--reference"], Takes::WritesButFirst),
    (&["rmdir", "unlink"], &[], Takes::Deletes),
    (&["shred", "srm", "wipe"], &["-n", "-s", "--iterations", "--size"], Takes::Empties),
    (&["truncate"], &["-s", "--size", "-r", "--reference"], Takes::Empties),
    (&["rename"], &[], Takes::WritesButFirst),
];

impl Reader<'_> {
    /// Analyses a program that works on files. Returns true if the call was one.
    pub(super) fn files(&mut self, call: &Call<'_>, state: &State) -> bool {
        match call.name {
            "rm" => self.rm(call, state),
            "cp" | "install" => self.copy(call, PathOp::Read, state),
            "mv" => self.copy(call, PathOp::Delete, state),
            "ln" | "link" | "symlink" => self.ln(call, state),
            "dd" => self.dd(call, state),
            "tar" | "bsdtar" => self.tar(call, state),
            "unzip" | "7z" | "unrar" | "cpio" => self.unpack(call, state),
            "sort" => self.sort(call, state),
            _ => return self.plain_program(call, state),
        }
        true
    }

    fn plain_program(&mut self, call: &Call<'_>, state: &State) -> bool {
        let Some((_, with_value, takes)) = PROGRAMS.iter().find(|(names, ..)| names.contains(&call.name)) else {
            return false;
        };
        let line = Line::of(call.args, with_value);
        let pattern_given = line.has(&["-e", "-f", "--regexp", "--file", "--reference", "--files"]);
        let (op, skip) = match takes {
            Takes::Reads => (PathOp::Read, 0),
            Takes::ReadsButFirst => (PathOp::Read, usize::from(!pattern_given)),
            Takes::Writes => (PathOp::Write, 0),
            Takes::WritesButFirst => (PathOp::Write, usize::from(!pattern_given)),
            Takes::Deletes => (PathOp::Delete, 0),
            Takes::Empties => (PathOp::Destroy, 0),
        };
        // `chmod -w file` has its mode among the options.
        let is_mode = |name: &str| !name.starts_with("--") && !RIGHTS_OPTIONS.contains(&name);
        let has_mode = RIGHTS.contains(&call.name) && line.options.iter().any(|(name, _)| is_mode(name));
        let skip = if has_mode { 0 } else { skip };
        line.operands.iter().skip(skip).for_each(|file| self.touch(op, file, state));
        if call.name == "chmod" {
            self.mode(call, &line);
        }
        if RIGHTS.contains(&call.name) {
            line.operands.iter().skip(skip).for_each(|file| self.rights(call, file, state));
        }
        true
    }

    fn rm(&mut self, call: &Call<'_>, state: &State) {
        let line = Line::of(call.args, &[]);
        let is_recursive = line.has(&["-r", "-R", "--recursive"])
            || line.options.iter().any(|(name, _)| name.len() > 4 && "--recursive".starts_with(name.as_str()));
        // A bare `*` removes as much as removing the directory.
        let op = |field: &Field| match is_recursive || (field.is_pattern && field.text.trim_start_matches("./") == "*")
        {
            true => PathOp::Destroy,
            false => PathOp::Delete,
        };
        line.operands.iter().for_each(|file| self.touch(op(file), file, state));
    }

    /// Copies or moves all operands but the last to the last.
    fn copy(&mut self, call: &Call<'_>, op: PathOp, state: &State) {
        let line = Line::of(call.args, &["-t", "--target-directory", "-m", "-o", "-g", "-S", "--suffix", "--mode"]);
        let into: Vec<Field> = line.values(&["-t", "--target-directory"]).map(Field::known).collect();
        if call.name == "install" && line.has(&["-d", "--directory"]) {
            return line.operands.iter().for_each(|folder| self.touch(PathOp::Write, folder, state));
        }
        let (target, sources) = match (into.last(), line.operands.split_last()) {
            (Some(into), _) => (Some(into), line.operands.as_slice()),
            (None, Some((last, sources))) => (Some(*last), sources),
            (None, None) => (None, [].as_slice()),
        };
        let Some(target) = target else { return };
        self.copies_a_program(call, sources);
        self.note_written(target, state);
        let empties = sources.iter().any(|source| source.text == "/dev/null");
        self.touch(if empties { PathOp::Destroy } else { PathOp::Write }, target, state);
        // A file that is moved out of the workspace is lost to it.
        let leaves =
            op == PathOp::Delete && state.folders.iter().any(|folder| !self.is_inside(&target.text, folder.as_deref()));
        let op = if leaves { PathOp::Destroy } else { op };
        sources.iter().for_each(|source| self.touch(op, source, state));
    }

    fn is_inside(&self, path: &str, folder: Option<&str>) -> bool {
        (self.around.is_inside)(path, folder.unwrap_or("/"))
    }

    /// A link allows its target to be written under another name.
    fn ln(&mut self, call: &Call<'_>, state: &State) {
        let line = Line::of(call.args, &["-t", "--target-directory", "-S"]);
        let Some((last, sources)) = line.operands.split_last() else { return };
        self.copies_a_program(call, sources);
        self.note_written(last, state);
        self.touch(PathOp::Write, last, state);
        for source in sources {
            let is_relative = !source.text.starts_with(['/', '~']);
            let folder = last.text.rsplit_once('/').map_or("", |(folder, _)| folder);
            let meant = match line.has(&["-s", "--symbolic"]) && is_relative && !folder.is_empty() {
                true => Field { text: format!("{folder}/{}", source.text), ..(*source).clone() },
                false => (*source).clone(),
            };
            self.touch(PathOp::Write, &meant, state);
        }
    }

    fn dd(&mut self, call: &Call<'_>, state: &State) {
        for arg in call.args {
            let field = |text: &str| Field { text: text.to_owned(), ..arg.clone() };
            match arg.text.split_once('=') {
                Some(("of", file)) => {
                    self.touch(PathOp::Destroy, &field(file), state);
                    self.note_written(&field(file), state);
                }
                Some(("if", file)) => {
                    self.touch(PathOp::Read, &field(file), state);
                    self.copies_a_program(call, &[&field(file)]);
                }
                _ => {}
            }
        }
    }

    fn tar(&mut self, call: &Call<'_>, state: &State) {
        let old =
            call.args.first().filter(|first| !first.text.starts_with('-')).map(|first| format!("-{}", first.text));
        let args: Vec<Field> = match old {
            Some(first) => std::iter::once(Field::known(first)).chain(call.args[1..].iter().cloned()).collect(),
            None => call.args.to_vec(),
        };
        let line = Line::of(&args, &["-f", "--file", "-C", "--directory", "-T", "-X", "-I", "--use-compress-program"]);
        let runs = [
            "--to-command",
            "--checkpoint-action",
            "-I",
            "--use-compress-program",
            "--info-script",
            "--new-volume-script",
            "-F",
            "--rsh-command",
        ];
        if line.has(&runs) || line.has(&["-P", "--absolute-names"]) {
            self.unclear(&call.shown(), "an option starts another program or lets it write anywhere");
        }
        let op = if line.has(&["-c", "--create", "-r", "-u", "--append", "--update"]) {
            PathOp::Write
        } else {
            PathOp::Read
        };
        let archives: Vec<Field> =
            line.values(&["-f", "--file"]).filter(|file| *file != "-").map(Field::known).collect();
        archives.iter().for_each(|file| self.touch(op, file, state));
        if line.has(&["-x", "--extract", "--get"]) {
            let folders: Vec<Field> = line.values(&["-C", "--directory"]).map(Field::known).collect();
            folders.iter().for_each(|folder| self.touch(PathOp::Write, folder, state));
        } else {
            line.operands.iter().for_each(|file| self.touch(PathOp::Read, file, state));
        }
        if line.has(&["--remove-files"]) {
            line.operands.iter().for_each(|file| self.touch(PathOp::Destroy, file, state));
        }
    }

    fn unpack(&mut self, call: &Call<'_>, state: &State) {
        let line = Line::of(call.args, &["-d", "-D", "-x", "-P"]);
        if call.args.iter().any(|arg| arg.text.starts_with('-') && self.leads_outside(arg, state)) {
            self.unclear(&call.shown(), "an option leads out of the workspace");
        }
        if call.name == "cpio" && line.has(&["-i", "-p", "--extract", "--pass-through"]) {
            self.unclear(&call.shown(), "an archive can name any place");
        }
        let folders: Vec<Field> = line.values(&["-d", "-D"]).map(Field::known).collect();
        folders.iter().for_each(|folder| self.touch(PathOp::Write, folder, state));
        self.files_named(call.args, state);
    }

    fn sort(&mut self, call: &Call<'_>, state: &State) {
        let line = Line::of(
            call.args,
            &["-o", "--output", "-k", "-t", "-S", "-T", "--temporary-directory", "--compress-program"],
        );
        if line.has(&["--compress-program"]) {
            self.unclear(&call.shown(), "an option starts another program");
        }
        let written = ["-o", "--output", "-T", "--temporary-directory"];
        let written: Vec<Field> = line.values(&written).map(Field::known).collect();
        written.iter().for_each(|file| self.touch(PathOp::Write, file, state));
        line.operands.iter().for_each(|file| self.touch(PathOp::Read, file, state));
    }

    /// Outside of the workspace the sandbox controls writing, but not changes of permissions; a temporary directory may
    /// hold files of other users.
    fn rights(&mut self, call: &Call<'_>, file: &Field, state: &State) {
        if state.folders.iter().any(|folder| !self.is_inside(&file.text, folder.as_deref())) {
            let why = "the sandbox does not hold whom a file outside of the workspace belongs to";
            self.risky(Risk::Ownership, &call.shown(), why);
        }
    }

    /// Reports modes that let a program run with the rights of another user.
    fn mode(&mut self, call: &Call<'_>, line: &Line<'_>) {
        let mode = line.operands.first().map_or("", |mode| mode.text.as_str());
        let is_special = mode.contains('s') && mode.contains(['+', '='])
            || mode.len() == 4 && mode.starts_with(['2', '4', '6', '7']);
        if is_special {
            self.risky(Risk::Privilege, &call.shown(), "the file would run with another user's rights");
        }
    }
}
