//! The settings of a server: its address, and the directories in which runs may start (`serve.toml`).

use std::{
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{
    problem::{Problem, Result},
    tls::Tls,
};

/// The file with the directories, in the store.
const FILE: &str = "serve.toml";

/// The address of a server.
#[derive(Clone, Debug)]
pub struct Listen {
    /// The address and port.
    pub address: SocketAddr,
    /// The origin that browsers use if it is not the address itself, such as `https://interlock.example`.
    pub origin: Option<String>,
    /// The certificate, if the server speaks TLS itself.
    pub tls: Option<Tls>,
}

impl Listen {
    /// Checks the rules for an address: other computers may reach the server with TLS only, its own or that of a proxy on
    /// this computer.
    pub fn new(address: SocketAddr, tls: Option<Tls>, is_behind_proxy: bool, origin: Option<String>) -> Result<Self> {
        if !address.ip().is_loopback() && tls.is_none() {
            return Err(Problem::bad_input(format!("{address} can be reached from other computers")).hint(
                "give it a certificate: --tls-cert FILE --tls-key FILE --origin https://NAME; or listen on 127.0.0.1 behind a proxy: --behind-proxy --origin https://NAME",
            ));
        }
        if is_behind_proxy && tls.is_some() {
            return Err(Problem::bad_input("--behind-proxy and --tls-cert exclude each other"));
        }
        if (is_behind_proxy || tls.is_some()) != origin.is_some() {
            return Err(Problem::bad_input(
                "--origin belongs to --behind-proxy or --tls-cert, and each of them needs it",
            )
            .hint("--behind-proxy --origin https://interlock.example"));
        }
        if let Some(origin) = &origin {
            let is_origin = origin.starts_with("https://")
                && !origin[8..].is_empty()
                && !origin[8..].contains(['/', '?', '#', '@']);
            if !is_origin {
                return Err(Problem::bad_input(format!("`{origin}` is not an https origin"))
                    .hint("an origin has a scheme and a host, and no path: https://interlock.example"));
            }
        }
        Ok(Listen { address, origin, tls })
    }

    /// Returns the origins that requests of a browser may come from.
    pub(crate) fn origins(&self) -> Vec<String> {
        let port = self.address.port();
        let own = match self.address.ip() {
            IpAddr::V4(ip) => format!("http://{ip}:{port}"),
            IpAddr::V6(ip) => format!("http://[{ip}]:{port}"),
        };
        match &self.origin {
            Some(origin) => vec![origin.clone()],
            None => vec![own, format!("http://localhost:{port}")],
        }
    }

    /// Returns the values of the `Host` header that are answered. Other names that lead to this address belong to pages
    /// that attack it (DNS rebinding).
    pub(crate) fn hosts(&self) -> Vec<String> {
        let host = |origin: String| origin.split_once("://").map(|(_, host)| host.to_owned()).unwrap_or_default();
        self.origins().into_iter().map(host).collect()
    }
}

/// The directories in which runs may start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders(Vec<PathBuf>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    folders: Vec<PathBuf>,
}

impl Folders {
    /// Allows these directories and everything below them.
    pub fn new(folders: Vec<PathBuf>) -> Result<Self> {
        let real = |folder: PathBuf| {
            let found = folder.canonicalize().ok().filter(|found| found.is_dir());
            found.ok_or_else(|| Problem::bad_input(format!("{} is not a directory", folder.display())))
        };
        Ok(Folders(folders.into_iter().map(real).collect::<Result<_>>()?))
    }

    /// Reads the directories from `serve.toml`, if there is such a file.
    pub fn of_store(home: &Path) -> Result<Vec<PathBuf>> {
        let path = home.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Problem::bad_input(format!("cannot read {}: {error}", path.display()))),
        };
        let file: File = toml::from_str(&text).map_err(|error| {
            Problem::bad_input(format!("{} is not valid: {error}", path.display()))
                .hint("the file has one setting: folders = [\"/home/ada/projects\"]")
        })?;
        Ok(file.folders)
    }

    /// Returns the directories.
    pub fn list(&self) -> &[PathBuf] {
        &self.0
    }

    /// Returns the real path of a directory if runs may start there.
    pub(crate) fn admit(&self, folder: &Path) -> Result<PathBuf> {
        let real = folder.canonicalize().ok().filter(|real| real.is_dir());
        let allowed = real.filter(|real| self.0.iter().any(|known| real.starts_with(known)));
        allowed.ok_or_else(|| {
            Problem::refused(format!("runs may not start in {}", folder.display())).hint(format!(
                "allowed are {}; add more to {FILE} in the store, or with --folder",
                self.0.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_computer_may_reach_a_server_without_a_proxy() {
        let listen = |text: &str| Listen::new(text.parse().unwrap(), None, false, None);
        assert!(listen("127.0.0.1:7420").is_ok() && listen("[::1]:7420").is_ok());
        assert!(listen("0.0.0.0:7420").is_err() && listen("192.168.1.2:7420").is_err());
    }

    #[test]
    fn a_proxy_needs_an_https_origin() {
        let address = "127.0.0.1:7420".parse().unwrap();
        let behind = |origin: Option<&str>| Listen::new(address, None, true, origin.map(str::to_owned));
        assert_eq!(behind(Some("https://a.example")).unwrap().hosts(), ["a.example"]);
        for wrong in
            [None, Some("http://a.example"), Some("https://"), Some("https://a.example/x"), Some("https://u@a.example")]
        {
            assert!(behind(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_folder_is_admitted_by_its_real_path() {
        let root = tempfile::tempdir().unwrap();
        let (inside, outside) = (root.path().join("in"), root.path().join("out"));
        std::fs::create_dir_all(inside.join("project")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        let folders = Folders::new(vec![inside.clone()]).unwrap();
        assert!(folders.admit(&inside.join("project")).is_ok() && folders.admit(&inside).is_ok());
        for wrong in [outside.clone(), inside.join("link"), inside.join("../out"), inside.join("missing")] {
            assert!(folders.admit(&wrong).is_err(), "{}", wrong.display());
        }
    }
}
