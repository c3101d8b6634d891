//! Commits, and the files and references that they must not change.

use std::{fs, os::unix::fs::PermissionsExt, process::Command};

use interlock_workspace::{Commit, Committed, Error, Hook, HookRunner, NOTHING_TO_COMMIT};

use crate::folder::Folder;

fn commit(folder: &Folder, commit: Commit) -> Result<Committed, Error> {
    folder.workspace.commit(&folder.path, &Commit { message: "a change\n\nin words".into(), ..commit })
}

fn sample() -> Folder {
    let folder = Folder::repository();
    folder.git(&["config", "user.name", "Ada"]);
    folder.git(&["config", "user.email", "ada@localhost"]);
    folder.git(&["checkout", "-q", "-b", "main"]);
    folder.write("a", "1\n");
    folder.write(".gitignore", "*.log\n");
    folder.git(&["add", "."]);
    folder.git(&["commit", "-q", "-m", "first"]);
    folder.write("a", "2\n");
    folder.write("new", "n\n");
    folder.write("x.log", "ignored");
    folder
}

#[test]
fn commit_to_the_current_branch_includes_all_changes() {
    let folder = sample();
    let tree = folder.workspace.tree(&folder.path).unwrap();
    let done = commit(&folder, Commit { tree: Some(tree), ..Commit::default() }).unwrap();
    assert_eq!(done.branch.as_deref(), Some("main"));
    assert_eq!(folder.git(&["rev-parse", "main"]), done.commit);
    assert_eq!(folder.git(&["status", "--porcelain"]), "");
    assert_eq!(folder.git(&["log", "-1", "--format=%an %s|%b"]), "Ada a change|in words");
    assert_eq!(folder.git(&["show", "--name-only", "--format="]), "a\nnew");
    assert_eq!(done.files, [("a".to_owned(), Some((1, 1))), ("new".to_owned(), Some((1, 0)))]);
    assert!(
        matches!(commit(&folder, Commit::default()), Err(Error::Commit(why)) if why == "there is nothing to commit")
    );
}

#[test]
fn commit_to_another_branch_does_not_check_it_out() {
    let folder = sample();
    let (before, files) = (folder.user_files(), folder.files());
    let on = |branch: &str| commit(&folder, Commit { branch: Some(branch.into()), ..Commit::default() });
    let first = on("interlock/run-1").unwrap();
    assert_eq!(folder.git(&["rev-parse", "interlock/run-1^"]), folder.git(&["rev-parse", "main"]));
    let mut after = folder.user_files();
    let refs = String::from_utf8(after.remove("refs").unwrap()).unwrap();
    assert_eq!(refs.lines().count(), 2, "{refs}");
    assert!(after.iter().all(|(name, content)| before[name] == *content), "only the branch is new");
    assert_eq!(folder.files(), files);
    folder.write("new", "more\n");
    let second = on("interlock/run-1").unwrap();
    assert_eq!(folder.git(&["rev-parse", "interlock/run-1^"]), first.commit);
    assert_eq!(second.moved.before, Some(first.commit));
    for wrong in ["..", "-x", "a b", ""] {
        assert!(matches!(on(wrong), Err(Error::Commit(_))), "{wrong}");
    }
}

#[test]
fn a_tree_that_differs_from_the_tested_one_is_not_committed() {
    let folder = sample();
    let tree = folder.workspace.tree(&folder.path).unwrap();
    folder.write("a", "3\n");
    let before = folder.user_files();
    let error = commit(&folder, Commit { tree: Some(tree.clone()), ..Commit::default() }).unwrap_err();
    let now = folder.workspace.tree(&folder.path).unwrap();
    assert_eq!(error, Error::TreeChanged { expected: tree, found: now });
    assert_eq!(folder.user_files(), before);
}

/// Runs hooks as they are; the sandbox belongs to other crates.
struct Unconfined;

