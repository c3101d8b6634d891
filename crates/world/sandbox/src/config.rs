//! The default rules, which apply if a machine does not set its rules: the file `sandbox.toml` next to the store.
//!
//! The file is not in the workspace, because a program that runs there could change it.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{Account, Kind, Limits, Namespaces, Network, Rules, credentials::credentials, git_person};

/// The name of the file in the directory of the store.
const FILE: &str = "sandbox.toml";

/// The default rules of the user for all programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// True if programs must not run unconfined. A program is then refused if the system cannot confine it.
    pub require_sandbox: bool,
    /// The mechanism that confines programs.
    pub sandbox: Kind,
    /// Controls if programs run in private namespaces.
    pub namespaces: Namespaces,
    /// The network access of programs.
    pub network: Network,
    /// The hosts that programs can reach if `network` is `only`.
    pub hosts: Vec<String>,
    /// Places that all programs may change, such as caches of build tools. `~/` stands for the home directory.
    pub write: Vec<PathBuf>,
    /// Places that no program may read, in addition to the usual places of credentials.
    pub hide: Vec<PathBuf>,
    /// Places in home directories that all programs may read, in addition to those that tools need.
    pub show: Vec<PathBuf>,
    /// The resource limits of programs.
    pub limits: Limits,
}

/// The reason why the file cannot be used.
#[derive(Debug)]
pub struct ConfigError(String);

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads the file in a directory. Without a file it returns the defaults, which allow only the necessary.
    pub fn read(folder: &Path) -> Result<Self, ConfigError> {
        let path = folder.join(FILE);
        let wrong = |why: &dyn fmt::Display| ConfigError(format!("{} cannot be used: {why}", path.display()));
        match fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|error| wrong(&error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Config::default()),
            Err(error) => Err(wrong(&error)),
        }
    }

    /// Returns the rules for a program that works on a workspace, for this user.
    pub fn rules(&self, workspace: PathBuf, account: &Account) -> Rules {
        let home = account.home.as_ref().map(|home| home.canonicalize().unwrap_or_else(|_| home.clone()));
        let home = home.as_deref();
        let places = |said: &[PathBuf]| said.iter().filter_map(|place| expand(place, home)).collect::<Vec<_>>();
        let mut hide = credentials(home);
        hide.extend(places(&self.hide));
        hide.extend(account.agents());
        let closed = account.closed();
        let mut show = account.needed(&closed, &hide, &workspace);
        show.extend(places(&self.show));
        let (git, git_settings) = account.home.as_deref().map(git_person::settings).unwrap_or_default();
        show.extend(git);
        Rules {
            sandbox: self.sandbox,
            required: self.require_sandbox,
            namespaces: self.namespaces,
            network: self.network,
            hosts: self.hosts.clone(),
            workspace,
            folder: PathBuf::new(),
            keeps_workspace: false,
            keeps_repository: false,
            write: places(&self.write),
            views: Vec::new(),
            fleeting: Vec::new(),
            terminals: false,
            hide,
            closed,
            show,
            never: Vec::new(),
            git_settings,
            git_files: account.git_files(),
            home: account.home.clone(),
            store: None,
            limits: self.limits,
        }
    }
}

/// Expands a leading `~/` to the home directory. Returns `None` if the home directory is unknown.
fn expand(place: &Path, home: Option<&Path>) -> Option<PathBuf> {
    match place.strip_prefix("~") {
        Ok(rest) => Some(home?.join(rest)),
        Err(_) => Some(place.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_used_and_unknown_ones_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Config::read(folder.path()).unwrap(), Config::default());
        let text = "network = \"loopback\"\nwrite = [\"~/.npm\", \"/srv/cache\"]\n[limits]\nprocesses = 7\n";
        fs::write(folder.path().join(FILE), text).unwrap();
        let account = Account { home: Some("/home/ada".into()), ..Account::default() };
        let rules = Config::read(folder.path()).unwrap().rules("/w".into(), &account);
        assert_eq!((rules.network, rules.limits.processes), (Network::Loopback, 7));
        assert_eq!(rules.limits.memory_mib, Limits::default().memory_mib);
        assert_eq!(rules.write, [PathBuf::from("/home/ada/.npm"), "/srv/cache".into()]);
        assert!(rules.hide.contains(&"/home/ada/.ssh".into()));
        for wrong in ["netwrk = \"on\"", "network = \"some\"", "[limits]\ncores = 1", "write = 3"] {
            fs::write(folder.path().join(FILE), wrong).unwrap();
            let error = Config::read(folder.path()).unwrap_err().to_string();
            assert!(error.contains("sandbox.toml cannot be used"), "{error}");
        }
    }
}
