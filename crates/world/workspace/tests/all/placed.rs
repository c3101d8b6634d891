//! A program does not decide which directory is the workspace of its run.

use std::{fs, path::Path, process::Command};

use interlock_workspace::{Commit, Place};

use crate::folder::Folder;

fn sh(folder: &Path, script: &str) {
    let me = "export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";
    let done = Command::new("sh").args(["-ec", &format!("{me}; {script}")]).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A directory, and beside it a repository of the person with a change that is not committed.
fn scene() -> (Folder, Folder) {
    let (folder, other) = (Folder::plain(), Folder::repository());
    folder.write("x", "x\n");
    other.write("precious", "one\n");
    sh(&other.path, "git add -A; git commit -qm one; echo two >> precious");
    (folder, other)
}

/// Whatever leads from a directory into the repository of the person, whose path is `V`.
const LEADS: [&str; 6] = [
    "git init -q .; git config core.worktree V",
    "git init -q .; printf '[include]\\npath = more\\n' >> .git/config; printf '[core]\\nworktree = V\\n' > .git/more",
    "echo gitdir: V/.git > .git",
    "ln -s V/.git .git",
    "git init -q .; echo V/.git > .git/commondir",
    "git init -q ../own; mkdir -p ../own/.git/worktrees/w; echo V/.git > ../own/.git/worktrees/w/commondir; \
     echo $PWD/.git > ../own/.git/worktrees/w/gitdir; cp ../own/.git/HEAD ../own/.git/worktrees/w; \
     echo gitdir: $PWD/../own/.git/worktrees/w > .git",
];

#[test]
fn no_git_file_of_a_program_leads_to_another_repository() {
    for (lead, is_below) in LEADS.iter().flat_map(|lead| [(lead, false), (lead, true)]) {
        let (folder, other) = scene();
        let place = match is_below {
            true => {
                folder.init();
                folder.path.join("sub")
            }
            false => folder.path.clone(),
        };
        fs::create_dir_all(&place).unwrap();
        let (files, repository) = (other.files(), other.user_files());
        sh(&place, &lead.replace('V', &other.path.display().to_string()));
        let root = folder.workspace.root(&place).unwrap();
        assert_eq!(root, place, "{lead}");
        let before = folder.workspace.take(&place, "r").unwrap();
        fs::write(place.join("new"), "new\n").unwrap();
        // There may be a repository of the program, but nothing is committed to the one of the person.
        let commit = Commit { message: "planted".into(), ..Commit::default() };
        let _ = folder.workspace.commit(&place, &commit);
        let _ = folder.workspace.changes_since(&place, "r", &before);
        folder.workspace.restore(&place, &before).unwrap();
        assert!(!place.join("new").exists(), "{lead}");
        assert_eq!((other.files(), other.user_files()), (files, repository), "{lead}");
        let log = folder.workspace.history_log(&place, Path::new(""), 9).unwrap_or_default();
        assert!(!log.contains("one"), "{lead}: {log}");
    }
}

#[test]
fn a_repository_that_a_program_makes_is_not_the_one_of_the_run() {
    let (folder, _) = scene();
    Place::now(&folder.path).unwrap().fix(&folder.path);
    let before = folder.workspace.take(&folder.path, "r").unwrap();
    sh(&folder.path, "git init -q .; git add -A; git commit -qm planted; rm x");
    assert!(!folder.workspace.is_repository(&folder.path).unwrap());
    folder.workspace.restore(&folder.path, &before).unwrap();
    assert_eq!(fs::read_to_string(folder.path.join("x")).unwrap(), "x\n");
}

#[test]
fn a_repository_below_the_one_of_the_run_does_not_take_its_place() {
    let (folder, _) = scene();
    let sub = folder.path.join("sub");
    folder.write("sub/x", "x\n");
    sh(&folder.path, "git init -q .; git add -A; git commit -qm one");
    Place::now(&sub).unwrap().fix(&sub);
    sh(&sub, "git init -q .");
    assert_eq!(folder.workspace.root(&sub).unwrap(), folder.path);
    assert!(folder.workspace.commit(&sub, &Commit { message: "two".into(), ..Commit::default() }).is_err());
    assert_eq!(folder.git(&["rev-list", "--count", "HEAD"]), "1", "nothing has changed");
}

#[test]
fn a_replaced_repository_is_refused_until_it_is_put_back() {
    let (folder, other) = scene();
    sh(&other.path, "git worktree add -q ../linked");
    let linked = other.path.with_file_name("linked");
    let git = fs::read_to_string(linked.join(".git")).unwrap();
    Place::now(&linked).unwrap().fix(&linked);
    assert!(folder.workspace.is_repository(&linked).unwrap());
    sh(&linked, "rm .git; git init -q .");
    let error = folder.workspace.take(&linked, "r").unwrap_err().to_string();
    assert!(error.contains("was replaced") && error.contains("start a new run"), "{error}");
    sh(&linked, "rm -r .git");
    fs::write(linked.join(".git"), git).unwrap();
    assert!(folder.workspace.is_repository(&linked).unwrap());
}

#[test]
fn linked_worktrees_and_submodules_are_workspaces() {
    let (folder, other) = scene();
    sh(&other.path, "git worktree add -q ../linked");
    let linked = other.path.with_file_name("linked");
    let place = Place::find(&linked).unwrap();
    assert_eq!((place.root, place.repository.unwrap().common), (linked, other.path.join(".git")));
    folder.init();
    sh(
        &folder.path,
        &format!("git -c protocol.file.allow=always submodule --quiet add {} module", other.path.display()),
    );
    let module = folder.path.join("module");
    let place = Place::find(&module).unwrap();
    assert_eq!((place.root, place.repository.unwrap().own), (module, folder.path.join(".git/modules/module")));
}

#[test]
fn a_link_in_place_of_the_directory_of_a_run_is_refused_by_name() {
    let (folder, other) = scene();
    let (sub, deep) = (folder.path.join("sub"), folder.path.join("sub/deep"));
    folder.write("sub/deep/x", "x\n");
    sh(&folder.path, "git init -q .; git add -A; git commit -qm one");
    for place in [&sub, &deep] {
        Place::now(place).unwrap().fix(place);
    }
    let before = folder.workspace.take(&sub, "r").unwrap();
    let (files, repository) = (other.files(), other.user_files());
    fs::create_dir(other.path.join("deep")).unwrap();
    sh(&folder.path, &format!("mv sub s2; ln -s {} sub", other.path.display()));
    let commit = Commit { message: "planted".into(), ..Commit::default() };
    for place in [&sub, &deep] {
        let refused = [
            folder.workspace.take(place, "r").map(drop).unwrap_err(),
            folder.workspace.restore(place, &before).map(drop).unwrap_err(),
            folder.workspace.commit(place, &commit).map(drop).unwrap_err(),
        ];
        for error in refused {
            let said =
                format!("{} has become a symbolic link, and the run works in {}", sub.display(), place.display());
            assert!(error.to_string().starts_with(&said), "{error}");
        }
        assert!(Place::check(place).is_err());
    }
    assert_eq!((other.files(), other.user_files()), (files, repository));
    let error = Place::find(&folder.path.join("sub/deep/..")).unwrap_err().to_string();
    assert!(error.contains("leads out of the workspace"), "{error}");
    sh(&folder.path, "rm sub; mv s2 sub");
    assert_eq!(folder.workspace.root(&sub).unwrap(), folder.path);
    assert!(Place::check(&sub).is_ok());
}
