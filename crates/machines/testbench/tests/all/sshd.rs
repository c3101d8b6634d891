//! A real SSH server on loopback with its own keys.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::place::{Server, free_port, part, until};

/// A server that accepts one key.
pub(crate) struct Sshd {
    pub(crate) folder: TempDir,
    port: u16,
    _server: Server,
}

impl Sshd {
    /// Starts a server with lines added to its configuration; `None` if no server is installed.
    pub(crate) async fn new(more: impl FnOnce(&Path) -> String) -> Option<Self> {
        let sshd = part("sshd", "openssh-server")?;
        part("ssh-keygen", "openssh-client")?;
        // A server started by root requires this directory; otherwise it is not needed.
        let _ = fs::create_dir_all("/run/sshd");
        let folder = TempDir::new().unwrap();
        let place = |name: &str| folder.path().join(name);
        for key in ["host_key", "key"] {
            let made =
                Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(place(key)).status();
            assert!(made.unwrap().success());
        }
        fs::copy(place("key.pub"), place("authorized_keys")).unwrap();
        let port = free_port();
        let config = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n\
             Subsystem sftp internal-sftp\nMaxStartups 100\n{}",
            place("host_key").display(),
            place("authorized_keys").display(),
            more(folder.path()),
        );
        fs::write(place("config"), config).unwrap();
        let log = File::create(place("log")).unwrap();
        let child = Command::new(sshd).args(["-D", "-e", "-f"]).arg(place("config")).stderr(log).spawn().unwrap();
        let server = Server { child };
        let listens = || fs::read_to_string(place("log")).ok().filter(|log| log.contains("Server listening"));
        until("the server", listens).await;
        Some(Sshd { folder, port, _server: server })
    }

    /// Returns the settings to connect to the server.
    pub(crate) fn ssh(&self) -> Value {
        let host_key = fs::read_to_string(self.file("host_key.pub")).unwrap();
        json!({ "host": "127.0.0.1", "port": self.port, "key": self.file("key"), "host_key": host_key.trim() })
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
