//! The agent's git: `HEAD`, branches, tags, stash and index are compared around a turn, and changes are taken back.
//!
//! A commit that the agent made is not lost: it stays under `refs/interlock/agent/RUN/N`. The files of the workspace are
//! not touched here.
//!
//! Other runs commit to their branches and tag their checkpoints at any time, so those references are not compared. In a
//! worktree only `HEAD`, its branch and the index are compared: the sandbox keeps the agent out of the repository itself,
//! where people and other runs work meanwhile.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::session::plain;

/// The number of references that are compared.
const REFERENCES_MAX: usize = 20_000;

/// Our own references, which the comparison ignores.
const OURS: &str = "refs/interlock/";

/// The branches of runs and the tags of their checkpoints.
const OF_RUNS: [&str; 2] = ["refs/heads/interlock/", "refs/tags/chk-"];

/// The state of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    folder: PathBuf,
    head: String,
    references: BTreeMap<String, String>,
    index: PathBuf,
    index_bytes: Option<Vec<u8>>,
}

impl Standing {
    /// Reads the state of the repository of a directory, or `None` if there is none. May block.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        let (index, is_linked) = places(folder)?;
        let head = git(folder, &["symbolic-ref", "-q", "HEAD"])
            .or_else(|| git(folder, &["rev-parse", "-q", "--verify", "HEAD"]));
        let listed = git(folder, &["for-each-ref", "--format=%(objectname) %(refname)"]).unwrap_or_default();
        let pairs = listed.lines().filter_map(|line| line.split_once(' ')).take(REFERENCES_MAX);
        let head = head.unwrap_or_default().trim_end().to_owned();
        let is_compared = |name: &str| match is_linked || OF_RUNS.iter().any(|prefix| name.starts_with(prefix)) {
            true => name == head,
            false => !name.starts_with(OURS),
        };
        let references = pairs.filter(|(_, name)| is_compared(name));
        Some(Standing {
            folder: folder.to_owned(),
            references: references.map(|(hash, name)| (name.to_owned(), hash.to_owned())).collect(),
            head: head.clone(),
            index_bytes: fs::read(&index).ok(),
            index,
        })
    }

    /// Returns true if the index of `now` stages other content. Its bytes can differ without that, because git stores the
    /// times of files in it, so git reads both then.
    fn is_staged_otherwise(&self, now: &Standing) -> bool {
        self.index_bytes != now.index_bytes && self.staged() != now.staged()
    }

    /// Returns the staged content; `None` if it cannot be read.
    fn staged(&self) -> Option<String> {
        let Some(bytes) = &self.index_bytes else { return Some(String::new()) };
        let copy = tempfile::NamedTempFile::new().ok()?;
        fs::write(copy.path(), bytes).ok()?;
        git_with(&self.folder, &["ls-files", "--stage"], Some(copy.path()))
    }

    /// Restores this state and returns one sentence per change that was taken back. May block.
    pub(crate) fn restore(&self, run: &str) -> Vec<String> {
        let Some(now) = Standing::of(&self.folder) else { return Vec::new() };
        let mut said = Vec::new();
        if now.head != self.head && self.head.starts_with("refs/") {
            self.set(&["symbolic-ref", "HEAD", &self.head], format!("HEAD was moved to {}", now.head), &mut said);
        }
        let moved: Vec<_> =
            now.references.iter().filter(|(name, hash)| self.references.get(*name) != Some(*hash)).collect();
        for (number, (name, hash)) in moved.into_iter().enumerate() {
            let kept = format!("{OURS}agent/{}/{}-{number}", plain(run), &hash[..hash.len().min(8)]);
            git(&self.folder, &["update-ref", &kept, hash]);
            let what = format!("{name} was moved to {hash}, which is kept as {kept}");
            match self.references.get(name) {
                Some(before) => self.set(&["update-ref", name, before], what, &mut said),
                None => self.set(&["update-ref", "-d", name], what, &mut said),
            }
        }
        for (name, hash) in self.references.iter().filter(|(name, _)| !now.references.contains_key(*name)) {
            self.set(&["update-ref", name, hash], format!("{name} was deleted"), &mut said);
        }
        if self.is_staged_otherwise(&now) {
            let restored = match &self.index_bytes {
                Some(bytes) => fs::write(&self.index, bytes),
                None => fs::remove_file(&self.index),
            };
            said.push(taken_back("the index was changed".to_owned(), restored.is_ok()));
        }
        said
    }

    fn set(&self, arguments: &[&str], what: String, said: &mut Vec<String>) {
        said.push(taken_back(what, git(&self.folder, arguments).is_some()));
    }
}

/// Returns the path of the index, and true if the directory is a linked worktree, whose repository is elsewhere.
fn places(folder: &Path) -> Option<(PathBuf, bool)> {
    let ask = |words: &[&str]| git(folder, &[&["rev-parse", "--path-format=absolute"], words].concat());
    let all = ask(&["--git-path", "index", "--git-dir", "--git-common-dir"])?;
    if let [index, own, common] = all.lines().collect::<Vec<_>>()[..] {
        return Some((PathBuf::from(index), own != common));
    }
    // A path contains a line break.
    let index = ask(&["--git-path", "index"])?;
    let index = PathBuf::from(index.strip_suffix('\n').unwrap_or(&index));
    Some((index, ask(&["--git-dir"]) != ask(&["--git-common-dir"])))
}

fn taken_back(what: String, is_done: bool) -> String {
    match is_done {
        true => format!("{what}; taken back"),
        false => format!("{what}; it could not be taken back"),
    }
}

/// Runs git without any program that the repository's settings name. Returns its output if it succeeds.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    git_with(folder, arguments, None)
}

/// Runs git as [`git`] does, with another index.
fn git_with(folder: &Path, arguments: &[&str], index: Option<&Path>) -> Option<String> {
    let mut command = Command::new("git");
    command.current_dir(folder).env_clear().stdin(Stdio::null()).stderr(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()));
    command.envs([
        ("HOME", "/nonexistent"),
        ("LC_ALL", "C"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_OPTIONAL_LOCKS", "0"),
    ]);
    command.envs(index.map(|index| ("GIT_INDEX_FILE", index)));
    let safe = ["core.hooksPath=/dev/null", "core.fsmonitor=false", "safe.directory=*"];
    command.args(safe.iter().flat_map(|setting| ["-c", setting])).args(arguments);
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
