//! The same sandbox within namespaces: what `bwrap` is told.
//!
//! It adds what Landlock cannot do: protected files are read-only, hidden places are not there at all, modes and times outside cannot be
//! changed, other processes are not seen. The second stage of the launcher runs inside and confines the program as always.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::{CONFINE, Network, Order, guard::Guard, repository};

/// Where it is looked for. Not in `PATH`, which may lead into a workspace: it is started outside of the sandbox.
const PLACES: [&str; 4] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

/// The program, if it is installed.
pub(crate) fn program() -> Option<PathBuf> {
    PLACES.iter().map(|place| Path::new(place).join("bwrap")).find(|program| program.is_file())
}

/// The arguments, up to and including those of the launcher's second stage.
pub(crate) fn arguments(order: &Order, temp: &Path, guard: &Guard, launcher: &Path) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    let mut say = |said: &[&dyn AsRef<std::ffi::OsStr>]| words.extend(said.iter().map(|word| word.as_ref().to_owned()));
    say(&[&"--die-with-parent", &"--unshare-pid", &"--unshare-ipc", &"--unshare-uts"]);
    if matches!(order.rules.network, Network::Off | Network::Loopback) {
        say(&[&"--unshare-net"]);
    }
    say(&[&"--ro-bind", &"/", &"/", &"--dev", &"/dev", &"--proc", &"/proc"]);
    let rules = &order.rules;
    let git = repository::git_folders(&rules.workspace);
    for place in [rules.workspace.as_path(), temp].into_iter().chain(git.iter().map(AsRef::as_ref)) {
        say(&[&"--bind", &place, &place]);
    }
    for place in &rules.write {
        say(&[if place.starts_with("/dev") { &"--dev-bind-try" } else { &"--bind-try" }, place, place]);
    }
    for hidden in rules.hidden(Some(Path::new("/dev/shm"))) {
        match hidden.is_dir() {
            true => say(&[&"--tmpfs", &hidden]),
            false => say(&[&"--ro-bind", &"/dev/null", &hidden]),
        }
    }
    for protected in guard.paths() {
        say(&[&"--ro-bind-try", &protected, &protected]);
    }
    say(&[&"--chdir", &order.folder, &"--", &launcher, &CONFINE]);
    words
}
