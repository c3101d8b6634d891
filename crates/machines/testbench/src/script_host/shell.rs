//! Builds the scripts for a Windows host, for PowerShell and `cmd`: quoting, and the complete exit code.
//!
//! An exit code on Windows has 32 bits, of which `ssh` returns 8. So every script prints its own at the end. The line
//! for `ssh` itself has only one pair of quotes and no significant spaces, because the host's login shell, which may
//! be either of the two, parses it first.

use std::collections::BTreeMap;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Deserialize;

use crate::{
    Trouble,
    ssh::{is_name, plain},
};

/// The longest script that is sent as an argument: the line may have 8191 characters, and each character of the
/// script takes less than three.
const ENCODED_CHARS_MAX: usize = 2_600;

/// The shell that runs the scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::enum_variant_names, reason = "that is what it is called")]
pub(crate) enum Shell {
    /// The Windows PowerShell that is part of Windows.
    #[default]
    PowerShell,
    /// PowerShell 6 and later.
    Pwsh,
    /// The classic command interpreter.
    Cmd,
}

/// A script that is ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    /// The files to copy into the user's home directory first.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// The command line for `ssh`.
    pub(crate) line: String,
    /// The text that precedes the exit code.
    ending: String,
}

/// The parts of a script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'w> {
    /// The id that names the script's files and marks its processes.
    pub(crate) id: &'w str,
    /// The working directory; the user's home directory if empty.
    pub(crate) folder: &'w str,
    /// The commands in the shell's language.
    pub(crate) command: &'w str,
    /// The environment variables of the script.
    pub(crate) env: &'w BTreeMap<String, String>,
}

/// Returns the mark of one start's processes, or of all processes of a session.
pub(crate) fn id(session: &str, start: Option<(&str, u32)>) -> String {
    let start = start.map(|(id, repetition)| format!("{}-{repetition}", plain(id))).unwrap_or_default();
    format!("interlock-{}-{start}", plain(session))
}

impl Shell {
    /// Quotes one word for the shell.
    pub(crate) fn quoted(self, word: &str) -> String {
        match self {
            Shell::PowerShell | Shell::Pwsh => powershell_quoted(word),
            Shell::Cmd => cmd_quoted(word),
        }
    }

    /// Builds a script for the shell.
    pub(crate) fn script(self, wanted: Wanted<'_>) -> Result<Script, Trouble> {
        if let Some(name) = wanted.env.keys().find(|name| !is_name(name)) {
            return Err(Trouble::environment(format!("`{name}` is not a variable name")));
        }
        match self {
            Shell::PowerShell => Ok(powershell("powershell", wanted)),
            Shell::Pwsh => Ok(powershell("pwsh", wanted)),
            Shell::Cmd => cmd(wanted),
        }
    }

    /// Returns the command that prints the shell's version.
    pub(crate) fn version(self) -> &'static str {
        match self {
            Shell::PowerShell | Shell::Pwsh => "\"PowerShell $($PSVersionTable.PSVersion)\"",
            Shell::Cmd => "ver",
        }
    }

    /// Returns the command that creates a directory if it is missing.
    pub(crate) fn make_folder(self, folder: &str) -> String {
        let folder_quoted = self.quoted(folder);
        match self {
            Shell::PowerShell | Shell::Pwsh => {
                format!("New-Item -ItemType Directory -Force -Path {folder_quoted} | Out-Null")
            }
            Shell::Cmd => format!("if not exist {folder_quoted} mkdir {folder_quoted}"),
        }
    }

    /// Returns the command that removes files that may not exist.
    pub(crate) fn remove(self, path: &str) -> String {
        let path = self.quoted(path);
        match self {
            Shell::PowerShell | Shell::Pwsh => format!("Remove-Item -Force -ErrorAction SilentlyContinue -Path {path}"),
            Shell::Cmd => format!("if exist {path} del /f /q {path}"),
        }
    }
}

impl Script {
    /// Returns the exit code that the script printed, and the remaining output.
    pub(crate) fn ended(&self, stderr: &str) -> (Option<i64>, String) {
        let Some(at) = stderr.rfind(&self.ending) else { return (None, stderr.to_owned()) };
        let code = stderr[at + self.ending.len()..].lines().next().and_then(|code| code.trim().parse().ok());
        let after = stderr[at..].split_once('\n').map_or("", |(_, after)| after);
        (code, format!("{}{after}", &stderr[..at]))
    }
}

