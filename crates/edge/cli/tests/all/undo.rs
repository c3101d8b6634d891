//! Undo of the writes of real runs.

use std::{collections::BTreeMap, fs, path::Path, process::Command, time::Duration};

use interlock_testkit_cli::session::{Session, Transcript};
use serde_json::Value as Json;
use tempfile::TempDir;

/// A machine that writes twice, waits, and writes once more in a separate turn, which it can undo itself.
const WRITER: &str = "\
machine: writer
version: 1
summary: Writes, and takes back.
events:
  more: { from: user }
  back: { from: user }
  finish: { from: user }
initial: first
on:
  error: { target: failed, reason: \"${event.code}: ${event.message}\" }
states:
  first:
    invoke: { activity: command.run, with: { command: 'echo 1 > a; echo 1 > b' }, signals: [passed, failed] }
    on: { passed: { target: second }, failed: { target: failed } }
  second:
    invoke: { activity: command.run, with: { command: 'echo 2 > a; rm b; mkdir -p d; echo x > d/new; chmod +x run' }, signals: [passed, failed] }
    on: { passed: { target: resting }, failed: { target: failed } }
  resting:
    tags: [idle]
    on: { more: { target: third, limit: 5 }, back: { target: taking, limit: 5 }, finish: { target: done } }
  third:
    invoke: { activity: command.run, with: { command: 'echo 3 > a; echo 3 > c' }, signals: [passed, failed] }
    on: { passed: { target: taking }, failed: { target: failed } }
  taking:
    invoke: { activity: workspace.undo, with: { scope: turn }, signals: { undone: {}, undo_conflict: {} } }
    on:
      undone: { target: resting, reason: \"taken back: ${event.paths}\" }
      undo_conflict: { target: resting, reason: \"E_CONFLICT: ${event.paths}\" }
  done: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
";

struct Scene {
    session: Session,
    home: TempDir,
}

type Files = BTreeMap<String, String>;

impl Scene {
    /// Makes a repository with the machine and a separate store.
    fn new() -> Self {
        let home = TempDir::new().unwrap();
        let here = home.path().canonicalize().unwrap().join("repo");
        fs::create_dir(&here).unwrap();
        let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &here)
            .with("INTERLOCK_HOME", home.path().join("store").display().to_string())
            .with("INTERLOCK_USER", "ada");
        assert!(Command::new("git").args(["init", "-q"]).current_dir(&here).status().unwrap().success());
        session.write(".interlock/machines/writer/machine.yaml", WRITER).unwrap();
        session.write("a", "0\n").unwrap();
        session.write("run", "r\n").unwrap();
        Scene { session, home }
    }

    fn rested() -> (Self, Files) {
        let scene = Scene::new();
        let before = scene.files();
        let run = scene.run("run writer --name w1");
        assert_eq!(run.code, Some(4), "{run}");
        (scene, before)
    }

    /// Makes the same scene with the run finished.
    fn finished() -> (Self, Files) {
        let (scene, before) = Scene::rested();
        assert_eq!(scene.run("send w1 finish").code, Some(0));
        (scene, before)
    }

    fn run(&self, arguments: &str) -> Transcript {
        self.session.run(arguments).unwrap()
    }

    #[track_caller]
    fn good(&self, arguments: &str) -> Transcript {
        let transcript = self.run(arguments);
        assert_eq!(transcript.code, Some(0), "{transcript}");
        transcript
    }

    fn json(&self, arguments: &str) -> Json {
        serde_json::from_str(&self.run(&format!("{arguments} --json")).stdout).unwrap()
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.session.folder().join(name)).ok()
    }

    /// Returns the files that the machine writes, with their content.
    fn files(&self) -> Files {
        let mut files = Files::new();
        for name in ["a", "b", "c", "d/new", "run"] {
            let path = self.session.folder().join(name);
            if let Ok(text) = fs::read_to_string(&path) {
                files.insert(name.to_owned(), format!("{text}{}", if is_executable(&path) { "x" } else { "" }));
            }
        }
        files
    }

    /// Returns the records with writes.
    fn writes(&self) -> Vec<u64> {
        let all = self.json("evidence w1");
        let of = |file: &Json| (file["name"] == "changes").then(|| file["seq"].as_u64().unwrap());
        all.as_array().unwrap().iter().filter_map(of).collect()
    }
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o100 != 0
}

#[test]
fn control_characters_in_the_name_of_a_file_are_escaped() {
    let scene = Scene::new();
    let odd = WRITER.replace("echo 1 > a; echo 1 > b", "sh make.sh");
    scene.session.write("make.sh", "touch \"$(printf 'x\\nrestored  y\\033[31m')\"\n").unwrap();
    scene.session.write(".interlock/machines/writer/machine.yaml", &odd).unwrap();
    let run = scene.run("run writer --name w1");
    assert_eq!(run.code, Some(4), "{run}");
    let planned = scene.good("undo w1 --dry-run");
    assert!(planned.stdout.contains("would be removed  x\\u{a}restored  y\\u{1b}[31m\n"), "{planned}");
    let undo = scene.good("undo w1");
    assert!(undo.stdout.contains("removed  x\\u{a}restored  y\\u{1b}[31m\n"), "{undo}");
}

#[test]
fn a_finished_run_is_taken_back_whole_and_that_can_be_taken_back() {
    let (scene, before) = Scene::finished();
    let after = scene.files();
    let undo = scene.good("undo w1");
    assert_eq!(scene.files(), before, "{undo}");
    assert_eq!(undo.stdout, "restored  a\nremoved  d/new\nrestored  run\n");
    let again = scene.good("undo w1");
    assert!(again.stdout.is_empty() && again.stderr.contains("Nothing to undo"), "{again}");
    let undone = *scene.writes().last().unwrap();
    assert!(undo.stderr.contains(&format!("interlock undo w1 --write {undone}")), "{undo}");
    scene.good(&format!("undo w1 --write {undone}"));
    assert_eq!(scene.files(), after);
    scene.good("verify w1");
    for (command, expected) in
        [("trace w1", "undone: 3 paths"), ("show w1", "undone: 3 paths"), ("report w1", "undone: 3 paths")]
    {
        let transcript = scene.good(command);
        assert!(transcript.stdout.contains(expected), "{transcript}");
    }
    assert_eq!(scene.json("show w1")["phase"], "succeeded");
}

#[test]
fn one_write_one_state_one_activity_or_what_came_after_a_record_is_chosen() {
    let (scene, before) = Scene::finished();
    let (after, writes) = (scene.files(), scene.writes());
    let first = Files::from([("a".into(), "1\n".into()), ("b".into(), "1\n".into()), ("run".into(), "r\n".into())]);
    for choice in [
        format!("--to {}", writes[0]),
        format!("--write {}", writes[1]),
        "--state second".into(),
        "--activity a2".into(),
    ] {
        let dry = scene.json(&format!("undo w1 {choice} --dry-run"));
        assert_eq!(
            (dry["done"].as_bool(), dry["files"].as_array().map(Vec::len)),
            (Some(false), Some(4)),
            "{choice}: {dry}"
        );
        assert_eq!(scene.files(), after, "nothing is done when only asked");
        let undo = scene.json(&format!("undo w1 {choice}"));
        assert_eq!(scene.files(), first, "{choice}: {undo}");
        scene.good(&format!("undo w1 --write {}", undo["seq"]));
        assert_eq!(scene.files(), after, "{choice}");
    }
    let path = scene.json("undo w1 --path ./d");
    assert_eq!(path["files"].as_array().unwrap().len(), 1, "{path}");
    assert_eq!((scene.read("d/new"), scene.read("a")), (None, Some("2\n".into())));
    scene.good("undo w1");
    assert_eq!(scene.files(), before);
    let wrong = scene.run("undo w1 --write 1");
    assert_eq!((wrong.code, wrong.stderr.contains("record 1 wrote nothing")), (Some(1), true), "{wrong}");
    assert_eq!(scene.run("undo w1 --state nowhere").code, Some(1));
    assert_eq!(scene.run("undo w1 --to 1 --write 2").code, Some(2));
    assert_eq!(scene.run("undo w1 --activity x").code, Some(2));
}

#[test]
fn what_a_person_has_changed_since_is_refused_shown_and_left_alone() {
    let (scene, _) = Scene::finished();
    scene.session.write("a", "mine\n").unwrap();
    let before = scene.files();
    let refused = scene.run("undo w1");
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused}");
    assert_eq!(scene.files(), before);
    for expected in ["E_CONFLICT", "<<<<<<< before", "||||||| ours", "======= now", "mine", "--skip-conflicts"] {
        assert!(refused.stderr.contains(expected), "{expected}: {refused}");
    }
    let json = scene.json("undo w1");
    assert_eq!((json["code"].as_str(), json["conflicts"][0]["path"].as_str()), (Some("E_CONFLICT"), Some("a")));
    let dry = scene.session.run("undo w1 --dry-run").unwrap();
    assert!(dry.stderr.contains("without it nothing would be undone"), "{dry}");
    scene.good("undo w1 --skip-conflicts");
    assert_eq!(scene.read("a").as_deref(), Some("mine\n"));
    assert_eq!((scene.read("b"), scene.read("d/new")), (None, None));
    assert!(scene.good("trace w1").stdout.contains("1 skipped"));
}