impl HookRunner for Unconfined {
    fn run(&self, hook: &Hook<'_>) -> Result<(), String> {
        let mut command = Command::new(&hook.words[0]);
        let done = command.args(&hook.words[1..]).envs(&hook.env).current_dir(hook.folder).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        if done.status.success() { Ok(()) } else { Err(said) }
    }
}

/// A repository with an executable hook.
fn with_hook(folder: &Folder, path: &str, script: &str) {
    let path = folder.path.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn commit_with_hooks(folder: &Folder) -> Result<Committed, Error> {
    let order = Commit { message: "a change".into(), ..Commit::default() };
    folder.workspace.commit_with_hooks(&folder.path, &order, &Unconfined)
}

#[test]
fn hook_sees_the_index_of_the_commit_and_may_write_objects() {
    let folder = sample();
    let script = "#!/bin/sh\ngit diff --cached --name-only > .git/staged\ngit write-tree > .git/tree\n\
                  echo new | git hash-object -w --stdin > .git/object\n";
    with_hook(&folder, ".git/hooks/pre-commit", script);
    with_hook(&folder, ".git/hooks/post-commit", "#!/bin/sh\ngit log -1 --format=%s > .git/after; exit 1\n");
    let index = folder.git(&["diff", "--cached", "--name-only"]);
    let made = commit_with_hooks(&folder).unwrap();
    let kept = |name: &str| fs::read_to_string(folder.path.join(".git").join(name)).unwrap();
    assert!(!kept("staged").is_empty() && index.is_empty(), "{index}");
    assert_eq!((kept("tree").trim(), kept("after").trim()), (made.tree.as_str(), "a change"));
    let object = kept("object");
    let found = Command::new("git").args(["cat-file", "-e", object.trim()]).current_dir(&folder.path).status().unwrap();
    assert!(!found.success(), "objects of hooks do not stay in the repository");
}

#[test]
fn hook_that_changes_files_or_the_index_or_branches_commits_nothing() {
    for (script, why) in [
        ("echo formatted > a; git add a", "the workspace is the tree"),
        ("git rm -q --cached a", "staged other content than was verified"),
        ("git branch sneaky", "moved a branch"),
    ] {
        let folder = sample();
        let head = folder.git(&["rev-parse", "HEAD"]);
        with_hook(&folder, ".git/hooks/pre-commit", &format!("#!/bin/sh\n{script}\n"));
        let error = commit_with_hooks(&folder).unwrap_err();
        assert!(error.to_string().contains(why), "{script}: {error}");
        assert_eq!(matches!(error, Error::TreeChanged { .. }), script.starts_with("echo"), "{error}");
        assert_eq!(folder.git(&["rev-parse", "HEAD"]), head);
    }
}

#[test]
fn hooks_path_counts_only_inside_the_repository() {
    let folder = sample();
    // Without a first line that names an interpreter, as git permits it.
    with_hook(&folder, ".git/own/pre-commit", "echo own >&2; exit 1\n");
    with_hook(&folder, "../outside-hooks/pre-commit", "#!/bin/sh\necho outside >&2; exit 1\n");
    for (path, why) in [(".git/own", Some("own")), ("../outside-hooks", None)] {
        folder.git(&["config", "core.hooksPath", path]);
        match (commit_with_hooks(&folder), why) {
            (Err(error), Some(why)) => assert!(error.to_string().contains(why), "{error}"),
            (Ok(_), None) => {}
            (other, _) => panic!("{path}: {other:?}"),
        }
    }
}

#[test]
fn message_that_a_hook_replaces_with_a_link_is_not_followed() {
    let folder = sample();
    fs::write(folder.path.join("../secret"), "a secret of the user").unwrap();
    let secret = folder.path.join("../secret").canonicalize().unwrap();
    with_hook(&folder, ".git/hooks/commit-msg", &format!("#!/bin/sh\nln -sf {} \"$1\"\n", secret.display()));
    assert!(commit_with_hooks(&folder).is_err());
    with_hook(&folder, ".git/hooks/commit-msg", "#!/bin/sh\n: > \"$1\"\n");
    assert!(commit_with_hooks(&folder).unwrap_err().to_string().contains("empty message"));
}

#[test]
fn hooks_run_only_on_request() {
    let folder = sample();
    let hook = |name: &str, script: &str| {
        with_hook(&folder, &format!(".git/hooks/{name}"), &format!("#!/bin/sh\n{script}\n"));
    };
    hook("pre-commit", "echo not like this >&2; exit 1");
    let with_hooks = || {
        let order = Commit { message: "a change\n\nin words".into(), ..Commit::default() };
        folder.workspace.commit_with_hooks(&folder.path, &order, &Unconfined)
    };
    let before = folder.user_files();
    let refused = with_hooks().unwrap_err().to_string();
    assert!(refused.contains("pre-commit refused: not like this"), "{refused}");
    assert_eq!(folder.user_files(), before);
    hook("pre-commit", "exit 0");
    hook("commit-msg", "echo signed >> \"$1\"");
    with_hooks().unwrap();
    assert_eq!(folder.git(&["log", "-1", "--format=%B"]), "a change\n\nin words\nsigned");
    hook("pre-commit", "exit 1");
    folder.write("a", "3\n");
    commit(&folder, Commit::default()).unwrap();
}

#[test]
fn line_endings_follow_attributes_and_filters_are_rejected() {
    let folder = sample();
    folder.write(".gitattributes", "*.txt text eol=crlf\n");
    folder.write("dos.txt", "one\r\ntwo\r\n");
    commit(&folder, Commit::default()).unwrap();
    assert_eq!(folder.git(&["cat-file", "-p", "HEAD:dos.txt"]), "one\ntwo");
    assert_eq!(folder.git(&["status", "--porcelain"]), "");
    folder.write(".gitattributes", "*.bin filter=lfs\n");
    folder.write("x.bin", "big");
    let refused = commit(&folder, Commit::default()).unwrap_err().to_string();
    assert!(refused.contains("x.bin is stored through the filter `lfs`"), "{refused}");
}

#[test]
fn commit_is_undone_unless_another_commit_follows_it() {
    let folder = sample();
    let first = folder.git(&["rev-parse", "main"]);
    let done = commit(&folder, Commit::default()).unwrap();
    let take_back = || folder.workspace.take_back_commit(&folder.path, &done.moved, false).unwrap();
    folder.write("a", "3\n");
    folder.git(&["commit", "-q", "-a", "-m", "by hand"]);
    assert!(!take_back());
    folder.git(&["reset", "-q", "--soft", "HEAD^"]);
    assert!(take_back());
    assert_eq!(folder.git(&["rev-parse", "main"]), first);
}

#[test]
fn only_the_given_difference_is_committed() {
    let folder = sample();
    let from = folder.workspace.kept_tree(&folder.path).unwrap();
    folder.write("fixed", "f\n");
    let to = folder.workspace.kept_tree(&folder.path).unwrap();
    let only = || Some((from.clone(), to.clone()));
    let done = commit(&folder, Commit { branch: Some("fix".into()), only: only(), ..Commit::default() }).unwrap();
    assert_eq!(folder.git(&["show", "--name-only", "--format=", "fix"]), "fixed");
    assert_eq!(done.files, [("fixed".to_owned(), Some((1, 0)))]);
    assert_eq!(folder.git(&["status", "--porcelain"]), " M a\n?? fixed\n?? new");

    // The same on the current branch. The undo of this commit leaves no trace in the index.
    let done = commit(&folder, Commit { only: only(), ..Commit::default() }).unwrap();
    assert_eq!(folder.git(&["show", "--name-only", "--format="]), "fixed");
    assert_eq!(folder.git(&["diff", "--cached", "--name-only"]), "");
    assert!(folder.workspace.take_back_commit(&folder.path, &done.moved, false).unwrap());
    assert_eq!(folder.git(&["diff", "--cached", "--name-only"]), "");

    // A difference that depends on uncommitted changes cannot be committed alone.
    let from = folder.workspace.kept_tree(&folder.path).unwrap();
    folder.write("a", "2\n3\n");
    let to = folder.workspace.kept_tree(&folder.path).unwrap();
    let refused = commit(&folder, Commit { only: Some((from, to)), ..Commit::default() }).unwrap_err().to_string();
    assert!(refused.contains("it does not apply to the branch"), "{refused}");
}

#[test]
fn first_commit_and_commit_without_a_branch_work() {
    let folder = Folder::repository();
    assert!(matches!(commit(&folder, Commit::default()), Err(Error::Commit(_))));
    folder.write("a", "1\n");
    let done = commit(&folder, Commit::default()).unwrap();
    assert_eq!(done.moved.before, None);
    folder.git(&["checkout", "-q", "--detach"]);
    folder.write("a", "2\n");
    let done = commit(&folder, Commit::default()).unwrap();
    assert_eq!((done.branch, folder.git(&["rev-parse", "HEAD"])), (None, done.commit));
    let plain = Folder::plain();
    assert!(commit(&plain, Commit::default()).unwrap_err().to_string().contains("not in a git repository"));
}

#[test]
fn only_the_given_paths_are_committed() {
    let folder = sample();
    fs::remove_file(folder.path.join(".gitignore")).unwrap();
    let paths = vec!["new".to_owned(), ".gitignore".to_owned()];
    commit(&folder, Commit { paths: paths.clone(), ..Commit::default() }).unwrap();
    assert_eq!(folder.git(&["show", "--name-status", "--format="]), "D\t.gitignore\nA\tnew");
    assert_eq!(folder.git(&["status", "--porcelain"]), " M a\n?? x.log");
    let again = commit(&folder, Commit { paths, ..Commit::default() });
    assert!(matches!(again, Err(Error::Commit(why)) if why == NOTHING_TO_COMMIT));
}

#[test]
fn a_repeated_commit_of_the_same_difference_is_found() {
    let folder = sample();
    let from = folder.workspace.kept_tree(&folder.path).unwrap();
    folder.write("fixed", "f\n");
    let to = folder.workspace.kept_tree(&folder.path).unwrap();
    let order = || Commit { only: Some((from.clone(), to.clone())), ..Commit::default() };
    let first = commit(&folder, order()).unwrap();
    assert_eq!(commit(&folder, order()).unwrap(), first);
    assert_eq!(folder.git(&["rev-list", "--count", "main"]), "2");
}

#[test]
fn a_branch_is_moved_back_over_own_commits_only() {
    let folder = sample();
    let (reference, head) = folder.workspace.checked_out(&folder.path).unwrap().unwrap();
    assert_eq!(reference, "refs/heads/main");
    let plan = |ours: &[String]| folder.workspace.plan_move_back(&folder.path, &reference, &head, ours);
    assert_eq!(plan(&[]).unwrap(), None);
    let made = commit(&folder, Commit::default()).unwrap();
    let ours = [made.commit.clone()];
    let refused = plan(&[]).unwrap_err().to_string();
    assert!(refused.contains("which this run did not make"), "{refused}");
    let moved = plan(&ours).unwrap().unwrap();
    folder.git(&["checkout", "-q", "-b", "other"]);
    let refused = plan(&ours).unwrap_err().to_string();
    assert!(refused.contains("refs/heads/other is checked out, not refs/heads/main"), "{refused}");
    folder.git(&["checkout", "-q", "main"]);
    assert!(folder.workspace.take_back_commit(&folder.path, &moved, false).unwrap());
    assert_eq!(folder.git(&["rev-parse", "main"]), head);
    assert_eq!(folder.workspace.commit_files(&folder.path, &made.commit).unwrap(), ["a", "new"]);
}

#[test]
fn view_files_belong_to_no_tree_and_no_commit() {
    let folder = sample();
    let before = folder.workspace.tree(&folder.path).unwrap();
    folder.write(".agent/memory/active_context.md", "a view\n");
    folder.write("sub/.agent/memory/.interlock-writing-X", "being written\n");
    assert_eq!(folder.workspace.tree(&folder.path).unwrap(), before);
    commit(&folder, Commit::default()).unwrap();
    assert_eq!(folder.git(&["show", "--name-only", "--format="]), "a\nnew");
}

#[test]
fn an_unused_checkpoint_name_gets_a_number() {
    let folder = sample();
    let make = || folder.workspace.unused_checkpoint(&folder.path, "run-1", "chk-202611171000").unwrap().name;
    assert_eq!([make(), make(), make()], ["chk-202611171000", "chk-202611171000-2", "chk-202611171000-3"]);
}

#[test]
fn a_secret_is_committed_in_no_form() {
    let (name, key) = ("with space é.txt", "the-key-of-the-agent");
    let secrets = std::sync::Arc::new(interlock_redact::Redactor::new([key]));
    let forms = [
        (format!("one\ntwo\nkey: {key}\n").into_bytes(), "3 (known secret)"),
        (format!("@@ -1 +1 @@\n+++ b/x\n{key}").into_bytes(), "3 (known secret)"),
        ([b"\0\x01binary ", key.as_bytes(), b"\0"].concat(), "1 (known secret)"),
        (b"dGhlLWtleS1vZi10aGUtYWdlbnQ=\n".to_vec(), "1 (known secret)"),
        (format!("\r\n\r\n{key}\r\n").into_bytes(), "3 (known secret)"),
    ];
    for (content, place) in forms {
        let folder = Folder::repository();
        folder.git(&["commit", "-q", "--allow-empty", "-m", "begin"]);
        // Settings of the repository change neither the check nor its words.
        folder.git(&["config", "diff.noprefix", "true"]);
        folder.git(&["config", "diff.context", "3"]);
        folder.write(".gitattributes", "*.txt -diff\n");
        fs::write(folder.path.join(name), content).unwrap();
        let workspace = folder.workspace.clone().refusing(std::sync::Arc::clone(&secrets));
        let order = |message: &str| Commit { message: message.into(), ..Commit::default() };
        let refused = workspace.commit(&folder.path, &order("a change")).unwrap_err().to_string();
        assert!(refused.contains(&format!("{name}:{place}")) && !refused.contains(key), "{refused}");
        assert_eq!(folder.git(&["log", "--format=%s"]).trim(), "begin");
        fs::remove_file(folder.path.join(name)).unwrap();
        let refused = workspace.commit(&folder.path, &order(&format!("use {key}"))).unwrap_err().to_string();
        assert!(refused.contains("line 1 of the message (known secret)"), "{refused}");
        workspace.commit(&folder.path, &order("a change")).unwrap();
    }
}

#[test]
fn message_into_which_a_hook_writes_a_secret_is_not_committed() {
    let folder = sample();
    with_hook(&folder, ".git/hooks/commit-msg", "#!/bin/sh\necho 'Key: the-key-of-the-agent' >> \"$1\"\n");
    let secrets = interlock_redact::Redactor::new(["the-key-of-the-agent"]);
    let workspace = folder.workspace.clone().refusing(std::sync::Arc::new(secrets));
    let order = Commit { message: "a change".into(), ..Commit::default() };
    let refused = workspace.commit_with_hooks(&folder.path, &order, &Unconfined).unwrap_err().to_string();
    assert!(refused.contains("of the message (known secret)"), "{refused}");
    assert_eq!(folder.git(&["log", "--format=%s"]).trim(), "first");
}
