//! The commits that a run may build on.

use interlock_workspace::{Commit, Exported};
use tempfile::TempDir;

use crate::folder::Folder;

/// A repository with a test, and the run `r` that has begun there.
fn scene() -> (Folder, String) {
    let folder = Folder::repository();
    folder.git(&["config", "user.name", "Ada"]);
    folder.git(&["config", "user.email", "ada@localhost"]);
    folder.git(&["checkout", "-q", "-b", "main"]);
    folder.write("test", "strict\n");
    folder.git(&["add", "."]);
    folder.git(&["commit", "-q", "-m", "first"]);
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    (folder, base)
}

/// Commits a weak test to the branch of the run and leaves no trace of it in the files, as a program can.
fn plant(folder: &Folder) -> String {
    folder.write("test", "weak\n");
    folder.git(&["commit", "-q", "-a", "-m", "weaken"]);
    folder.git(&["branch", "-q", "-f", "interlock/r"]);
    folder.git(&["reset", "-q", "--hard", "HEAD~1"]);
    folder.git(&["rev-parse", "interlock/r"])
}

/// Returns the commit that a run would make of its change, and the test that the change is compared with.
fn export(folder: &Folder, run: &str, base: &str) -> (Exported, String) {
    let tree = folder.workspace.kept_tree(&folder.path).unwrap();
    let into = TempDir::new().unwrap();
    let places = ["before", "after"].map(|name| into.path().join(name));
    let made = folder.workspace.export_commit(
        (&folder.path, run),
        Some("interlock/r"),
        (base, &tree),
        [&places[0], &places[1]],
    );
    (made.unwrap().unwrap(), std::fs::read_to_string(places[0].join("test")).unwrap())
}

#[test]
fn a_branch_that_a_program_has_planted_is_told_and_is_not_the_base() {
    let (folder, base) = scene();
    let planted = plant(&folder);
    folder.write("source", "new\n");
    // A run that shares the records of this one begins after the branch was made, and trusts it as little.
    folder.workspace.continue_run(&folder.path, "r", "r-2").unwrap();
    folder.workspace.take(&folder.path, "r-2").unwrap();
    for run in ["r", "r-2"] {
        let (made, test) = export(&folder, run, &base);
        let moved = made.foreign.unwrap();
        assert_eq!((moved.reference.as_str(), &moved.after), ("refs/heads/interlock/r", &planted), "{run}");
        assert_eq!((moved.before, test.as_str()), (Some(folder.git(&["rev-parse", "main"])), "strict\n"), "{run}");
    }
}

#[test]
fn a_run_builds_on_its_own_commits_and_those_of_the_run_that_it_continues() {
    let (folder, base) = scene();
    folder.write("source", "new\n");
    let branch = Some("interlock/r".to_owned());
    let order = Commit { message: "a change".into(), branch, run: Some("r".into()), ..Commit::default() };
    assert_eq!(export(&folder, "r", &base).0.foreign, None, "the branch will begin where the run did");
    folder.workspace.commit(&folder.path, &order).unwrap();
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    folder.workspace.continue_run(&folder.path, "r", "r-2").unwrap();
    folder.write("source", "newer\n");
    assert_eq!(export(&folder, "r", &base).0.foreign, None);
    assert_eq!(export(&folder, "r-2", &base).0.foreign, None);
}
