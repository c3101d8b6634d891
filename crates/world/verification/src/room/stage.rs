//! One place for one run of a check: a copy of a tree that stands at the checkout's own path.
//!
//! The program sees the copy, the repository and the dependencies at their usual paths, by mounts of its own, and all its
//! writes are thrown away. Without namespaces the copy stands at a path of its own, and the end says so.

#![expect(clippy::disallowed_methods, reason = "the room is in the store, and no program works in the stage yet")]

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use interlock_beneath::{FileType, Folder};
use interlock_sandbox::{CACHES, Kind, Namespaces, Rules, View};
use rustix::fs::{CWD, Mode, mknodat};
use tempfile::TempDir;

use super::{files, reading::Watch, repository::Repository};

/// Build directories that a file at the top of a project stands for. The room keeps its own, which only runs on this base
/// tree fill: one that a turn has filled could hold anything, and an earlier base tree may be the work of a turn.
const BUILDS: [(&str, &str); 6] = [
    ("Cargo.toml", "target"),
    ("pom.xml", "target"),
    ("build.gradle", "build"),
    ("build.gradle.kts", "build"),
    ("CMakeLists.txt", "build"),
    ("mix.exs", "_build"),
];

/// The data that all places of one verification share.
pub(crate) struct Ground {
    /// The root of the workspace.
    pub(crate) root: PathBuf,
    /// The directory that the check runs in, below the root.
    pub(crate) folder: PathBuf,
    /// The directory of the room in the store.
    pub(crate) home: PathBuf,
    /// The directory of the build results of the base tree.
    pub(crate) builds: PathBuf,
    /// The directories with dependencies, below the root.
    pub(crate) dependencies: Vec<PathBuf>,
    /// The directories in these that are in no list, so that no program sees them.
    pub(crate) unlisted: Vec<PathBuf>,
    /// The rules of the sandbox for a program in the workspace.
    pub(crate) rules: Rules,
    /// True if the copies can stand at the root's own path.
    pub(crate) is_at_own_path: bool,
    /// What a check sees of the repository, once it was asked for.
    pub(crate) repository: OnceLock<Option<Repository>>,
}

/// Who may fill the room's build directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// The run on the base tree: its results are kept.
    Kept,
    /// Every other run: it begins with the kept results, and its own are thrown away.
    Discarded,
}

/// A place that is ready for a program.
pub(crate) struct Stage {
    /// The rules of the sandbox.
    pub(crate) rules: Rules,
    /// The directory to run in.
    pub(crate) folder: PathBuf,
    /// The copy of the tree, where it is.
    pub(crate) copy: PathBuf,
    /// Tells which files of the copy are read; `None` if the file system does not say.
    pub(crate) watch: Option<Watch>,
    _temp: TempDir,
}

impl Ground {
    /// Returns true if the sandbox can show a copy at the root's own path.
    pub(crate) fn can_show(rules: &Rules, has_namespaces: impl FnOnce() -> bool) -> bool {
        rules.sandbox == Kind::Landlock && rules.namespaces == Namespaces::Auto && has_namespaces()
    }

    /// Removes the build results of other trees.
    pub(crate) fn forget_other_builds(&self) -> io::Result<()> {
        let all = self.builds.parent().unwrap_or(&self.home);
        fs::create_dir_all(&self.builds)?;
        for other in fs::read_dir(all)?.flatten().filter(|other| other.path() != self.builds) {
            Folder::open(all)?.remove_all(Path::new(&other.file_name()))?;
        }
        Ok(())
    }