/// Returns the command that ends every process whose command line contains an id, with all its children.
pub(crate) fn end(id: &str) -> String {
    let script = format!(
        "$ProgressPreference = 'SilentlyContinue'\n\
         Get-CimInstance Win32_Process -Filter \"CommandLine LIKE '%{id}%'\" | Where-Object {{ $_.ProcessId -ne $PID }} | \
         ForEach-Object {{ taskkill /T /F /PID $_.ProcessId }}\nexit 0\n"
    );
    // The id does not occur in this command's own line, because the script is encoded.
    format!("powershell -NoProfile -NonInteractive -EncodedCommand {}", encoded(&script))
}

fn powershell(program: &str, wanted: Wanted<'_>) -> Script {
    let ending = ending(wanted.id);
    let mut script = String::from("$ProgressPreference = 'SilentlyContinue'\n");
    if !wanted.folder.is_empty() {
        script.push_str(&format!("Set-Location -LiteralPath {} -ErrorAction Stop\n", powershell_quoted(wanted.folder)));
    }
    for (name, value) in wanted.env {
        script.push_str(&format!("$env:{name} = {}\n", powershell_quoted(value)));
    }
    let marker = powershell_quoted(&ending);
    let say = format!("[Console]::Error.WriteLine({marker} + $interlockCode)");
    script.push_str(&format!(
        "$interlockCode = 1\ntry {{\n{}\nif ($?) {{ $interlockCode = 0 }}\n\
         }} catch {{ [Console]::Error.WriteLine($_) }}\n\
         if ($LASTEXITCODE) {{ $interlockCode = $LASTEXITCODE }}\n{say}\n$LASTEXITCODE = $interlockCode\nexit $LASTEXITCODE\n",
        wanted.command
    ));
    let options = "-NoProfile -NonInteractive -ExecutionPolicy Bypass -OutputFormat Text";
    if script.chars().count() <= ENCODED_CHARS_MAX {
        let line = format!(
            "cmd /d /c \"set INTERLOCK_BENCH={}&& {program} {options} -EncodedCommand {}\"",
            wanted.id,
            encoded(&script)
        );
        return Script { files: Vec::new(), line, ending };
    }
    let name = format!("{}.ps1", wanted.id);
    // Without the byte order mark, Windows PowerShell reads files in the ANSI code page.
    let content = [b"\xef\xbb\xbf", script.replace('\n', "\r\n").as_bytes()].concat();
    let line = format!("{program} {options} -File {name}");
    Script { files: vec![(name, content)], line, ending }
}

/// Builds two files: a separate shell runs the inner one, so that control always returns to the outer one.
fn cmd(wanted: Wanted<'_>) -> Result<Script, Trouble> {
    let ending = ending(wanted.id);
    let inner = format!("{}-run.cmd", wanted.id);
    let mut body = String::from("@echo off\n");
    if !wanted.folder.is_empty() {
        body.push_str(&format!("cd /d {} || exit /b 1\n", cmd_quoted(wanted.folder)));
    }
    for (name, value) in wanted.env {
        if value.contains(['\n', '\r', '"']) {
            return Err(Trouble::environment(format!(
                "the value of {name} cannot be set by cmd: it has quotes or lines"
            )));
        }
        body.push_str(&format!("set \"{name}={}\"\n", value.replace('%', "%%")));
    }
    body.push_str(&format!("{}\n", wanted.command));
    let page = if body.is_ascii() { "" } else { "chcp 65001 >nul\n" };
    let outer = format!(
        "@echo off\n{page}cmd /d /c {inner}\nset INTERLOCK_CODE=%ERRORLEVEL%\n\
         >&2 echo {ending}%INTERLOCK_CODE%\nexit /b %INTERLOCK_CODE%\n"
    );
    let name = format!("{}.cmd", wanted.id);
    let line = format!("cmd /d /c {name}");
    let lines = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n").into_bytes();
    Ok(Script { files: vec![(name, lines(&outer)), (inner, lines(&body))], line, ending })
}

fn ending(id: &str) -> String {
    format!("interlock: {id} ended with ")
}

/// Encodes a script for `-EncodedCommand`: base64 of UTF-16.
fn encoded(script: &str) -> String {
    BASE64_STANDARD.encode(script.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>())
}

/// Quotes a word for PowerShell, which treats typographic quotes as quotes too.
fn powershell_quoted(word: &str) -> String {
    let mut quoted = String::from("'");
    for letter in word.chars() {
        if matches!(letter, '\'' | '\u{2018}'..='\u{201b}') {
            quoted.push(letter);
        }
        quoted.push(letter);
    }
    quoted + "'"
}

