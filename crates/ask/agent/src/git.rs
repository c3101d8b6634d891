//! The agent's git: `HEAD`, branches, tags, stash and index are compared around a turn, and changes are taken back.
//!
//! A commit that the agent made is not lost: it stays under `refs/interlock/agent/RUN/N`. The files of the workspace are
//! not touched here.
//!
//! Other runs commit to their branches and tag their checkpoints at any time, so those references are not compared. In a
//! worktree only `HEAD`, its branch and the index are compared: the sandbox keeps the agent out of the repository itself,
//! where people and other runs work meanwhile.
//!
//! The agent can prepare every file of the repository. So files are read and written by descriptor, in the directory that
//! was the git directory before the turn; if another one is in its place, nothing is written.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use interlock_beneath::{FileType, Folder};
use interlock_git::{Git, Place, clear};

use crate::session::plain;

/// The number of references that are compared.
const REFERENCES_MAX: usize = 20_000;

/// The longest index that is put back, and the longest of the other files, which have a few lines.
const INDEX_BYTES_MAX: u64 = 256 << 20;
const FILE_BYTES_MAX: u64 = 64 << 10;

/// Our own references, which the comparison ignores.
const OURS: &str = "refs/interlock/";

/// The branches of runs and the tags of their checkpoints.
const OF_RUNS: [&str; 2] = ["refs/heads/interlock/", "refs/tags/chk-"];

/// Files of a git directory that are put back as they were, because they make git read or write elsewhere.
const LEADING_ELSEWHERE: [&str; 3] = ["commondir", "objects/info/alternates", "objects/info/http-alternates"];

/// The places of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Places {
    /// The root of the work tree.
    root: PathBuf,
    /// The directory with `HEAD` and the index.
    own: GitDir,
    /// The directory with references and objects. It is another one in a linked worktree, whose repository is elsewhere.
    common: GitDir,
}

/// A git directory: its path, and which directory that was.
#[derive(Clone, Debug, PartialEq, Eq)]
struct GitDir {
    path: PathBuf,
    identity: (u64, u64),
}

impl GitDir {
    fn of(path: PathBuf) -> Option<Self> {
        let about = Folder::open(&path).ok()?.stat(Path::new("")).ok()?;
        Some(GitDir { path, identity: (about.st_dev, about.st_ino) })
    }

    /// Opens the directory, if it is still the same one and no link leads to it.
    fn open(&self) -> Option<Folder> {
        let folder = Folder::open(&self.path).ok()?;
        let about = folder.stat(Path::new("")).ok()?;
        (self.identity == (about.st_dev, about.st_ino)).then_some(folder)
    }
}

impl Places {
    fn of(folder: &Path) -> Option<Self> {
        let place = Place::find(folder).ok()?;
        let dirs = place.repository?;
        Some(Places { root: place.root, own: GitDir::of(dirs.own)?, common: GitDir::of(dirs.common)? })
    }

    fn is_linked(&self) -> bool {
        self.own != self.common
    }

    /// Runs git on this repository, wherever its files lead now. Returns its output if it succeeds.
    fn git(&self, arguments: &[&str]) -> Option<String> {
        let git: Git = Git::of(&self.root, &self.own.path, &self.common.path);
        Some(String::from_utf8_lossy(&git.run(arguments).ok()?).into_owned())
    }
}

/// The kind of file at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Nothing,
    File(Vec<u8>),
    /// A link, a pipe, or something else that is not read.
    Other,
}

impl Content {
    fn of(folder: &Folder, name: &str) -> Self {
        let bytes_max = if name == "index" { INDEX_BYTES_MAX } else { FILE_BYTES_MAX };
        match folder.read(Path::new(name), bytes_max) {
            Ok(bytes) => Content::File(bytes),
            Err(error) if error.is_not_found() => Content::Nothing,
            Err(_) => Content::Other,
        }
    }

    /// Puts it back in place of whatever is there.
    fn put(&self, folder: &Folder, name: &str) -> bool {
        let path = Path::new(name);
        if folder.kind(path).is_ok_and(|kind| kind == Some(FileType::Directory)) {
            return false;
        }
        match self {
            Content::Nothing => folder.remove_file(path).is_ok(),
            Content::File(bytes) => folder.write(path, bytes).is_ok(),
            Content::Other => false,
        }
    }
}

