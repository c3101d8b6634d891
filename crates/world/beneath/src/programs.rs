//! Finds the programs that Interlock starts itself, without the sandbox: git, a shell, a person's editor.
//!
//! `PATH` may lead into a workspace, as with an activated virtual environment or `node_modules/.bin`. A confined program can put
//! a program there under any name. So the directories of the system are searched first, and of the others only those in
//! which no program of a run works. A relative directory in `PATH` is never searched.
//!
//! Programs that are started in the sandbox are not looked up here: there the project's own programs are wanted.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Component, Path, PathBuf},
};

/// The directories of programs that belong to the system.
const OF_SYSTEM: [&str; 8] = [
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
    "/snap/bin",
    "/run/current-system/sw/bin",
];

/// The directories below which a system keeps its programs, and nobody a project.
const STORES: [&str; 2] = ["/nix/store", "/gnu/store"];

/// What is in a directory in which programs of a run may work: a repository, a project of Interlock, a virtual environment.
const SIGNS: [&str; 3] = [".git", ".interlock", "pyvenv.cfg"];

/// The search path of a process that has none.
const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

/// Finds a program in `PATH`, or at an absolute path. `workspaces` are directories that programs of runs can change, as far as the
/// caller knows them; the current directory is always one.
pub fn find(name: &str, workspaces: &[&Path]) -> Option<PathBuf> {
    all(name, workspaces).into_iter().next()
}

/// Finds all programs of this name, the one to use first.
pub fn all(name: &str, workspaces: &[&Path]) -> Vec<PathBuf> {
    if name.contains('/') {
        // A person has chosen the file. A relative path would lead into the workspace.
        return [PathBuf::from(name)].into_iter().filter(|file| file.is_absolute() && is_program(file)).collect();
    }
    Search::new(workspaces).all(name)
}

/// Returns the search path for programs that a program of Interlock starts.
pub fn search_path(workspaces: &[&Path]) -> OsString {
    let search = Search::new(workspaces);
    let (of_system, others) = search.folders();
    let others = others.filter(|folder| search.is_fixed(folder));
    std::env::join_paths(of_system.chain(others)).unwrap_or_else(|_| USUAL.into())
}

/// One look at the search path.
struct Search {
    path: OsString,
    /// The directories that programs can change.
    workspaces: Vec<PathBuf>,
    /// The current directory.
    here: Option<PathBuf>,
}

impl Search {
    fn new(workspaces: &[&Path]) -> Self {
        let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        // If everything is the workspace, the programs of the system have to do.
        let is_part = |path: &PathBuf| path != Path::new("/");
        Search {
            path: std::env::var_os("PATH").unwrap_or_else(|| USUAL.into()),
            workspaces: workspaces.iter().map(|path| real(path)).filter(is_part).collect(),
            here: std::env::current_dir().ok().map(|here| real(&here)).filter(is_part),
        }
    }

    /// Returns the directories of the system in the search path, and the others.
    fn folders(&self) -> (impl Iterator<Item = PathBuf>, impl Iterator<Item = PathBuf>) {
        let is_plain = |folder: &PathBuf| {
            folder.is_absolute() && !folder.components().any(|part| matches!(part, Component::ParentDir))
        };
        let folders = || std::env::split_paths(&self.path).filter(is_plain);
        let of_system = folders().filter(|folder| is_of_system(folder) && !self.is_in_workspace(folder));
        (of_system, folders().filter(|folder| !is_of_system(folder)))
    }

    fn all(&self, name: &str) -> Vec<PathBuf> {
        let (of_system, others) = self.folders();
        let folders = of_system.chain(others.filter(|folder| self.is_fixed(folder)));
        folders
            .map(|folder| folder.join(name))
            .filter(|file| is_program(file) && self.leads_nowhere_else(file))
            .collect()
    }

