//! What a profile says about its script hosts. What all have in common stands at the top; what is said for one in `hosts` takes its place.

use serde_json::{Map, Value};

use super::{shell::Shell, text::Reading};
use crate::{
    Trouble,
    fetch::Wanted,
    settings::{Settings, several},
    ssh::Ssh,
};

/// One host.
#[derive(Clone, Debug)]
pub(crate) struct ScriptHost {
    /// What it is called; the resource that is held.
    pub(crate) name: String,
    pub(crate) ssh: Ssh,
    pub(crate) shell: Shell,
    /// Where everything is done; the user's folder where that is empty.
    pub(crate) folder: String,
    /// Where the image is copied to; in the folder, under its own name, where nobody says.
    pub(crate) image_path: Option<String>,
    /// What runs the tests, where the suite does not say. `{image}`, `{folder}` and `{args}` are put in.
    pub(crate) command: Option<String>,
    /// How to read what is printed.
    pub(crate) encoding: Reading,
    /// What restarts the host, where that may be done.
    pub(crate) restart: Option<String>,
    /// How long it may take to come back.
    pub(crate) boot_sec: u64,
    /// What to fetch afterwards.
    pub(crate) logs: Vec<Wanted>,
    /// What else to fetch afterwards.
    pub(crate) artifacts: Vec<Wanted>,
    /// Files that tests write their results into.
    pub(crate) reports: Vec<String>,
}

/// The hosts of a profile.
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
            encoding: from.or("encoding", Reading::Auto)?,
            restart: from.take("restart")?,
            boot_sec: from.or("boot_sec", 300)?,
            logs: from.or("logs", Vec::new())?,
            artifacts: from.or("artifacts", Vec::new())?,
            reports: from.or("reports", Vec::new())?,
        };
        from.end()?;
        Ok(host)
    }

    /// A path there: as it is where it begins at a drive or a share, otherwise within the folder.
    pub(crate) fn path(&self, path: &str) -> String {
        let is_whole = path.contains(':') || path.starts_with(['\\', '/']);
        match is_whole || self.folder.is_empty() {
            true => path.to_owned(),
            false => format!("{}\\{path}", self.folder.trim_end_matches(['\\', '/'])),
        }
    }
}

/// As SFTP has it: with slashes.
pub(crate) fn slashed(path: &str) -> String {
    path.replace('\\', "/")
}
