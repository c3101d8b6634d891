//! Access to another computer over SSH, with the programs `ssh` and `scp`.
//!
//! The user's own SSH configuration is not used unless the profile names it: keys, known hosts and options come from
//! the profile. A program that is started remotely carries a mark in its environment. By this mark it is found and
//! ended over a second connection when its time is up, because closing the first connection would leave it running.

use interlock_beneath::whole;
use std::{
    borrow::Cow,
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use interlock_process::Tell;
use interlock_sandbox::Network;
use serde::Deserialize;

use crate::{
    Bench, Trouble,
    tool::{Said, Tool},
};

const PACKAGE: &str = "openssh-client";

/// The environment variable that names the start of a remote program.
const MARK: &str = "INTERLOCK_BENCH";

/// The time limit for copying a file, and the one for ending leftover remote programs.
const COPY_MAX: Duration = Duration::from_secs(600);
const END_MAX: Duration = Duration::from_secs(30);

/// The exit code of `ssh` if it could not connect or the connection was lost.
pub(crate) const CUT_OFF: i64 = 255;

/// The address and the credentials of the computer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ssh {
    /// The host name or address.
    pub(crate) host: String,
    #[serde(default = "usual_port")]
    port: u16,
    user: Option<String>,
    /// The private key file. Without one, the keys of the agent in `SSH_AUTH_SOCK` are used.
    key: Option<PathBuf>,
    /// The host's public key, such as `ssh-ed25519 AAAA…`. Without it and without `known_hosts`, the first key seen
    /// in a session is trusted.
    host_key: Option<String>,
    /// The file with known host keys.
    known_hosts: Option<PathBuf>,
    /// An SSH configuration file, for example for jump hosts.
    config: Option<PathBuf>,
    /// The time limit for connecting, in seconds.
    #[serde(default = "connect_sec")]
    connect_sec: u64,
    /// True if files are copied with the old SCP protocol, for hosts without SFTP.
    #[serde(default)]
    legacy_scp: bool,
}

fn usual_port() -> u16 {
    22
}

fn connect_sec() -> u64 {
    10
}

/// A command to run remotely.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    /// The command line for the remote shell.
    pub(crate) command: String,
    /// The standard input of the command.
    pub(crate) stdin: Vec<u8>,
    /// The time limit of the command.
    pub(crate) timeout: Duration,
    /// The lines of output that are reported as progress.
    pub(crate) tell: Tell,
    /// True if the command runs even after the attempt was cancelled.
    pub(crate) is_last_words: bool,
}

impl Remote {
    /// Creates a command whose output is not shown.
    pub(crate) fn quiet(command: impl Into<String>, timeout: Duration) -> Self {
        Remote { command: command.into(), stdin: Vec::new(), timeout, tell: Tell::Nothing, is_last_words: false }
    }
}

impl Ssh {
    /// Checks that the settings are usable; `field` is their place in the profile.
    pub(crate) fn check(&self, field: &str) -> Result<(), Trouble> {
        let is_odd = |text: &str| {
            text.is_empty() || text.starts_with('-') || text.chars().any(|it| it.is_whitespace() || it.is_control())
        };
        if is_odd(&self.host) {
            return Err(Trouble::config(&format!("{field}.host"), format!("is `{}`, which is not a host", self.host)));
        }
        match self.user.as_deref().filter(|user| is_odd(user)) {
            Some(user) => {
                Err(Trouble::config(&format!("{field}.user"), format!("is `{user}`, which is not a user name")))
            }
            None => Ok(()),
        }
    }

    /// Checks that the programs are installed.
    pub(crate) fn installed(bench: Bench<'_>) -> Result<(), Trouble> {
        for program in ["ssh", "scp"] {
            Tool::new(program, PACKAGE, END_MAX).find(&bench.session.folder)?;
        }
        Ok(())
    }

    /// Runs a command line remotely, unchanged.
    pub(crate) async fn run(&self, bench: Bench<'_>, remote: &Remote) -> Result<Said, Trouble> {
        let mut tool = self.tool("ssh", bench, remote.timeout)?;
        tool = tool.args(["-T".into(), "--".into(), OsString::from(&self.host), OsString::from(&remote.command)]);
        tool.stdin.clone_from(&remote.stdin);
        (tool.tell, tool.is_last_words) = (remote.tell, remote.is_last_words);
        tool.run(bench).await
    }

