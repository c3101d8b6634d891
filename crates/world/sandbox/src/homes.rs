//! Home directories, which are closed to programs, and the places in them that tools need.
//!
//! A list of places with credentials is never complete, so everything in a home is closed that is not known to be needed:
//! the toolchains and caches of `shown.txt`, and the installations of the programs in `PATH`.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use crate::credentials;

/// Places in a home that programs may read.
const SHOWN: &str = include_str!("shown.txt");

/// Directories that hold homes, and others of which programs need only single places: sockets and logins of a session,
/// and devices, from which the content of whole disks could be read.
const CLOSED: [&str; 6] = ["/root", "/home/*", "/var/home/*", "/mnt/*/Users/*", "/run/user", "/dev"];

/// The first id of users who are people.
const PEOPLE_FROM: u32 = 1_000;

/// The names of directories with programs, in the directory into which they were installed.
const PROGRAMS: [&str; 3] = ["bin", "sbin", "shims"];

/// Files and directories in a directory into which programs were installed.
const INSTALLED: [&str; 6] = ["lib", "lib64", "libexec", "share", "pkg", "pyvenv.cfg"];

/// The entries that programs need in a directory with other content.
const PARTS: [&str; 6] = ["bin", "sbin", "lib", "lib64", "libexec", "include"];

/// The user for whom programs run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The home directory.
    pub home: Option<PathBuf>,
    /// The variable `PATH`.
    pub path: OsString,
    /// The directory with caches.
    pub cache: Option<PathBuf>,
    /// Files with git's settings that the environment names.
    pub git: Vec<PathBuf>,
}

impl Account {
    /// Returns the user of this process.
    pub fn current() -> Self {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|cache| cache.is_absolute());
        let home = home.map(PathBuf::from);
        let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let git = [named("GIT_CONFIG_GLOBAL"), named("GIT_CONFIG_SYSTEM")].into_iter().flatten();
        let git = git.chain(named("XDG_CONFIG_HOME").map(|folder| folder.join("git/config"))).collect();
        let cache = cache.or_else(|| Some(home.as_ref()?.join(".cache")));
        Account { home, path: std::env::var_os("PATH").unwrap_or_default(), cache, git }
    }

    /// Returns the files with git's settings for this user, which need not exist.
    pub(crate) fn git_files(&self) -> Vec<PathBuf> {
        let own = self.home.iter().flat_map(|home| [home.join(".config/git/config"), home.join(".gitconfig")]);
        self.git.iter().cloned().chain(own).chain(["/etc/gitconfig".into()]).collect()
    }

    /// Returns the directory with the homes of agents, which have their logins.
    pub(crate) fn agents(&self) -> Option<PathBuf> {
        Some(self.cache.as_ref()?.join("interlock/agents"))
    }

    /// Returns the directories of which a program can read only what is shown: the homes of all users, and some others.
    pub(crate) fn closed(&self) -> Vec<PathBuf> {
        let mut closed: Vec<_> = CLOSED.iter().flat_map(|line| credentials::places(line, None)).collect();
        closed.extend(self.home.clone());
        closed.extend(people(&fs::read_to_string("/etc/passwd").unwrap_or_default()));
        closed.retain(|place| place.is_absolute() && place != Path::new("/"));
        closed.sort();
        closed.dedup();
        closed
    }

    /// Returns the places in closed directories that tools need. `workspace` holds programs that a program may have made.
    pub(crate) fn needed(&self, closed: &[PathBuf], hidden: &[PathBuf], workspace: &Path) -> Vec<PathBuf> {
        let folders = std::env::split_paths(&self.path).filter_map(|folder| fs::canonicalize(folder).ok());
        let folders = folders.filter(|folder| is_in(folder, closed) && !folder.starts_with(workspace));
        let folders: std::collections::BTreeSet<_> = folders.collect();
        // A `PATH` may lead into a home that `HOME` does not name.
        let is_used = |home: &&PathBuf| folders.iter().any(|folder| folder.starts_with(home));
        let homes = closed.iter().filter(is_used).chain(&self.home);
        let mut needed: Vec<_> = homes.flat_map(|home| credentials::listed(SHOWN, Some(home))).collect();
        needed.extend(folders.iter().flat_map(|folder| installation(folder, closed, hidden)));
        needed.extend(folders.iter().flat_map(|folder| behind_links(folder, closed, hidden)));
        needed.retain(|place| !hidden.iter().any(|hidden| place.starts_with(hidden)));
        needed.sort();
        needed.dedup();
        needed
    }
}

/// Returns the home directories of people in `/etc/passwd`.
fn people(passwd: &str) -> Vec<PathBuf> {
    let home = |line: &str| {
        let fields: Vec<_> = line.split(':').collect();
        let [_, _, id, _, _, home, ..] = fields[..] else { return None };
        let id: u32 = id.parse().ok()?;
        // The last ids belong to `nobody`.
        (PEOPLE_FROM..u32::from(u16::MAX) - 1).contains(&id).then(|| PathBuf::from(home))
    };
    passwd.lines().filter_map(home).collect()
}

fn is_in(place: &Path, closed: &[PathBuf]) -> bool {
    closed.iter().any(|closed| place.starts_with(closed))
}