/// A machine that runs an existing script.
const MERGER: &str = "\
machine: merger
version: 1
summary: Merges by a command.
initial: merging
on:
  error: { target: failed, reason: \"${event.code}: ${event.message}\" }
states:
  merging:
    invoke: { activity: command.run, with: { command: 'sh ./merge.sh' }, signals: [passed, failed] }
    on: { passed: { target: done }, failed: { target: failed } }
  done: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
";

fn git(scene: &Scene, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments).current_dir(scene.session.folder());
    let done = git.output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

#[test]
fn commits_and_branches_of_a_command_are_taken_back() {
    let scene = Scene::new();
    scene.session.write(".interlock/machines/merger/machine.yaml", MERGER).unwrap();
    let merge = "set -e; git -c user.name=a -c user.email=a@b merge -q --no-ff -m merged side; git branch made\n";
    scene.session.write("merge.sh", merge).unwrap();
    git(&scene, &["checkout", "-qb", "trunk"]);
    git(&scene, &["add", "-A"]);
    git(&scene, &["commit", "-qm", "first"]);
    git(&scene, &["checkout", "-qb", "side"]);
    scene.session.write("a", "side\n").unwrap();
    git(&scene, &["commit", "-qam", "second"]);
    git(&scene, &["checkout", "-q", "trunk"]);
    let before = git(&scene, &["rev-parse", "trunk"]);
    scene.good("run merger --name m1");
    let after = git(&scene, &["rev-parse", "trunk"]);
    assert!(before != after && scene.read("a").as_deref() == Some("side\n"));

    assert_eq!(scene.json("undo m1 --dry-run")["commits"][1]["after"], after);
    let undo = scene.good("undo m1");
    assert_eq!(scene.read("a").as_deref(), Some("0\n"));
    assert_eq!(git(&scene, &["rev-parse", "trunk"]), before);
    assert_eq!(git(&scene, &["status", "--short", "--untracked-files=no"]), "");
    assert!(undo.stdout.contains(&format!("moved  refs/heads/trunk to {before}\n")), "{undo}");
    assert!(undo.stdout.contains("removed  refs/heads/made, which was not there before\n"), "{undo}");
    assert!(scene.good("undo m1").stderr.contains("Nothing to undo"));

    let undone =
        scene.json("evidence m1").as_array().unwrap().iter().filter_map(|it| it["seq"].as_u64()).max().unwrap();
    scene.good(&format!("undo m1 --write {undone}"));
    assert_eq!(git(&scene, &["rev-parse", "trunk", "made"]), format!("{after}\n{after}"));

    git(&scene, &["commit", "-q", "--allow-empty", "-m", "mine"]);
    let refused = scene.run("undo m1");
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("E_CONFLICT trunk: it no longer points to the run's commit"), "{refused}");
}

