//! The extent of a yes: one action, a conversation, a workspace. And the permission to commit.

use interlock_testkit_activity::model_server::{CoderTurn, Move};
use interlock_testkit_cli::session::Transcript;
use serde_json::{Value as Json, json};

use super::scene::{AFTER, Scene, patch, repair, told};

const GOAL: &str = "count the arguments";

/// A turn that runs a command and changes a file.
fn turn() -> CoderTurn {
    let run = Move::call("run_terminal_cmd", json!({ "command": "wc -c count.sh" }));
    CoderTurn::change(GOAL, &["count.sh"], &[], vec![run, Move::call("apply_patch", patch()), Move::done("done")])
}

/// Plays a turn and answers every question with a yes of this scope. Returns its end and the number of questions.
fn play(scene: &Scene, name: &str, scope: &str) -> (Transcript, usize) {
    scene.git(&["checkout", "-q", "--", "count.sh"]);
    let mut ended = scene.run(&format!("run coder --set 'goal={GOAL}' --name {name}"));
    let mut questions = 0;
    while ended.code == Some(4) && questions < 10 {
        questions += 1;
        let yes = json!({ "answer": "yes", "scope": scope });
        ended = scene.run(&format!("send {name} CONFIRM --data '{yes}'"));
    }
    assert_eq!((ended.code, scene.read("count.sh").as_str()), (Some(0), AFTER), "{ended}");
    (ended, questions)
}

fn listed(scene: &Scene) -> Vec<Json> {
    serde_json::from_str(&scene.run("grant --list --json").stdout).unwrap()
}

#[test]
fn a_yes_for_the_workspace_covers_later_runs_until_it_is_revoked() {
    let scene = Scene::new(vec![turn()]);
    assert_eq!(play(&scene, "c1", "workspace").1, 2);
    let (ended, questions) = play(&scene, "c2", "single_action");
    assert_eq!(questions, 0, "{ended}");
    // Each use is recorded.
    let trace = scene.run("trace c2");
    assert!(trace.stdout.contains("granted for this workspace (g"), "{trace}");
    let permissions: Vec<String> =
        listed(&scene).iter().map(|grant| grant["permission"].as_str().unwrap().to_owned()).collect();
    assert_eq!(permissions, ["fs.write:plan ...", "proc.exec:make test", "proc.exec:wc -c count.sh"]);
    // No file of the repository holds a grant.
    assert_eq!(scene.git(&["status", "--short"]), "M count.sh");
    let revoked = scene.run("grant --revoke g3");
    assert!(revoked.code == Some(0) && revoked.stdout.contains("revoked proc.exec:wc -c count.sh"), "{revoked}");
    assert_eq!(play(&scene, "c3", "single_action").1, 1);
    let again = scene.run("grant --revoke g3");
    assert!(again.code == Some(2) && told(&again).contains("there is no grant `g3`"), "{again}");
}

#[test]
fn a_yes_for_the_workspace_does_not_cover_another_one() {
    let (scene, other) = (Scene::new(vec![turn()]), Scene::new(vec![turn()]));
    play(&scene, "c1", "workspace");
    // The other repository has the same store.
    let home = scene.session.folder().join("../home").canonicalize().unwrap();
    let session = other.session.clone().with("INTERLOCK_HOME", home.display().to_string());
    let asked = session.run(&format!("run coder --set 'goal={GOAL}' --name d1")).unwrap();
    assert!(asked.code == Some(4) && told(&asked).contains("PLAN_ASKED"), "{asked}");
}

#[test]
fn a_yes_for_the_session_ends_with_the_run() {
    let scene = Scene::new(vec![turn()]);
    assert_eq!(play(&scene, "c1", "session").1, 2);
    assert_eq!(play(&scene, "c2", "session").1, 2);
    assert_eq!(listed(&scene), Vec::<Json>::new());
}

/// Plays a conversation up to the request to commit.
fn commit(scene: &Scene) -> Transcript {
    scene.start(GOAL, "--set once=false");
    scene.send("CONFIRM", &json!({ "answer": "yes" }));
    scene.send("COMMIT", &json!({ "message": "Count the arguments" }))
}

fn branches(scene: &Scene) -> String {
    scene.git(&["branch", "--list", "interlock/*", "--format=%(refname:short)"])
}

#[test]
fn a_commit_that_is_refused_is_not_made() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let asked = commit(&scene);
    assert!(asked.code == Some(4) && told(&asked).contains("COMMIT_ASKED"), "{asked}");
    let shown = scene.run("show c1");
    assert!(shown.stdout.contains("git.write:git commit"), "{shown}");
    let ended = scene.send("CONFIRM", &json!({ "answer": "no" }));
    assert!(told(&ended).contains("not committed: refused") && branches(&scene).is_empty(), "{ended}");
}

#[test]
fn a_commit_is_made_if_it_was_granted_before() {
    let scene = Scene::new(vec![repair(GOAL)]);
    scene.start(GOAL, "--set once=false");
    scene.send("CONFIRM", &json!({ "answer": "yes" }));
    assert_eq!(scene.run("grant c1 'git.write:git commit' --only").code, Some(0));
    let committed = scene.send("COMMIT", &json!({}));
    assert!(told(&committed).contains("commit_success"), "{committed}");
    // The grant counts once, and its use is a record.
    assert!(scene.run("trace c1").stdout.contains("git.write:git commit by the grant of record"));
}

#[test]
fn a_commit_that_the_policy_forbids_cannot_be_confirmed() {
    let scene = Scene::new(vec![repair(GOAL)]);
    scene.write(".interlock/policy.toml", "version = 1\n[otherwise]\ngit_write = \"deny\"\n");
    let ended = commit(&scene);
    assert!(told(&ended).contains("not committed: E_POLICY_DENIED") && branches(&scene).is_empty(), "{ended}");
}