/// The state of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    places: Places,
    head: String,
    references: BTreeMap<String, String>,
    index: Content,
    /// `HEAD` itself.
    head_file: Content,
    /// The files that can make git use another directory.
    leading: Vec<Content>,
    /// The `.git` of a linked worktree, which is a file.
    link: Content,
}

impl Standing {
    /// Reads the state of the repository of a directory, or `None` if there is none. May block.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        Standing::at(Places::of(folder)?)
    }

    fn at(places: Places) -> Option<Self> {
        let (own, common) = (places.own.open()?, places.common.open()?);
        let head = places
            .git(&["symbolic-ref", "-q", "HEAD"])
            .or_else(|| places.git(&["rev-parse", "-q", "--verify", "HEAD"]));
        let listed = places.git(&["for-each-ref", "--format=%(objectname) %(refname)"]).unwrap_or_default();
        let pairs = listed.lines().filter_map(|line| line.split_once(' ')).take(REFERENCES_MAX);
        let head = head.unwrap_or_default().trim_end().to_owned();
        let is_compared = |name: &str| match places.is_linked() || OF_RUNS.iter().any(|prefix| name.starts_with(prefix))
        {
            true => name == head,
            false => !name.starts_with(OURS),
        };
        let references = pairs.filter(|(_, name)| is_compared(name));
        Some(Standing {
            references: references.map(|(hash, name)| (name.to_owned(), hash.to_owned())).collect(),
            index: Content::of(&own, "index"),
            head_file: Content::of(&own, "HEAD"),
            leading: LEADING_ELSEWHERE.iter().map(|name| Content::of(&common, name)).collect(),
            link: Folder::open(&places.root).map_or(Content::Other, |root| Content::of(&root, ".git")),
            head,
            places,
        })
    }

    /// Returns true if the index of `now` stages other content. Its bytes can differ without that, because git stores the
    /// times of files in it, so git reads both then.
    fn is_staged_otherwise(&self, now: &Standing) -> bool {
        let is_other = self.index != Content::Other && now.index == Content::Other;
        is_other || (self.index != now.index && self.staged() != now.staged())
    }

    /// Returns the staged content; `None` if it cannot be read.
    fn staged(&self) -> Option<String> {
        let Content::File(bytes) = &self.index else { return Some(String::new()) };
        let copy = tempfile::tempdir().ok()?;
        Folder::open_through_links(copy.path()).and_then(|copy| copy.write(Path::new("index"), bytes)).ok()?;
        let index = copy.path().join("index");
        let git: Git = Git::of(&self.places.root, &self.places.own.path, &self.places.common.path);
        let listed = git.index(&index).run(&["ls-files", "--stage"]).ok()?;
        Some(String::from_utf8_lossy(&listed).into_owned())
    }

    /// Restores this state and returns one sentence per change that was taken back. May block.
    pub(crate) fn restore(&self, run: &str) -> Vec<String> {
        let mut said = clear(&self.places.root);
        for place in [&self.places.own, &self.places.common] {
            if place.open().is_none() {
                said.push(format!(
                    "{} is not the directory that it was, so nothing was changed there; put it back by hand",
                    place.path.display()
                ));
                return said;
            }
            if !place.path.starts_with(&self.places.root) {
                said.extend(clear(&place.path));
            }
        }
        self.restore_files(&mut said);
        let Some(now) = Standing::at(self.places.clone()) else { return said };
        self.restore_references(&now, run, &mut said);
        if self.is_staged_otherwise(&now) {
            let is_done = self.places.own.open().is_some_and(|own| self.index.put(&own, "index"));
            said.push(taken_back("the index was changed".to_owned(), is_done));
        }
        said
    }

    /// Puts back the files that lead git elsewhere, before git reads any of them.
    fn restore_files(&self, said: &mut Vec<String>) {
        let mut put = |folder: Option<Folder>, name: &str, content: &Content| {
            let Some(folder) = folder else { return };
            let now = Content::of(&folder, name);
            // A program may check out another branch; that is compared as such.
            let is_regular = name == "HEAD" && matches!(now, Content::File(_));
            if !is_regular && *content != Content::Other && now != *content {
                let is_done = content.put(&folder, name);
                said.push(taken_back(format!("{} was replaced", folder.path().join(name).display()), is_done));
            }
        };
        for (name, content) in LEADING_ELSEWHERE.iter().zip(&self.leading) {
            put(self.places.common.open(), name, content);
        }
        put(self.places.own.open(), "HEAD", &self.head_file);
        put(Folder::open(&self.places.root).ok(), ".git", &self.link);
    }

    fn restore_references(&self, now: &Standing, run: &str, said: &mut Vec<String>) {
        if now.head != self.head && self.head.starts_with("refs/") {
            self.set(&["symbolic-ref", "HEAD", &self.head], format!("HEAD was moved to {}", now.head), said);
        }
        let moved: Vec<_> =
            now.references.iter().filter(|(name, hash)| self.references.get(*name) != Some(*hash)).collect();
        for (number, (name, hash)) in moved.into_iter().enumerate() {
            let kept = format!("{OURS}agent/{}/{}-{number}", plain(run), &hash[..hash.len().min(8)]);
            self.places.git(&["update-ref", &kept, hash]);
            let what = format!("{name} was moved to {hash}, which is kept as {kept}");
            match self.references.get(name) {
                Some(before) => self.set(&["update-ref", name, before], what, said),
                None => self.set(&["update-ref", "-d", name], what, said),
            }
        }
        for (name, hash) in self.references.iter().filter(|(name, _)| !now.references.contains_key(*name)) {
            self.set(&["update-ref", name, hash], format!("{name} was deleted"), said);
        }
    }

    fn set(&self, arguments: &[&str], what: String, said: &mut Vec<String>) {
        said.push(taken_back(what, self.places.git(arguments).is_some()));
    }
}