#[test]
fn deleted_branches_and_dropped_stashes_are_put_back_and_shown() {
    let scene = Scene::new();
    scene.session.write(".interlock/machines/merger/machine.yaml", MERGER).unwrap();
    let delete = "set -e; git branch -qD side; git stash drop -q; git tag -d v1; git checkout -qb new\n";
    scene.session.write("merge.sh", delete).unwrap();
    git(&scene, &["checkout", "-qb", "trunk"]);
    git(&scene, &["add", "-A"]);
    git(&scene, &["commit", "-qm", "first"]);
    git(&scene, &["branch", "side"]);
    git(&scene, &["tag", "v1"]);
    scene.session.write("a", "stashed\n").unwrap();
    git(&scene, &["stash"]);
    let standing = || {
        let references = git(&scene, &["for-each-ref"]);
        (references, git(&scene, &["stash", "list"]), git(&scene, &["symbolic-ref", "HEAD"]))
    };
    let before = standing();
    scene.good("run merger --name m1");
    let shown = scene.good("evidence m1 --json").stdout + &scene.good("show m1").stdout;
    assert!(shown.contains("breaches"), "{shown}");
    let undo = scene.good("undo m1");
    assert_eq!(standing(), before, "{undo}");
    assert!(undo.stdout.contains("moved  HEAD to ref: refs/heads/trunk\n"), "{undo}");
    assert!(undo.stdout.contains("removed  refs/heads/new, which was not there before\n"), "{undo}");
}