    /// Copies a file to the host.
    pub(crate) async fn put(&self, bench: Bench<'_>, from: &Path, to: &str) -> Result<(), Trouble> {
        let tool = self.tool("scp", bench, COPY_MAX)?;
        let words = [OsString::from("-p"), "--".into(), from.into(), self.place(to)];
        tool.args(words).must(bench).await.map(drop).map_err(|why| self.not_copied(to, &why))
    }

    /// Copies the files that a remote pattern matches into a directory.
    pub(crate) async fn get(&self, bench: Bench<'_>, from: &str, folder: &Path) -> Result<(), Trouble> {
        let tool = self.tool("scp", bench, COPY_MAX)?;
        let words = [OsString::from("-p"), "-r".into(), "--".into(), self.place(from), folder.into()];
        tool.args(words).must(bench).await.map(drop).map_err(|why| self.not_copied(from, &why))
    }

    fn not_copied(&self, what: &str, why: &Trouble) -> Trouble {
        match why {
            Trouble::Environment(why) => {
                Trouble::Environment(format!("{}:{what} could not be copied: {why}", self.host))
            }
            other => other.clone(),
        }
    }

    /// Returns a remote path in the notation of `scp`.
    fn place(&self, path: &str) -> OsString {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let path = if self.legacy_scp { quoted(path) } else { path.to_owned() };
        format!("{host}:{path}").into()
    }

    fn tool(&self, program: &str, bench: Bench<'_>, timeout: Duration) -> Result<Tool, Trouble> {
        let mut tool = Tool::new(program, PACKAGE, timeout).args(self.options(bench)?);
        tool.network = Some(Network::On);
        tool.tell = Tell::Nothing;
        let files = [&self.key, &self.known_hosts, &self.config];
        tool.read = files.into_iter().flatten().map(|path| expanded(path)).collect();
        if self.key.is_none()
            && let Ok(agent) = std::env::var("SSH_AUTH_SOCK")
        {
            tool.env.insert("SSH_AUTH_SOCK".to_owned(), agent);
        }
        Ok(tool)
    }

    fn options(&self, bench: Bench<'_>) -> Result<Vec<OsString>, Trouble> {
        let (known_hosts, is_strict) = self.known_hosts(bench)?;
        let config = self.config.as_deref().map_or_else(|| PathBuf::from("none"), expanded);
        let strict = if is_strict { "yes" } else { "accept-new" };
        let mut options = vec![
            "BatchMode=yes".to_owned(),
            format!("ConnectTimeout={}", self.connect_sec),
            "ServerAliveInterval=5".to_owned(),
            "ServerAliveCountMax=3".to_owned(),
            "LogLevel=ERROR".to_owned(),
            format!("Port={}", self.port),
            format!("UserKnownHostsFile=\"{}\"", known_hosts.display()),
            "GlobalKnownHostsFile=none".to_owned(),
            format!("StrictHostKeyChecking={strict}"),
        ];
        options.extend(self.user.iter().map(|user| format!("User={user}")));
        if let Some(key) = &self.key {
            options.push("IdentitiesOnly=yes".to_owned());
            options.push(format!("IdentityFile=\"{}\"", expanded(key).display()));
        }
        let options = options.into_iter().flat_map(|option| [OsString::from("-o"), option.into()]);
        Ok([OsString::from("-F"), config.into()].into_iter().chain(options).collect())
    }

    /// Returns the file of host keys, and whether it must already contain the host.
    fn known_hosts(&self, bench: Bench<'_>) -> Result<(PathBuf, bool), Trouble> {
        if let Some(path) = &self.known_hosts {
            return Ok((expanded(path), true));
        }
        let path = bench.session.folder.join("known_hosts");
        if let Some(key) = &self.host_key {
            let host = if self.port == 22 { self.host.clone() } else { format!("[{}]:{}", self.host, self.port) };
            whole::write(&path, format!("{host} {}\n", key.trim()))?;
        }
        Ok((path, self.host_key.is_some()))
    }
}

/// A mark by which programs on a computer with a POSIX shell are found again.
#[derive(Clone, Debug)]
pub(crate) struct Marked {
    /// The mark: letters, digits, `_`, `-` and `/` only.
    mark: String,
}

impl Marked {
    /// Returns the mark of one start within a session.
    pub(crate) fn start(session: &str, id: &str, repetition: u32) -> Self {
        Marked { mark: format!("{}/{}-{repetition}", plain(session), plain(id)) }
    }

    /// Returns the common mark of all starts of a session.
    pub(crate) fn session(session: &str) -> Self {
        Marked { mark: format!("{}/", plain(session)) }
    }

