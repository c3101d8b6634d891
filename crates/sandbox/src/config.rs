//! What is allowed where a machine does not say: the file `sandbox.toml` beside the store.
//!
//! It is not in the workspace, because whatever runs in there could change it.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{Kind, Limits, Namespaces, Network, Rules, credentials};

/// The file, within the folder of the store.
const FILE: &str = "sandbox.toml";

/// What is allowed where a machine does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Whether programs must not run where the system cannot confine them, nor without being confined.
    pub require_sandbox: bool,
    /// By what programs are confined.
    pub sandbox: Kind,
    /// Whether they get namespaces.
    pub namespaces: Namespaces,
    /// Whom they may talk to.
    pub network: Network,
    /// What all of them may change: caches of build tools. `~/` is the home.
    pub write: Vec<PathBuf>,
    /// What none of them may read, besides where credentials are usually kept.
    pub hide: Vec<PathBuf>,
    /// How much they may use.
    pub limits: Limits,
}

/// Why the file cannot be used.
#[derive(Debug)]
pub struct ConfigError(String);

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads the file in a folder; where there is none, nothing is allowed that need not be.
    pub fn read(folder: &Path) -> Result<Self, ConfigError> {
        let path = folder.join(FILE);
        let wrong = |why: &dyn fmt::Display| ConfigError(format!("{} cannot be used: {why}", path.display()));
        match fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|error| wrong(&error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Config::default()),
            Err(error) => Err(wrong(&error)),
        }
    }

    /// The rules for a program that works on a workspace, for a user with this home.
    pub fn rules(&self, workspace: PathBuf, home: Option<&Path>) -> Rules {
        let places = |said: &[PathBuf]| said.iter().filter_map(|place| expand(place, home)).collect::<Vec<_>>();
        let mut hide = credentials(home);
        hide.extend(places(&self.hide));
        Rules {
            sandbox: self.sandbox,
            required: self.require_sandbox,
            namespaces: self.namespaces,
            network: self.network,
            workspace,
            write: places(&self.write),
            hide,
            store: None,
            limits: self.limits,
        }
    }
}

/// A path that begins with `~/`, in the home; nothing where there is none.
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
    fn what_is_said_is_used_and_what_is_not_known_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Config::read(folder.path()).unwrap(), Config::default());
        let text = "network = \"loopback\"\nwrite = [\"~/.npm\", \"/srv/cache\"]\n[limits]\nprocesses = 7\n";
        fs::write(folder.path().join(FILE), text).unwrap();
        let rules = Config::read(folder.path()).unwrap().rules("/w".into(), Some(Path::new("/home/ada")));
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