    /// Returns true if the program behind a link is in a directory that no program can change either.
    fn leads_nowhere_else(&self, file: &Path) -> bool {
        let real = fs::canonicalize(file).ok();
        let folder = real.as_deref().and_then(Path::parent);
        folder.is_some_and(|folder| (is_of_system(folder) && !self.is_in_workspace(folder)) || self.is_fixed(folder))
    }

    fn is_in_workspace(&self, folder: &Path) -> bool {
        self.workspaces.iter().any(|workspace| folder.starts_with(workspace))
    }

    /// Returns true if no program of a run can change a directory, as far as can be seen.
    fn is_fixed(&self, folder: &Path) -> bool {
        let Ok(real) = fs::canonicalize(folder) else { return false };
        let is_here = self.here.as_ref().is_some_and(|here| real.starts_with(here));
        // What cannot be looked at counts as a sign.
        let has_sign = |above: &Path| {
            SIGNS.iter().any(|sign| !matches!(fs::symlink_metadata(above.join(sign)), Err(error) if is_absent(&error)))
        };
        !is_here && !self.is_in_workspace(&real) && !real.ancestors().any(has_sign)
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

fn is_of_system(folder: &Path) -> bool {
    OF_SYSTEM.iter().any(|known| folder == Path::new(known)) || STORES.iter().any(|store| folder.starts_with(store))
}

fn is_program(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes directories with a program `tool` each, and returns those in which it is found.
    fn found(folders: &[&str], files: &[&str], links: &[(&str, &str)], workspaces: &[&str]) -> Vec<String> {
        let top = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(top.path()).unwrap();
        let make = |path: &Path| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        files.iter().for_each(|file| make(&top.join(file)));
        for (link, to) in links {
            fs::create_dir_all(top.join(link).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(top.join(to), top.join(link)).unwrap();
        }
        let path = std::env::join_paths(folders.iter().map(|folder| top.join(folder))).unwrap();
        let workspaces = workspaces.iter().map(|name| top.join(name)).collect();
        let search = Search { path, workspaces, here: Some(top.join("here")) };
        let found = search.all("tool").into_iter();
        found.map(|file| file.strip_prefix(&top).unwrap().display().to_string()).collect()
    }

    #[test]
    fn a_program_in_a_place_where_programs_work_is_not_found() {
        let cases = [
            ("own/bin", true),
            ("here/node_modules/.bin", false),
            ("repository/.venv/bin", false),
            ("project/bin", false),
            ("environment/bin", false),
            ("known/bin", false),
        ];
        for (folder, is_found) in cases {
            let files =
                [&format!("{folder}/tool"), "repository/.git", "project/.interlock/x", "environment/pyvenv.cfg"];
            let found = found(&[folder], &files, &[], &["known"]);
            assert_eq!(!found.is_empty(), is_found, "{folder}");
        }
    }

    #[test]
    fn a_link_into_such_a_place_is_not_found() {
        let links = [("own/bin/tool", "here/tool"), ("lent", "here/bin"), ("fine/tool", "other/tool")];
        let files = ["here/tool", "here/bin/tool", "other/tool"];
        assert_eq!(found(&["own/bin", "lent", "fine"], &files, &links, &[]), ["fine/tool"]);
    }

    #[test]
    fn the_system_comes_first_and_relative_directories_never() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("sh"), "").unwrap();
        fs::set_permissions(home.path().join("sh"), fs::Permissions::from_mode(0o755)).unwrap();
        let path = std::env::join_paths([Path::new("bin"), Path::new("/usr/../bin"), home.path(), Path::new("/bin")]);
        let search = Search { path: path.unwrap(), workspaces: Vec::new(), here: None };
        assert_eq!(search.all("sh"), [Path::new("/bin/sh"), &home.path().join("sh")]);
        assert_eq!(all("./sh", &[]), [] as [PathBuf; 0]);
        assert_eq!(all("/bin/sh", &[]), [Path::new("/bin/sh")]);
    }
}
