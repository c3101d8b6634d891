//! Changes in nested repositories and submodules are recorded at every snapshot, and undone.

use std::{fs, path::Path, process::Command, time::Duration};

use interlock_workspace::{Changes, Why};

use crate::folder::Folder;

const AS_ME: &str = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b;";

fn shell(folder: &Folder, command: &str) {
    let command = format!("set -e; {AS_ME} {command}");
    assert!(Command::new("bash").current_dir(&folder.path).args(["-c", &command]).status().unwrap().success());
}

fn write(folder: &Folder, command: &str) -> Option<Changes> {
    let before = folder.workspace.take(&folder.path, "run-1").unwrap();
    shell(folder, command);
    folder.workspace.changes_since(&folder.path, "run-1", &before).unwrap()
}

/// Returns the hashes and names of the files that snapshots store.
fn kept(folder: &Folder) -> String {
    let listed = Command::new("bash")
        .current_dir(&folder.path)
        .args(["-c", "find . -name .git -prune -o -type f ! -name '*.o' -exec sha256sum {} + | sort; find . -name .git -prune -o -perm -100 -type f -print"])
        .output()
        .unwrap();
    String::from_utf8(listed.stdout).unwrap()
}

fn paths(changes: &Changes) -> Vec<String> {
    changes.files.iter().map(|change| change.path.display().to_string()).collect()
}

/// Makes a repository with a nested repository, one without a commit, and a submodule.
fn nesting() -> Folder {
    let folder = Folder::repository();
    let commit = "git init -q $1; cd $1; echo 1 > s; mkdir d; echo 2 > d/t; echo '*.o' > .gitignore; echo o > x.o; git add .; git commit -qm s";
    let make = format!(
        "make() {{ ({commit}); }}; echo 1 > a; git add a; git commit -qm one; make sub; make ../origin; git init -q unborn; echo u > unborn/u;
        git -c protocol.file.allow=always submodule --quiet add ../origin module 2>/dev/null; git commit -qm module"
    );
    shell(&folder, &make);
    folder
}

#[test]
fn changes_in_nested_repositories_are_recorded_and_undone_at_every_snapshot() {
    let commands = [
        ("echo changed > sub/s", vec!["sub/s"]),
        ("echo new > sub/d/n; rm sub/d/t", vec!["sub/d/n", "sub/d/t"]),
        ("echo changed > module/s; chmod +x module/d/t", vec!["module/d/t", "module/s"]),
        ("echo changed > unborn/u; echo new > unborn/n; echo 2 > a", vec!["a", "unborn/n", "unborn/u"]),
        ("echo ignored > sub/y.o; rm sub/x.o", vec![]),
    ];
    let folder = nesting();
    // The first snapshot is not the one that a later change is compared with.
    assert_eq!(write(&folder, "true"), None);
    for (command, expected) in commands {
        let before = kept(&folder);
        let Some(changes) = write(&folder, command) else {
            assert_eq!(expected, [""; 0], "{command}");
            continue;
        };
        assert_eq!(
            (paths(&changes), &changes.not_kept[..]),
            (expected.iter().map(|it| it.to_string()).collect(), &[][..]),
            "{command}"
        );
        let undo = folder.workspace.plan_undo(&folder.path, &[&changes], &|_| true).unwrap();
        assert_eq!((&undo.conflicts[..], &undo.not_kept[..]), (&[][..], &[][..]), "{command}");
        folder.workspace.carry_out(&undo).unwrap();
        assert_eq!(kept(&folder), before, "{command}");
        assert_eq!(write(&folder, "true"), None, "{command}");
    }
}

#[test]
fn commits_and_references_of_a_nested_repository_are_named_and_not_undone() {
    for (command, path) in [
        ("cd sub; git commit -qam n --allow-empty", "sub/.git"),
        ("cd sub; git branch new", "sub/.git"),
        ("cd module; git tag v1", "module/.git"),
        ("cd unborn; git checkout -qb other", "unborn/.git"),
        ("rm -r sub", "sub/.git"),
        ("rm -rf unborn/.git", "unborn/.git"),
        ("rm -rf sub/.git; git init -q sub", "sub/.git"),
        ("git clone -q sub cloned", "cloned/.git"),
    ] {
        let folder = nesting();
        let before = kept(&folder);
        let changes = write(&folder, command).unwrap();
        let named: Vec<_> = changes.not_kept.iter().map(|it| (it.path.to_str().unwrap(), it.why)).collect();
        assert_eq!(named, [(path, Why::Repository)], "{command}: {changes:?}");
        let undo = folder.workspace.plan_undo(&folder.path, &[&changes], &|_| true).unwrap();
        assert_eq!(undo.not_kept.len(), 1, "{command}");
        folder.workspace.carry_out(&undo).unwrap();
        assert_eq!(kept(&folder), before, "{command}: {:?}", undo.conflicts);
    }
}

#[test]
fn files_of_repositories_in_nested_repositories_are_noticed() {
    let folder = nesting();
    shell(&folder, "git init -q sub/deep; echo 1 > sub/deep/f");
    let changes = write(&folder, "echo 2 > sub/deep/f").unwrap();
    assert_eq!(changes.files, []);
    let named: Vec<_> = changes.not_kept.iter().map(|it| (it.path.as_path(), it.why)).collect();
    assert_eq!(named, [(Path::new("sub/deep"), Why::Files)]);
    assert_eq!(write(&folder, "true"), None);
}

