//! Runs a command line session in a test: a binary, a directory and the result of each command.

use std::{
    fmt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Runs a binary in a directory, without a terminal and without the caller's settings.
#[derive(Clone, Debug)]
pub struct Session {
    binary: PathBuf,
    folder: PathBuf,
    settings: Vec<(String, String)>,
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// The text that the command printed to stdout.
    pub stdout: String,
    /// The text that the command printed to stderr.
    pub stderr: String,
    /// The exit code, or `None` if a signal ended the command.
    pub code: Option<i32>,
}

impl Session {
    /// Creates a session with a binary (`env!("CARGO_BIN_EXE_…")`) in a directory.
    pub fn new(binary: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Self {
        Session { binary: binary.into(), folder: folder.into(), settings: Vec::new() }
    }

    /// Sets an environment variable of the commands.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.settings.push((name.to_owned(), value.into()));
        self
    }

    /// Returns the directory of the session.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the environment variables that the commands get.
    pub(crate) fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the command for these arguments, for tests that need more control.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(&self.binary);
        self.settle(command.args(words(arguments)));
        command
    }

    /// Sets the directory and the environment of a command.
    fn settle<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.current_dir(&self.folder).stdin(Stdio::null());
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env("COLUMNS", "100");
        command.envs(self.settings.iter().map(|(name, value)| (name, value)))
    }

    /// Runs the binary with arguments as in a shell; quotes group words.
    pub fn run(&self, arguments: &str) -> std::io::Result<Transcript> {
        transcript(&mut self.command(arguments))
    }

    /// Runs a shell command in which the binary is found by its name.
    pub fn run_shell(&self, command: &str) -> std::io::Result<Transcript> {
        let folder = self.binary.parent().into_iter().map(Path::to_path_buf);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(folder.chain(std::env::split_paths(&path))).map_err(std::io::Error::other)?;
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).env("PATH", path);
        transcript(self.settle(&mut shell))
    }

    /// Writes a file in the directory, and creates its parent directories.
    pub fn write(&self, path: &str, text: &str) -> std::io::Result<()> {
        let path = self.folder.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)
    }
}

fn transcript(command: &mut Command) -> std::io::Result<Transcript> {
    let output = command.output()?;
    Ok(Transcript {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
    })
}

/// Formats the result for a snapshot: stdout unchanged, stderr behind a bar, then the exit code if it is not 0.
impl fmt::Display for Transcript {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.stdout)?;
        for line in self.stderr.lines() {
            writeln!(out, "{}", format!("| {line}").trim_end())?;
        }
        match self.code {
            Some(0) => Ok(()),
            Some(code) => writeln!(out, "[exit {code}]"),
            None => writeln!(out, "[ended by a signal]"),
        }
    }
}

/// Replaces each time of day with `hh:mm:ss`, because it differs in every run.
pub fn without_times(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(letter) = rest.chars().next() {
        if is_time(rest) {
            out.push_str("hh:mm:ss");
            rest = &rest[TIME_LENGTH..];
        } else {
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    out
}

const TIME_LENGTH: usize = 8;

fn is_time(text: &str) -> bool {
    let shape = |(at, byte): (usize, &u8)| if at % 3 == 2 { *byte == b':' } else { byte.is_ascii_digit() };
    text.len() >= TIME_LENGTH && text.as_bytes()[..TIME_LENGTH].iter().enumerate().all(shape)
}

/// Splits a command line into words, as a shell does. Panics if a quote is not closed.
pub fn words(line: &str) -> Vec<String> {
    shlex::split(line).unwrap_or_else(|| panic!("a quote is not closed: {line}"))
}

#[cfg(test)]
mod tests {
    use super::{without_times, words};

    #[test]
    fn times_of_day_are_replaced() {
        assert_eq!(without_times("08:06:15  → a\nat 23:59:00, 1:2:3 é"), "hh:mm:ss  → a\nat hh:mm:ss, 1:2:3 é");
        assert_eq!(without_times("08:06:1"), "08:06:1");
    }

    #[test]
    fn quotes_group_words() {
        assert_eq!(words("draw 'a b' --x \"c d\"  e ''"), ["draw", "a b", "--x", "c d", "e", ""]);
        assert_eq!(words("  "), Vec::<String>::new());
    }
}