    /// Prepares a place with a copy of a tree, after some changes of that copy.
    pub(crate) fn stage(
        &self,
        tree: &Path,
        build: Build,
        change: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<Stage> {
        let temp = tempfile::Builder::new().prefix(super::PLACE).tempdir_in(&self.home)?;
        let copy = temp.path().join("tree");
        files::copy(tree, &copy)?;
        change(&copy)?;
        let watch = Watch::begin(&copy, temp.path());
        let stage = match self.is_at_own_path {
            true => self.shown(temp, &copy, build),
            false => self.apart(temp, copy),
        }?;
        Ok(Stage { watch, ..stage })
    }

    fn shown(&self, temp: TempDir, copy: &Path, build: Build) -> io::Result<Stage> {
        let mut rules = Rules { keeps_repository: true, ..self.rules.clone() };
        rules.views.push(View { at: self.root.clone(), shows: copy.to_owned(), writes: None });
        let layer = |name: &str| {
            let layer = temp.path().join(format!("layer-{name}"));
            ["upper", "work"].iter().try_for_each(|part| fs::create_dir_all(layer.join(part)))?;
            io::Result::Ok(layer)
        };
        let mut places: Vec<(PathBuf, PathBuf, Build)> = Vec::new();
        let (checkout, inside) = (Folder::open(&self.root)?, Folder::open(copy)?);
        let mut unseen: Vec<PathBuf> = self.unlisted.clone();
        if let Some(repository) = self.repository() {
            repository.write(&inside)?;
            let (objects, hidden) = repository.objects();
            let at = PathBuf::from(".git/objects");
            unseen.extend(hidden.iter().map(|path| at.join(path)));
            // The program's writes are thrown away, so the sandbox need not make every object read-only by itself.
            rules.write.push(self.root.join(&at));
            places.push((at, objects, Build::Discarded));
            if let Some(elsewhere) = repository.elsewhere(&self.root) {
                let nothing = temp.path().join("nothing");
                fs::create_dir(&nothing)?;
                rules.views.push(View { at: elsewhere.to_owned(), shows: nothing, writes: None });
            }
        }
        for path in &self.dependencies {
            match checkout.read_link(path) {
                Ok(target) => files::link(&inside, path, &target)?,
                Err(_) => places.push((path.clone(), self.root.join(path), Build::Discarded)),
            }
        }
        for (file, folder) in BUILDS {
            let is_wanted = copy.join(file).is_file() && fs::symlink_metadata(copy.join(folder)).is_err();
            if is_wanted && places.iter().all(|(at, ..)| at != Path::new(folder)) {
                let kept = self.builds.join(folder);
                fs::create_dir_all(&kept)?;
                places.push((folder.into(), kept, build));
            }
        }
        for (number, (at, shows, build)) in places.into_iter().enumerate() {
            files::make_folder(&inside, &at)?;
            let writes = if build == Build::Kept { None } else { Some(layer(&number.to_string())?) };
            if let Some(layer) = &writes {
                let inside = unseen.iter().filter_map(|unseen| unseen.strip_prefix(&at).ok());
                inside.map(|path| layer.join("upper").join(path)).try_for_each(|path| remove_from_view(&path))?;
            }
            rules.views.push(View { at: self.root.join(at), shows, writes });
        }
        rules.views.push(self.cache(build, layer(CACHES)?)?);
        Ok(Stage { rules, folder: self.root.join(&self.folder), copy: copy.to_owned(), watch: None, _temp: temp })
    }

    /// Returns what a check may see of the repository.
    pub(crate) fn repository(&self) -> Option<&Repository> {
        self.repository.get_or_init(|| Repository::of(&self.root)).as_ref()
    }

    /// The caches of tools, at their place in the temporary directory of the program. They are build results: only runs on
    /// this base tree fill them.
    fn cache(&self, build: Build, layer: PathBuf) -> io::Result<View> {
        let kept = self.builds.join(CACHES);
        fs::create_dir_all(&kept)?;
        let writes = if build == Build::Kept { None } else { Some(layer) };
        Ok(View { at: CACHES.into(), shows: kept, writes })
    }

    /// Without namespaces: dependencies are links, which the program cannot write through.
    fn apart(&self, temp: TempDir, copy: PathBuf) -> io::Result<Stage> {
        let (checkout, inside) = (Folder::open(&self.root)?, Folder::open(&copy)?);
        for path in &self.dependencies {
            let target = checkout.read_link(path).unwrap_or_else(|_| self.root.join(path));
            files::link(&inside, path, &target)?;
        }
        let mut rules = Rules { keeps_repository: true, workspace: copy.clone(), ..self.rules.clone() };
        rules.show.push(self.root.clone());
        Ok(Stage { rules, folder: copy.join(&self.folder), copy, watch: None, _temp: temp })
    }
}

/// Marks a path of an overlay's upper directory as removed, as the kernel does: by a device without a number.
fn remove_from_view(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    Ok(mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), 0)?)
}