#[test]
fn a_link_in_place_of_a_nested_repository_leads_nowhere() {
    let folder = nesting();
    shell(&folder, "mkdir ../elsewhere; echo theirs > ../elsewhere/s");
    let changes = write(&folder, "mv sub ../moved; ln -s ../elsewhere sub").unwrap();
    assert!(paths(&changes).contains(&"sub/s".to_owned()), "{changes:?}");
    let undo = folder.workspace.plan_undo(&folder.path, &[&changes], &|_| true).unwrap();
    let _ = folder.workspace.carry_out(&undo);
    assert_eq!(fs::read_to_string(folder.path.join("../elsewhere/s")).unwrap(), "theirs\n");
}

#[test]
fn an_attempt_that_was_cut_off_is_undone_in_nested_repositories_too() {
    let folder = nesting();
    let files = kept(&folder);
    let before = folder.workspace.take(&folder.path, "run-1").unwrap();
    shell(&folder, "echo half > sub/s; echo half > a");
    folder.workspace.keep_ended(&folder.path, "run-1", &before).unwrap();
    let recovery = folder.workspace.plan_recovery(&folder.path, "run-1", &[&before], &[]).unwrap();
    assert!(!recovery.is_question() && recovery.is_end_known);
    folder.workspace.carry_out(&recovery.undo).unwrap();
    assert_eq!(kept(&folder), files);
}

#[test]
fn the_content_of_a_removed_nested_repository_is_kept_until_the_run_is_forgotten() {
    let folder = nesting();
    let changes = write(&folder, "rm -rf sub").unwrap();
    folder.workspace.sweep(Duration::ZERO, false).unwrap();
    let undo = folder.workspace.plan_undo(&folder.path, &[&changes], &|_| true).unwrap();
    folder.workspace.carry_out(&undo).unwrap();
    assert_eq!(fs::read_to_string(folder.path.join("sub/s")).unwrap(), "1\n");
    folder.workspace.forget(&folder.path, "run-1", false).unwrap();
    let stores = fs::read_dir(folder.home().join("workspaces")).unwrap();
    for store in stores {
        let store = format!("--git-dir={}", store.unwrap().path().display());
        let left = folder.git(&[&store, "for-each-ref", "refs/interlock"]);
        assert_eq!(left, "", "{store}");
    }
}

/// Git would wait for the pipe in each repository, at each call.
#[test]
fn settings_of_nested_repositories_are_not_read() {
    let folder = Folder::repository();
    folder.write("a", "1\n");
    let before = folder.workspace.take(&folder.path, "r").unwrap();
    shell(
        &folder,
        "mkfifo pipe; for n in 1 2 3; do git init -q n$n; git -C n$n -c user.name=a -c user.email=a@b commit -q --allow-empty -m x;
        printf '[include]\npath=../../pipe\n' >> n$n/.git/config; echo f > n$n/f; done",
    );
    let began = std::time::Instant::now();
    let changes = folder.workspace.changes_since(&folder.path, "r", &before).unwrap().unwrap();
    let next = folder.workspace.take(&folder.path, "r").unwrap();
    assert!(folder.workspace.changes_since(&folder.path, "r", &next).unwrap().is_none());
    assert!(began.elapsed() < std::time::Duration::from_secs(10), "no call was ended because it waited");
    assert!(changes.files.iter().any(|change| change.path.ends_with("n2/f")), "{changes:?}");
    // A file in place of a repository is seen although its entry is marked as unchanged.
    shell(&folder, "rm -r n1; echo file > n1");
    let changes = folder.workspace.changes_since(&folder.path, "r", &next).unwrap().unwrap();
    assert!(changes.files.iter().any(|change| change.path == Path::new("n1")), "{changes:?}");
}

/// Returns the repositories that the index of the user names.
fn links(folder: &Folder) -> Vec<String> {
    let staged = folder.git(&["ls-files", "--stage"]);
    let links = staged.lines().filter(|line| line.starts_with("160000 "));
    links.filter_map(|line| line.split_once('\t')).map(|(_, path)| path.to_owned()).collect()
}

#[test]
fn a_repository_that_a_program_adds_to_the_index_is_taken_out_and_reported() {
    let plant =
        "git init -q planted; git -C planted commit -q --allow-empty -m i; git -C planted config core.fsmonitor evil";
    for (command, is_removed) in [
        (format!("{plant}; git add planted 2>/dev/null"), true),
        (format!("{plant}; git add planted 2>/dev/null; git commit -qm planted"), true),
        (
            format!(
                "{plant}; git add planted 2>/dev/null; git commit -qm planted; git commit -q --allow-empty -m more"
            ),
            true,
        ),
        // A branch of the person has the submodule, which is checked out.
        ("git checkout -q with".to_owned(), false),
        ("git checkout -q with; git commit -q --allow-empty -m more".to_owned(), false),
        ("git merge -q with".to_owned(), false),
        ("echo 2 > a; git add a".to_owned(), false),
    ] {
        let folder = nesting();
        shell(
            &folder,
            "git checkout -qb with; git checkout -q -b without HEAD~1; git commit -q --allow-empty -m w; test -e module/.git",
        );
        let before = folder.workspace.take(&folder.path, "run-1").unwrap();
        shell(&folder, &command);
        let changes = folder.workspace.changes_since(&folder.path, "run-1", &before).unwrap().unwrap();
        let said: Vec<_> = changes.breaches.iter().filter(|said| said.contains("added to the index")).collect();
        assert_eq!(said.len(), usize::from(is_removed), "{command}: {:?}", changes.breaches);
        assert!(!links(&folder).contains(&"planted".to_owned()), "{command}");
        assert_eq!(links(&folder).contains(&"module".to_owned()), command.contains("with"), "{command}");
    }
}
