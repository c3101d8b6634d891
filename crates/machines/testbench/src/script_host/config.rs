//! The settings of a profile's script hosts. Common settings stand at the top level; settings of one host in `hosts`
//! override them.

use serde_json::{Map, Value};

use super::{shell::Shell, text::TextEncoding};
use crate::{
    Trouble,
    fetch::Wanted,
    settings::{Settings, several},
    ssh::Ssh,
};

/// The settings of one host.
#[derive(Clone, Debug)]
pub(crate) struct ScriptHost {
    /// The host's name, which is also the name of the resource that a run holds.
    pub(crate) name: String,
    pub(crate) ssh: Ssh,
    pub(crate) shell: Shell,
    /// The working directory; the user's home directory if empty.
    pub(crate) folder: String,
    /// The path to which the image is copied; by default its own name in the working directory.
    pub(crate) image_path: Option<String>,
    /// The command that runs the tests if the suite names none. `{image}`, `{folder}` and `{args}` are replaced.
    pub(crate) command: Option<String>,
    /// The encoding of the output.
    pub(crate) encoding: TextEncoding,
    /// The command that restarts the host, if that is allowed.
    pub(crate) restart: Option<String>,
    /// The number of seconds that a restart may take.
    pub(crate) boot_sec: u64,
    /// The logs to fetch after the run.
    pub(crate) logs: Vec<Wanted>,
    /// The artifacts to fetch after the run.
    pub(crate) artifacts: Vec<Wanted>,
    /// The files into which tests write their results.
    pub(crate) reports: Vec<String>,
}

/// Reads the hosts of a profile.
pub(crate) fn hosts(config: &Map<String, Value>) -> Result<Vec<ScriptHost>, Trouble> {
    several(config, "hosts", ScriptHost::read, |host| &host.name)
}

impl ScriptHost {
    fn read(mut from: Settings) -> Result<Self, Trouble> {
        let ssh: Ssh = from.need("ssh")?;
        ssh.check("ssh")?;
        let host = ScriptHost {
            name: from.take("name")?.unwrap_or_else(|| ssh.host.clone()),
            ssh,
            shell: from.or("shell", Shell::default())?,
            folder: from.or("folder", String::new())?,
            image_path: from.take("image_path")?,
            command: from.take("command")?,
            encoding: from.or("encoding", TextEncoding::Auto)?,
            restart: from.take("restart")?,
            boot_sec: from.or("boot_sec", 300)?,
            logs: from.or("logs", Vec::new())?,
            artifacts: from.or("artifacts", Vec::new())?,
            reports: from.or("reports", Vec::new())?,
        };
        from.end()?;
        Ok(host)
    }

    /// Returns a remote path: unchanged if it begins with a drive or a share, otherwise within the working directory.
    pub(crate) fn path(&self, path: &str) -> String {
        let is_whole = path.contains(':') || path.starts_with(['\\', '/']);
        match is_whole || self.folder.is_empty() {
            true => path.to_owned(),
            false => format!("{}\\{path}", self.folder.trim_end_matches(['\\', '/'])),
        }
    }
}

/// Converts a path to the form of SFTP, with slashes.
pub(crate) fn slashed(path: &str) -> String {
    path.replace('\\', "/")
}