#[test]
fn a_run_takes_a_turn_of_its_own_back() {
    let (scene, _) = Scene::rested();
    let rested = scene.files();
    let turn = scene.run("send w1 more");
    assert_eq!(turn.code, Some(4), "{turn}");
    assert_eq!(scene.files(), rested, "only the turn is undone");
    let trace = scene.good("trace w1");
    assert!(trace.stdout.contains("taken back: ["), "{trace}");
    let nothing = scene.run("send w1 back");
    assert_eq!(nothing.code, Some(4), "{nothing}");
    assert_eq!(scene.files(), rested);
}

#[test]
fn an_undo_that_is_killed_at_any_moment_can_be_done_again() {
    let (scene, before) = Scene::finished();
    let (after, last) = (scene.files(), *scene.writes().last().unwrap());
    for delay_ms in [0, 10, 20, 30, 45, 60, 80, 110, 150] {
        let mut undo = scene.session.command("undo w1 --to 0").spawn().unwrap();
        std::thread::sleep(Duration::from_millis(delay_ms));
        let _ = undo.kill();
        undo.wait().unwrap();
        scene.good("undo w1 --to 0");
        assert_eq!(scene.files(), before, "killed after {delay_ms} ms");
        // Everything after the last write of the run itself is undone, independent of the progress of the killed
        // process.
        scene.good(&format!("undo w1 --to {last}"));
        assert_eq!(scene.files(), after, "killed after {delay_ms} ms");
    }
    scene.good("verify w1");
}

#[test]
fn snapshots_of_runs_that_ended_long_ago_are_forgotten_by_gc() {
    let (scene, _) = Scene::finished();
    let refs = || scene.good("snapshots w1").stdout.lines().count();
    let kept = refs();
    assert!(kept >= 4, "before and after each of two writes");
    scene.good("gc");
    assert_eq!(refs(), kept, "it ended just now");
    let dry = scene.good("gc --snapshots-older-than 0 --dry-run");
    assert!(dry.stdout.contains(&format!("{kept} snapshots would be removed")), "{dry}");
    scene.good("gc --snapshots-older-than 0");
    assert_eq!(refs(), 0);
    let undo = scene.run("undo w1");
    assert_eq!((undo.code, undo.stderr.contains("there is no snapshot")), (Some(1), true), "{undo}");
    assert!(scene.home.path().join("store").exists());
}
