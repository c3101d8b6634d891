//! The arguments of `bwrap`, which puts the same sandbox into namespaces.
//!
//! It adds protections that Landlock does not have: protected files are read-only, hidden places do not exist at all,
//! modes and times outside cannot be changed, and other processes are not visible. The second stage of the launcher
//! runs inside and confines the program as usual.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use crate::{
    CONFINE, LaunchOrder, Network, Rules,
    guard::{Guard, Refusal},
    reading::Reading,
};

/// The directories that are searched. `PATH` is not used, because it may lead into a workspace and `bwrap` is started
/// outside the sandbox.
const PLACES: [&str; 4] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

/// Returns the path of `bwrap`, if it is installed.
pub(crate) fn program() -> Option<PathBuf> {
    PLACES.iter().map(|place| Path::new(place).join("bwrap")).find(|program| program.is_file())
}

/// Returns the path of this program, which `bwrap` starts again inside. There it has no other name than its path, so a program
/// that may change the file would start another one in its place.
pub(crate) fn launcher(rules: &Rules) -> io::Result<PathBuf> {
    let file = std::env::current_exe()?;
    match rules.write.iter().chain([&rules.workspace]).find(|place| file.starts_with(place)) {
        None => Ok(file),
        Some(place) => Err(Refusal(format!(
            "Interlock itself, {}, is in {}, which the program may change. Install it elsewhere, or use the sandbox `landlock`",
            file.display(),
            place.display()
        ))
        .into()),
    }
}

/// Returns the arguments up to and including those of the launcher's second stage.
pub(crate) fn arguments(order: &LaunchOrder, temp: &Path, guard: &Guard, launcher: &Path) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    let mut say = |said: &[&dyn AsRef<std::ffi::OsStr>]| words.extend(said.iter().map(|word| word.as_ref().to_owned()));
    say(&[&"--die-with-parent", &"--unshare-pid", &"--unshare-ipc", &"--unshare-uts"]);
    if order.rules.network == Network::Off || order.rules.network.is_private() {
        say(&[&"--unshare-net"]);
    }
    say(&[&"--ro-bind", &"/", &"/"]);
    let rules = &order.rules;
    let hidden = rules.hidden(Some(Path::new("/dev/shm")));
    let reading = Reading::new(rules, &hidden, order.words.first().map(Path::new));
    for closed in &reading.closed {
        say(&[&"--tmpfs", closed]);
    }
    for shown in reading.shown.iter().map(PathBuf::as_path).chain([launcher]) {
        say(&[&"--ro-bind-try", &shown, &shown]);
    }
    say(&[&"--dev", &"/dev", &"--proc", &"/proc"]);
    let git = rules.writable_git();
    let bind = if rules.keeps_workspace { "--ro-bind" } else { "--bind" };
    say(&[&bind, &rules.workspace, &rules.workspace]);
    for place in [temp].into_iter().chain(git.iter().map(AsRef::as_ref)) {
        say(&[&"--bind", &place, &place]);
    }
    let mut hidden = hidden;
    if let Some(store) = rules.store_within() {
        // A directory on which something is mounted cannot be renamed.
        let is_between = |above: &&Path| above.starts_with(&rules.workspace) && **above != rules.workspace;
        let above: Vec<_> = store.ancestors().skip(1).take_while(is_between).collect();
        above.iter().rev().for_each(|above| say(&[&bind, above, above]));
        hidden.push(store);
    }
    for place in &rules.write {
        say(&[if place.starts_with("/dev") { &"--dev-bind-try" } else { &"--bind-try" }, place, place]);
    }
    for hidden in &hidden {
        match hidden.is_dir() {
            true => say(&[&"--tmpfs", hidden]),
            false => say(&[&"--ro-bind", &"/dev/null", hidden]),
        }
    }
    // A place of the program below a hidden one, such as the directory of its kernel in the store, stays visible.
    for place in rules.write.iter().filter(|place| hidden.iter().any(|hidden| place.starts_with(hidden))) {
        say(&[&"--bind-try", place, place]);
    }
    for protected in guard.paths() {
        say(&[&"--ro-bind-try", &protected, &protected]);
    }
    say(&[&"--chdir", &order.folder, &"--", &launcher, &CONFINE]);
    words
}
