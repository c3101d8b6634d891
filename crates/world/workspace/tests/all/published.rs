//! Commits and tags that a program has made in the user's repository: none with a secret is built on or applied.

use std::{process::Command, sync::Arc};

use interlock_redact::Redactor;
use interlock_workspace::{Commit, Workspace, apply_in_place};

use crate::folder::Folder;

/// The secret, which the redactor knows by its value.
const KEY: &str = "the-key-of-the-agent";

/// What a program does that leaves the secret in a commit and not in the files, and the place that a refusal names.
const HIDING: [(&str, &str); 3] = [
    ("echo KEY > k; git add k; git commit -qm add; git rm -q k; git commit -qm remove", "k:1 (known secret)"),
    ("git commit -q --allow-empty -m work -m 'use KEY'", "of the messages (known secret)"),
    (
        "git checkout -q -b side; echo KEY > k; git add k; git commit -qm side; git checkout -q BRANCH; \
         git merge -q --no-ff -s ours side -m merged; git branch -q -D side",
        "k:1 (known secret)",
    ),
];

/// A repository whose history has the secret already, the workspace that knows it, and the first snapshot of the run `r`.
fn scene() -> (Folder, Workspace, String) {
    let folder = Folder::repository();
    folder.git(&["checkout", "-q", "-b", "main"]);
    folder.write("old", KEY);
    folder.write("a", "1\n");
    folder.git(&["add", "."]);
    folder.git(&["commit", "-q", "-m", "a commit of the user with the secret"]);
    let workspace = folder.workspace.clone().refusing(Arc::new(Redactor::new([KEY])));
    let before = workspace.take(&folder.path, "r").unwrap();
    (folder, workspace, before)
}

/// Runs a program in the repository.
fn act(folder: &Folder, script: &str) {
    let script = script.replace("KEY", KEY);
    let named =
        ["AUTHOR", "COMMITTER"].map(|who| format!("export GIT_{who}_NAME=agent GIT_{who}_EMAIL=agent@localhost\n"));
    let done =
        Command::new("sh").args(["-ec", &format!("{}{script}", named.concat())]).current_dir(&folder.path).output();
    let done = done.unwrap();
    assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn branch_of_a_run_with_a_secret_in_a_commit_of_a_program_is_not_committed_to() {
    for (hides, place) in HIDING {
        let (folder, workspace, _) = scene();
        let hides = hides.replace("BRANCH", "interlock/r");
        act(&folder, &format!("git checkout -q -b interlock/r; {hides}; git checkout -q main"));
        folder.write("a", "2\n");
        let order = || Commit {
            message: "a change".into(),
            branch: Some("interlock/r".into()),
            run: Some("r".into()),
            ..Commit::default()
        };
        let refused = workspace.commit(&folder.path, &order()).unwrap_err().to_string();
        assert!(refused.contains(place) && refused.contains("nothing was committed"), "{refused}");
        assert!(!refused.contains(KEY), "{refused}");
        // Without these commits the change is committed, although the user's own history has the secret.
        folder.git(&["branch", "-q", "-f", "interlock/r", "main"]);
        workspace.commit(&folder.path, &order()).unwrap();
    }
}

#[test]
fn result_with_a_secret_in_its_history_is_not_applied_in_place() {
    for (hides, place) in HIDING {
        let (folder, _, _) = scene();
        act(
            &folder,
            &format!(
                "git checkout -q -b interlock/r; {}; git checkout -q main",
                hides.replace("BRANCH", "interlock/r")
            ),
        );
        let (head, commit) = (folder.git(&["rev-parse", "main"]), folder.git(&["rev-parse", "interlock/r"]));
        let refused = apply_in_place(&folder.path, &commit, &Redactor::new([KEY])).unwrap_err().to_string();
        assert!(refused.contains(place) && refused.contains("nothing was applied"), "{refused}");
        assert_eq!(folder.git(&["rev-parse", "main"]), head);
    }
}

#[test]
fn commits_and_tags_of_a_program_are_searched_whatever_they_lead_to() {
    let tags = [
        ("git tag -a v1 -m 'for KEY'", "of a tag (known secret)"),
        ("git tag v1 $(echo KEY | git hash-object -w --stdin)", "of a file (known secret)"),
        (
            "git tag v1 $(printf '100644 blob %s\\tk\\n' $(echo KEY | git hash-object -w --stdin) | git mktree)",
            "k:1 (known secret)",
        ),
    ];
    for (hides, place) in tags.into_iter().chain(HIDING) {
        let (folder, workspace, before) = scene();
        act(&folder, &hides.replace("BRANCH", "main"));
        let refused = workspace.refuse_secrets_since(&folder.path, &before).unwrap_err().to_string();
        assert!(refused.contains(place) && !refused.contains(KEY), "{hides}: {refused}");
    }
    let (folder, workspace, before) = scene();
    act(&folder, "echo 2 > a; git commit -qam two; git tag -a v1 -m one; git branch other; git tag old HEAD^");
    workspace.refuse_secrets_since(&folder.path, &before).unwrap();
}