/// Quotes a word for a batch file, and for programs that parse their command line like Microsoft's.
fn cmd_quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./\\:=+@".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let (mut quoted, mut slashes) = (String::from("\""), 0);
    for letter in word.chars() {
        match letter {
            '\\' => slashes += 1,
            // Backslashes are special only before a quote, and there each must be doubled.
            '"' => quoted.push_str(&"\\".repeat(slashes * 2 + 1)),
            _ => quoted.push_str(&"\\".repeat(slashes)),
        }
        if letter != '\\' {
            slashes = 0;
            quoted.push(letter);
            if letter == '%' {
                quoted.push('%');
            }
        }
    }
    quoted.push_str(&"\\".repeat(slashes * 2));
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    #[test]
    fn words_are_quoted_for_each_shell() {
        let cases = [
            ("plain", "'plain'", "plain"),
            ("C:\\bench dir\\", "'C:\\bench dir\\'", "\"C:\\bench dir\\\\\""),
            ("it's", "'it''s'", "\"it's\""),
            ("5\u{2019} $x `n", "'5\u{2019}\u{2019} $x `n'", "\"5\u{2019} $x `n\""),
            ("say \"hi\\\"", "'say \"hi\\\"'", "\"say \\\"hi\\\\\\\"\""),
            ("100%", "'100%'", "\"100%%\""),
            ("", "''", "\"\""),
        ];
        for (word, powershell, cmd) in cases {
            assert_eq!((&*Shell::Pwsh.quoted(word), &*Shell::Cmd.quoted(word)), (powershell, cmd), "{word}");
        }
    }

    #[test]
    fn short_scripts_are_sent_encoded_and_long_ones_as_a_file() {
        let env = none();
        let wanted = Wanted { id: "interlock-s-a-1", folder: "C:\\x y", command: "run.exe 'ü'", env: &env };
        let short = Shell::PowerShell.script(wanted).unwrap();
        assert!(short.files.is_empty() && short.line.len() < 8_191);
        assert!(short.line.starts_with("cmd /d /c \"set INTERLOCK_BENCH=interlock-s-a-1&& powershell -NoProfile"));
        assert_eq!(short.line.matches('"').count(), 2, "{}", short.line);
        let long = "x".repeat(3_000);
        let long = Shell::PowerShell.script(Wanted { command: &long, ..wanted }).unwrap();
        assert_eq!(long.files[0].0, "interlock-s-a-1.ps1");
        assert!(
            long.files[0].1.starts_with(b"\xef\xbb\xbf$Progress") && long.line.ends_with("-File interlock-s-a-1.ps1")
        );
        let longest = "x".repeat(ENCODED_CHARS_MAX - 600);
        assert!(Shell::PowerShell.script(Wanted { command: &longest, ..wanted }).unwrap().line.len() < 8_191);
    }

    #[test]
    fn batch_file_has_crlf_lines_and_runs_in_a_separate_shell() {
        let env = BTreeMap::from([("RATE".to_owned(), "50%".to_owned())]);
        let wanted = Wanted { id: "interlock-s-a-1", folder: "C:\\x y", command: "a.bat\nexit 3", env: &env };
        let script = Shell::Cmd.script(wanted).unwrap();
        let text = |at: usize| String::from_utf8(script.files[at].1.clone()).unwrap();
        let expected = "@echo off\r\ncd /d \"C:\\x y\" || exit /b 1\r\nset \"RATE=50%%\"\r\na.bat\r\nexit 3\r\n";
        assert_eq!(text(1), expected);
        assert!(text(0).contains("cmd /d /c interlock-s-a-1-run.cmd\r\n"), "{}", text(0));
        assert_eq!(script.line, "cmd /d /c interlock-s-a-1.cmd");
        let broken = BTreeMap::from([("A".to_owned(), "x\" & del".to_owned())]);
        assert!(Shell::Cmd.script(Wanted { env: &broken, ..wanted }).is_err());
    }

    #[test]
    fn exit_codes_keep_all_32_bits() {
        let env = none();
        let script = Shell::Cmd.script(Wanted { id: "i", folder: "", command: "x", env: &env }).unwrap();
        let check = |stderr: &str, code: Option<i64>, rest: &str| {
            assert_eq!(script.ended(stderr), (code, rest.to_owned()), "{stderr}");
        };
        check("oops\ninterlock: i ended with -1073741819\n", Some(-1_073_741_819), "oops\n");
        check("interlock: i ended with 3010\nlate\n", Some(3_010), "late\n");
        check("interlock: i ended with \n", None, "");
        check("cut", None, "cut");
    }
}