/// Returns the places that a program needs: those of its directory, and of the file if it is a link.
pub(crate) fn of_program(program: &Path, closed: &[PathBuf], hidden: &[PathBuf]) -> Vec<PathBuf> {
    let real = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let mut places: Vec<_> = [program, &real]
        .into_iter()
        .filter_map(Path::parent)
        .flat_map(|folder| installation(folder, closed, hidden))
        .collect();
    places.extend([program.to_owned(), real]);
    places.retain(|place| !hidden.iter().any(|hidden| place.starts_with(hidden)));
    places
}

/// Returns what programs in a directory need: the directory into which they were installed, or its usual parts if other
/// things are in it, too.
fn installation(folder: &Path, closed: &[PathBuf], hidden: &[PathBuf]) -> Vec<PathBuf> {
    let is_home = |place: &Path| closed.iter().any(|closed| closed.starts_with(place));
    if is_home(folder) || !is_in(folder, closed) {
        return Vec::new();
    }
    let above = folder.parent().filter(|above| PROGRAMS.iter().any(|name| folder.ends_with(name)) && !is_home(above));
    match above {
        Some(above) if hidden.iter().any(|hidden| hidden.starts_with(above)) => {
            PARTS.iter().map(|part| above.join(part)).collect()
        }
        Some(above) if INSTALLED.iter().any(|sign| above.join(sign).exists()) => vec![above.to_owned()],
        _ => vec![folder.to_owned()],
    }
}

/// Returns what the links in a directory with programs lead to.
fn behind_links(folder: &Path, closed: &[PathBuf], hidden: &[PathBuf]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    let real = links.filter_map(|link| fs::canonicalize(link.path()).ok()).filter(|real| is_in(real, closed));
    let mut folders = std::collections::BTreeSet::new();
    let programs = real.filter(|real| real.is_file() && folders.insert(real.parent().map(Path::to_owned)));
    programs.flat_map(|program| of_program(&program, closed, hidden)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a home with files, and returns it with what is needed in it for a `PATH`.
    fn needed(files: &[&str], links: &[(&str, &str)], path: &[&str]) -> (tempfile::TempDir, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(folder.path()).unwrap();
        for file in files {
            fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
            fs::write(home.join(file), "").unwrap();
        }
        for (link, to) in links {
            fs::create_dir_all(home.join(link).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(home.join(to), home.join(link)).unwrap();
        }
        let path = std::env::join_paths(path.iter().map(|folder| home.join(folder))).unwrap();
        let account = Account { home: Some(home.clone()), path, ..Account::default() };
        let hidden = credentials::credentials(Some(&home));
        let needed = account.needed(std::slice::from_ref(&home), &hidden, &home.join("work"));
        let inside = needed.iter().filter(|place| place.exists());
        let inside = inside.map(|place| place.strip_prefix(&home).unwrap().display().to_string()).collect();
        (folder, inside)
    }

    #[test]
    fn a_program_in_path_shows_its_installation_and_nothing_beside_it() {
        let files =
            ["tools/x/bin/x", "tools/x/lib/y", "bin/mine", "notes/bin/z", "notes/diary", "work/bin/w", "letters"];
        let (_home, needed) = needed(&files, &[], &["tools/x/bin", "bin", "notes/bin", "work/bin"]);
        assert_eq!(needed, ["bin", "notes/bin", "tools/x"]);
    }

    #[test]
    fn of_a_directory_with_other_things_only_the_usual_parts_are_shown() {
        let files = [".local/bin/x", ".local/share/keyrings/k", ".local/share/chat/log", ".local/lib/python3.13/y"];
        let (_home, needed) = needed(&files, &[], &[".local/bin"]);
        assert_eq!(needed, [".local/bin", ".local/lib"]);
    }

    #[test]
    fn a_link_in_path_shows_the_program_behind_it_but_no_credentials() {
        let files = [".local/share/agent/versions/7/agent", ".ssh/x.sh", "top.sh", "src/tool/tool.py", "src/other/y"];
        let links = [
            (".local/bin/agent", ".local/share/agent/versions/7/agent"),
            (".local/bin/key", ".ssh/x.sh"),
            (".local/bin/top", "top.sh"),
            (".local/bin/tool", "src/tool/tool.py"),
        ];
        let (_home, needed) = needed(&files, &links, &[".local/bin"]);
        let expected = [
            ".local/bin",
            ".local/share/agent/versions/7",
            ".local/share/agent/versions/7/agent",
            "src/tool",
            "src/tool/tool.py",
            "top.sh",
        ];
        assert_eq!(needed, expected);
    }

    #[test]
    fn homes_of_people_are_found_and_those_of_services_are_not() {
        let passwd = "root:x:0:0::/root:/bin/sh\nwww:x:33:33::/var/www:/x\nada:x:1000:1000::/srv/ada:/x\n\
                      nobody:x:65534:1::/usr:/x\nbroken\n";
        assert_eq!(people(passwd), [PathBuf::from("/srv/ada")]);
        let account = Account { home: Some("/".into()), ..Account::default() };
        assert!(!account.closed().contains(&"/".into()) && account.closed().contains(&"/root".into()));
    }

    #[test]
    fn no_listed_place_is_a_place_of_credentials() {
        let home = Path::new("/h");
        let hidden = credentials::credentials(Some(home));
        for place in credentials::listed(SHOWN, Some(home)) {
            assert!(!hidden.iter().any(|hidden| place.starts_with(hidden)), "{}", place.display());
        }
    }
}