    /// Returns a command line for a POSIX shell that runs another command. It prints the exit code at the end, to
    /// distinguish the program's exit code from that of a lost connection.
    pub(crate) fn command(&self, command: &str, env: &BTreeMap<String, String>) -> Result<String, Trouble> {
        let mut variables = format!("{MARK}={}", self.mark);
        for (name, value) in env {
            if !is_name(name) {
                return Err(Trouble::environment(format!("`{name}` is not a variable name")));
            }
            variables.push_str(&format!(" {name}={}", quoted(value)));
        }
        let script = format!(
            "env {variables} sh -c {}; code=$?; printf '\\n%s%d\\n' {} \"$code\" >&2; exit \"$code\"",
            quoted(command),
            quoted(&self.ending()),
        );
        Ok(format!("exec sh -c {}", quoted(&script)))
    }

    fn ending(&self) -> String {
        format!("interlock: {} ended with ", self.mark)
    }

    /// Returns the exit code that the remote side printed, and the remaining output.
    pub(crate) fn ended(&self, stderr: &[u8]) -> (Option<i64>, Vec<u8>) {
        let (ending, text) = (self.ending(), String::from_utf8_lossy(stderr));
        let Some(at) = text.rfind(&ending) else { return (None, stderr.to_vec()) };
        let rest = &text[at + ending.len()..];
        let code = rest.lines().next().and_then(|code| code.trim().parse().ok());
        let before = text[..at].strip_suffix('\n').unwrap_or(&text[..at]);
        (code, before.as_bytes().to_vec())
    }

    /// Ends every process that carries the mark, with SIGTERM first. Returns an error if one remains.
    pub(crate) async fn end(&self, ssh: &Ssh, bench: Bench<'_>) -> Result<(), Trouble> {
        let look = format!("tr '\\0' '\\n' <\"$place/environ\" | grep -q '^{MARK}={}'", self.mark);
        let script = format!(
            "for signal in TERM TERM TERM KILL KILL KILL; do found=; for place in /proc/[0-9]*; do \
             if {look}; then found=1; kill -$signal \"${{place#/proc/}}\"; fi; done; \
             [ -n \"$found\" ] || exit 0; sleep 0.3 || sleep 1; done 2>/dev/null; exit 9"
        );
        let remote =
            Remote { is_last_words: true, ..Remote::quiet(format!("exec sh -c {}", quoted(&script)), END_MAX) };
        let said = ssh.run(bench, &remote).await?;
        match said.code() {
            Some(0) => Ok(()),
            _ => Err(Trouble::environment(format!("the programs started on {} could not be ended", ssh.host))),
        }
    }
}

/// Quotes one word for a POSIX shell, if it needs quotes.
pub(crate) fn quoted(word: &str) -> String {
    // Only a NUL cannot be quoted, and no argument of a program can contain one.
    shlex::Quoter::new().allow_nul(true).quote(word).map_or_else(|_| String::new(), Cow::into_owned)
}

/// Replaces a leading `~/` with the home directory.
pub(crate) fn expanded(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => path.to_owned(),
    }
}

/// Replaces every character that would need quoting.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' }).collect()
}

/// Reports whether a text is a valid variable name.
pub(crate) fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit()) && name.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_printed_exit_code_is_used() {
        let mark = Marked::start("s 1", "all", 1);
        let check = |stderr: &str, code: Option<i64>, rest: &str| {
            assert_eq!(mark.ended(stderr.as_bytes()), (code, rest.as_bytes().to_vec()), "{stderr}");
        };
        check("oops\n\ninterlock: s_1/all-1 ended with 3\n", Some(3), "oops\n");
        check("no newline\ninterlock: s_1/all-1 ended with 255\n", Some(255), "no newline");
        check("cut off", None, "cut off");
        check("interlock: s_1/other-1 ended with 0\n", None, "interlock: s_1/other-1 ended with 0\n");
        check("interlock: s_1/all-1 ended with ", None, "");
    }

    #[test]
    fn quoted_words_survive_a_shell() {
        for word in ["", "a b", "it's", "$HOME `id` \"x\" \\", "new\nline", "-n"] {
            let shell = std::process::Command::new("sh").args(["-c", &format!("printf %s {}", quoted(word))]).output();
            assert_eq!(String::from_utf8(shell.unwrap().stdout).unwrap(), word);
        }
    }

    #[test]
    fn invalid_variable_names_are_refused() {
        let mark = Marked::session("s");
        for name in ["", "1A", "A B", "A=B", "$(id)"] {
            assert!(mark.command("true", &BTreeMap::from([(name.to_owned(), String::new())])).is_err(), "{name}");
        }
    }
}