fn taken_back(what: String, is_done: bool) -> String {
    match is_done {
        true => format!("{what}; taken back"),
        false => format!("{what}; it could not be taken back"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, process::Command};

    fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
        Places::of(folder)?.git(arguments)
    }

    fn sh(folder: &Path, script: &str) {
        let done = Command::new("sh").arg("-ec").arg(script).current_dir(folder).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    #[test]
    fn commits_branches_and_stashes_of_an_agent_are_taken_back_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let as_me = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b;";
        sh(folder.path(), &format!("{as_me} git init -q -b main; echo 1 > f; git add f; git commit -qm one"));
        let before = Standing::of(folder.path()).unwrap();
        assert_eq!(before.restore("r"), Vec::<String>::new());
        sh(
            folder.path(),
            &format!("{as_me} git checkout -q -b other; echo 2 > f; git commit -qam two; echo 3 > g; git add g"),
        );
        let said = before.restore("r");
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said.iter().all(|one| one.ends_with("taken back")), "{said:?}");
        assert_eq!(Standing::of(folder.path()).unwrap().references, before.references);
        assert_eq!(git(folder.path(), &["symbolic-ref", "HEAD"]).unwrap().trim(), "refs/heads/main");
        let kept = git(folder.path(), &["for-each-ref", "--format=%(subject)", "refs/interlock/agent/"]).unwrap();
        assert_eq!(kept.trim(), "two");
        assert_eq!(fs::read_to_string(folder.path().join("f")).unwrap(), "2\n");
    }

    #[test]
    fn commits_of_other_runs_and_people_stay() {
        let top = tempfile::tempdir().unwrap();
        let (checkout, tree) = (top.path().join("checkout"), top.path().join("tree"));
        fs::create_dir(&checkout).unwrap();
        let as_me = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b;";
        let commit = "git commit -q --allow-empty -m more";
        sh(&checkout, &format!("{as_me} git init -q -b main; {commit}; git worktree add -q -b interlock/a ../tree"));
        let (here, there) = (Standing::of(&checkout).unwrap(), Standing::of(&tree).unwrap());
        // Another run commits and tags a checkpoint while the agent works in the checkout.
        sh(&tree, &format!("{as_me} {commit}; git tag chk-202601010000"));
        assert_eq!(here.restore("r"), Vec::<String>::new());
        let there = Standing { references: Standing::of(&tree).unwrap().references, ..there };
        // A person commits while the agent works in the worktree.
        sh(&checkout, &format!("{as_me} {commit}; git branch mine"));
        assert_eq!(there.restore("a"), Vec::<String>::new());
        sh(&tree, &format!("{as_me} {commit}"));
        assert_eq!(there.restore("a").len(), 1, "its own branch is compared");
    }

    /// A repository with one commit, beside a file of the user that an agent must not reach.
    fn scene() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let top = tempfile::tempdir().unwrap();
        let (folder, secret) = (top.path().join("work"), top.path().join("precious"));
        fs::create_dir(&folder).unwrap();
        fs::write(&secret, "precious\n").unwrap();
        let as_me = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b;";
        sh(&folder, &format!("{as_me} git init -q -b main; echo 1 > f; git add f; git commit -qm one; git tag old"));
        (top, folder, secret)
    }

    #[test]
    fn files_that_became_links_are_replaced_and_not_followed() {
        for name in ["index", "HEAD", "objects/info/alternates", "commondir"] {
            let (_top, folder, secret) = scene();
            let before = Standing::of(&folder).unwrap();
            sh(&folder, &format!("rm -f .git/{name}; ln -s '{}' .git/{name}", secret.display()));
            let said = before.restore("r");
            assert!(said.len() == 1 && said[0].ends_with("taken back"), "{name}: {said:?}");
            assert_eq!(fs::read_to_string(&secret).unwrap(), "precious\n", "{name}");
            assert_eq!(Standing::of(&folder).unwrap(), before, "{name}");
        }
    }

    #[test]
    fn a_huge_file_in_place_of_a_short_one_is_put_back_and_not_read() {
        for name in ["HEAD", "commondir", "objects/info/alternates"] {
            let (_top, folder, _) = scene();
            let before = Standing::of(&folder).unwrap();
            sh(&folder, &format!("truncate -s 900M .git/{name}"));
            // A file that git itself reads whole is removed first.
            let said = before.restore("r");
            let is_repaired = |one: &String| one.ends_with("taken back") || one.ends_with("it was removed");
            assert!(!said.is_empty() && said.iter().all(is_repaired), "{name}: {said:?}");
            assert_eq!(Standing::of(&folder).unwrap(), before, "{name}");
        }
    }

    #[test]
    fn another_directory_in_place_of_the_repository_is_not_changed() {
        let replacements =
            ["ln -s ../other/.git .git", "echo 'gitdir: ../other/.git' > .git", "cp -r ../other/.git .git"];
        for replacement in replacements {
            let (top, folder, _) = scene();
            let before = Standing::of(&folder).unwrap();
            sh(top.path(), "git init -q -b main other; cd other; git config user.name o; git config user.email o@o");
            sh(&top.path().join("other"), "git commit -q --allow-empty -m theirs");
            let theirs = Standing::of(&top.path().join("other")).unwrap();
            sh(&folder, &format!("mv .git ../hidden; {replacement}"));
            let said = before.restore("r");
            assert_eq!(said.len(), 1, "{said:?}");
            assert!(said[0].contains("is not the directory that it was"), "{said:?}");
            assert_eq!(Standing::of(&top.path().join("other")).unwrap(), theirs, "{replacement}");
        }
    }

    #[test]
    fn pipes_in_place_of_files_of_git_are_taken_away() {
        let (_top, folder, _) = scene();
        let before = Standing::of(&folder).unwrap();
        sh(
            &folder,
            "rm .git/index .git/HEAD; for f in .git/index .git/HEAD .git/shallow .gitignore; do mkfifo $f; done",
        );
        let said = before.restore("r");
        let count = |end| said.iter().filter(|one| one.contains(end)).count();
        assert_eq!(count("is a named pipe; it was removed"), 3, "{said:?}");
        assert_eq!(count("is a named pipe; it was moved to"), 1, "{said:?}");
        assert_eq!(Standing::of(&folder).unwrap(), before);
    }
}
