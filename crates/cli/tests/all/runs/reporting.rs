//! Reports on runs of user-defined machines: the first sentence, the failures, the changes, the commands to repeat
//! the run.

use std::{fs, path::Path, process::Command};

use interlock_testkit_cli::session::Session;
use serde_json::Value as Json;
use tempfile::TempDir;

use super::scene::{TEA, brewed, json, project, run};

/// A machine that tests a value and corrects it until the test passes.
const MEND: &str = "\
machine: mend
version: 3
summary: Mends a value until its test passes.
input: { type: object, required: [goal], properties: { goal: { type: string } } }
events: { abort: { from: user } }
initial: testing
on:
  abort: { target: aborted }
  error: { target: failed, reason: \"${event.message}\" }
states:
  testing:
    invoke: { activity: command.run, with: { command: sh test.sh }, signals: [passed, failed], effect: read }
    on:
      passed: { target: fixed, reason: \"passed on tree ${event.tree}\" }
      failed: [{ target: mending, limit: 1, reason: \"${event.summary}\" }, { target: failed, reason: once was not enough }]
  mending:
    invoke: { activity: command.run, with: { command: sh mend.sh }, signals: [passed, failed] }
    on: { passed: testing, failed: { target: failed } }
  fixed: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
  aborted: { type: final, outcome: aborted }
";

const TEST: &str = "grep -q 4 value.txt && { echo four; exit 0; }\necho 'src/value.c:7: error: expected 4'\nexit 1\n";

/// A repository with a wrong value, and a machine in another directory.
struct Scene {
    _folder: TempDir,
    session: Session,
}

impl Scene {
    fn new(mend: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let repo = here.join("a repo");
        fs::create_dir(&repo).unwrap();
        let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &repo)
            .with("INTERLOCK_HOME", here.join("home").display().to_string())
            .with("INTERLOCK_USER", "ada");
        fs::create_dir(here.join("mend")).unwrap();
        fs::write(here.join("mend/machine.yaml"), MEND).unwrap();
        for (name, text) in [("value.txt", "3\n"), ("test.sh", TEST), ("mend.sh", mend)] {
            fs::write(repo.join(name), text).unwrap();
        }
        let git =
            |words: &[&str]| assert!(Command::new("git").args(words).current_dir(&repo).status().unwrap().success());
        git(&["init", "--quiet"]);
        git(&["add", "--all"]);
        git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "as it is"]);
        Scene { _folder: folder, session }
    }

    fn started(mend: &str, code: i32) -> Self {
        let scene = Scene::new(mend);
        let ran = run(&scene.session, "run ../mend --set 'goal=make it four' --name m1");
        assert_eq!(ran.code, Some(code), "{ran}");
        scene
    }

    fn report(&self) -> Json {
        json(&self.session, "report m1")
    }

    fn sentence(&self) -> String {
        self.report()["sentence"].as_str().unwrap().to_owned()
    }
}

fn has_all(text: &str, words: &[&str]) {
    for words in words {
        assert!(text.contains(words), "`{words}` is not in {text}");
    }
}

#[test]
fn a_report_begins_with_a_sentence_on_what_failed_what_changed_and_how_sure_it_is() {
    let scene = Scene::started("echo 4 > value.txt\n", 0);
    let sentence = scene.sentence();
    has_all(
        &sentence,
        &[
            "mend (\"make it four\") succeeded in fixed: passed on tree ",
            "`sh test.sh` failed in testing: ",
            "expected 4",
            " at src/value.c:7, but passed in record ",
            "value.txt was changed and is in the directory",
            "verified: `sh test.sh` passed in record ",
        ],
    );
    let markdown = run(&scene.session, "report m1").stdout;
    assert!(markdown.starts_with(&format!("# m1\n\n{sentence}\n\n")), "{markdown}");
    let page = run(&scene.session, "report m1 --format html").stdout;
    let (_, body) = page.split_once("<!DOCTYPE html>").unwrap();
    let tree = roxmltree::Document::parse(body.trim()).unwrap_or_else(|error| panic!("{error}\n{page}"));
    let heading = tree.descendants().find(|node| node.tag_name().name() == "h1").unwrap();
    let first: String = heading.next_sibling_element().unwrap().descendants().filter_map(|node| node.text()).collect();
    let plain = sentence.replace('`', "");
    assert!(plain.split_whitespace().all(|word| first.contains(word)), "{first}\n{plain}");
}

#[test]
fn an_undo_makes_the_result_not_verified_and_the_change_taken_back() {
    let scene = Scene::started("echo 4 > value.txt\n", 0);
    assert_eq!(run(&scene.session, "undo m1").code, Some(0));
    let report = scene.report();
    has_all(
        report["sentence"].as_str().unwrap(),
        &["value.txt was changed and undone at ", " by ada", "; not verified: "],
    );
    assert_eq!(report["changes"][0]["in_tree"], false, "{report}");
    let repeat = report["repeat"].to_string();
    assert!(!repeat.contains("interlock undo"), "{repeat}");
}

#[test]
fn a_failed_run_names_the_failure_with_its_place_and_is_not_verified() {
    let scene = Scene::started("echo 5 > value.txt\n", 1);
    has_all(
        &scene.sentence(),
        &[
            "failed in failed: once was not enough",
            "expected 4",
            "at src/value.c:7;",
            "not verified: the last command did not pass",
        ],
    );
    let report = scene.report();
    let failing = report["failing"].as_array().unwrap();
    assert_eq!(failing.len(), 1, "only the last failure of a command counts: {report}");
    assert_eq!((&failing[0]["place"], &failing[0]["passed_in"]), (&"src/value.c:7".into(), &Json::Null));
    let commands = report["commands"].as_array().unwrap();
    let told: Vec<_> =
        commands.iter().map(|one| (one["command"].as_str().unwrap(), one["exit_code"].as_i64())).collect();
    assert_eq!(told, [("sh test.sh", Some(1)), ("sh mend.sh", Some(0)), ("sh test.sh", Some(1))]);
    assert!(commands.iter().all(|one| one["duration_ms"].is_u64()), "{report}");
}

#[test]
fn the_command_to_repeat_a_run_repeats_it() {
    let scene = Scene::started("echo 4 > value.txt\n", 0);
    let report = scene.report();
    let lines = report["repeat"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
    let line = lines.clone().find(|line| line.contains("interlock run")).unwrap();
    has_all(&report["repeat"].to_string(), &["interlock replay m1", "interlock verify m1", "interlock undo m1"]);
    let binary = Path::new(env!("CARGO_BIN_EXE_interlock")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let home = scene.session.folder().parent().unwrap().join("home");
    let again = Command::new("sh").args(["-c", line]).env("PATH", path).env("INTERLOCK_HOME", home).output().unwrap();
    assert!(again.status.success(), "{line}: {}", String::from_utf8_lossy(&again.stderr));
    let runs = json(&scene.session, "runs");
    assert_eq!(runs.as_array().unwrap().len(), 2, "{runs}");
}

#[test]
fn tools_have_versions_and_say_how_these_are_known() {
    let scene = Scene::started("echo 4 > value.txt\n", 0);
    let tools = scene.report()["tools"].clone();
    assert_eq!(tools["interlock"], env!("CARGO_PKG_VERSION"));
    assert!(tools["machine mend"].as_str().unwrap().starts_with("version 3, definition "), "{tools}");
    assert!(tools["git"].as_str().unwrap().contains('.'), "{tools}");
    let markdown = run(&scene.session, "report m1").stdout;
    let version = env!("CARGO_PKG_VERSION");
    has_all(
        &markdown,
        &[&format!("| interlock | {version} | recorded by the run |"), "| installed when this report was written |"],
    );
}

#[test]
fn evidence_has_names_and_a_command_to_open_it_and_no_hash_is_shown() {
    let scene = Scene::started("echo 4 > value.txt\n", 0);
    for format in ["md", "html"] {
        let report = run(&scene.session, &format!("report m1 --format {format}")).stdout;
        let (told, _) =
            report.split_once(if format == "md" { "\n## Evidence\n" } else { "<h2>Evidence</h2>" }).unwrap();
        let mut words = told.split(|letter: char| !letter.is_ascii_alphanumeric());
        let hash =
            words.find(|word| [40, 64].contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(hash, None, "{told}");
        has_all(&report, &["stdout (record 3)", "interlock evidence m1 stdout --record 3"]);
    }
    let printed = run(&scene.session, "evidence m1 stdout --record 3");
    assert_eq!((printed.code, printed.stdout.as_str()), (Some(0), "src/value.c:7: error: expected 4\n"), "{printed}");
    assert_eq!(
        run(&scene.session, "evidence m1 stdout").stdout,
        "four\n",
        "the last one is that of the test that passed"
    );
    let unknown = run(&scene.session, "evidence m1 nothing");
    assert_eq!(unknown.code, Some(2), "{unknown}");
    has_all(&unknown.stderr, &["m1 has no file called `nothing`", "`interlock evidence m1` lists its files"]);
}

#[test]
fn a_picture_has_only_the_states_that_were_visited() {
    assert!(TEA.contains("poured_away"));
    let (_folder, session) = brewed();
    let page = run(&session, "report t1 --format html").stdout;
    let (_, picture) = page.split_once("<svg").unwrap();
    let (picture, _) = picture.split_once("</svg>").unwrap();
    let mermaid = run(&session, "report t1").stdout;
    let (_, mermaid) = mermaid.split_once("```mermaid\n").unwrap();
    let (mermaid, _) = mermaid.split_once("```").unwrap();
    let drawn = run(&session, "draw --run t1").stdout;
    for picture in [picture, mermaid, &drawn] {
        has_all(picture, &["heating", "brewed", "boiled"]);
        for name in ["poured_away", "cold", "drunk"] {
            assert!(!picture.contains(name), "{name}: {picture}");
        }
    }
    assert_eq!(run(&session, "draw --run t1 --format dot").code, Some(2));
}

#[test]
fn a_run_that_waits_says_so_and_a_person_who_decided_is_named() {
    let (_folder, session) = brewed();
    has_all(
        json(&session, "report t1")["sentence"].as_str().unwrap(),
        &["tea (cups 1, leaf oolong) waits in brewed: ", "nothing is verified yet"],
    );
    run(&session, "send t1 drink");
    let sentence = json(&session, "report t1")["sentence"].clone();
    has_all(
        sentence.as_str().unwrap(),
        &["succeeded in drunk", "the run changed no files", "not verified by a command: ada decided it with `drink`"],
    );
}

#[test]
fn text_of_others_is_no_markup() {
    let (_folder, session) = project();
    let started = run(&session, "run tea --set 'leaf=<script>alert(1)</script>' --name t1");
    assert_eq!(started.code, Some(4), "{started}");
    let page = run(&session, "report t1 --format html").stdout;
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"), "{page}");
    let markdown = run(&session, "report t1").stdout;
    assert!(!markdown.split("```").step_by(2).any(|text| text.contains("<script")), "{markdown}");
}

/// Lets an agent work once.
const ONCE: &str = "\
machine: once
version: 1
summary: Lets an agent work.
input: { type: object, required: [goal], properties: { goal: { type: string } } }
initial: coding
on: { error: { target: failed, reason: '${event.message}' } }
states:
  coding:
    invoke: { activity: agent.prompt, with: { text: Do it }, signals: [turn_ended] }
    on: { turn_ended: { target: kept, reason: '${event.summary}' } }
  kept: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
";

/// An agent that works for a while, runs a command, and reports its tokens and its cost.
const AGENT: &str = r#"read prompt
sleep 1.2
echo 4 > value.txt
echo '{"type":"usage","tokens":1200,"session_cost":0.25}'
echo '{"type":"call","id":"c1","name":"bash","kind":"execute","input":{"command":"sh test.sh"}}'
echo '{"type":"result","id":"c1","ok":true,"exit_code":0,"output":"four"}'
echo '{"type":"message","id":"1","text":"The value is four now"}'
echo '{"type":"end","reason":"done"}'
"#;

#[test]
fn the_cost_and_the_time_of_an_agent_are_the_agents_and_its_word_verifies_nothing() {
    let scene = Scene::new("");
    let home = scene.session.folder().parent().unwrap().join("home");
    scene.session.write(".interlock/machines/once/machine.yaml", ONCE).unwrap();
    scene.session.write("agent.sh", AGENT).unwrap();
    let agent = scene.session.folder().join("agent.sh");
    fs::create_dir_all(&home).unwrap();
    let settings =
        format!("[default]\nagent = \"small\"\n[agents.small]\ndriver = \"command\"\ncommand = [\"sh\", {agent:?}]\n");
    fs::write(home.join("agents.toml"), settings).unwrap();
    let ran = run(&scene.session, "run once --set 'goal=make it four' --name m1");
    assert_eq!(ran.code, Some(0), "{ran}");
    has_all(
        &scene.sentence(),
        &[
            "once (\"make it four\") succeeded in kept: The value is four now",
            "value.txt was changed and is in the directory",
            "not verified: the run executed no command that checks it",
        ],
    );
    let report = scene.report();
    assert_eq!(report["spent"]["agents"], serde_json::json!({ "tokens": 1200, "cost": 0.25 }));
    assert_eq!(json(&scene.session, "show m1")["spent"], report["spent"]["agents"], "the same figures everywhere");
    assert_eq!(report["commands"][0]["by_agent"], true, "{}", report["commands"]);
    let markdown = run(&scene.session, "report m1").stdout;
    has_all(
        &markdown,
        &["| coding agents | 1200 | $0.2500 |", "`sh test.sh` (by the agent)", "| value.txt | changed | +1 | −1 |"],
    );
    let own = markdown.lines().find(|line| line.starts_with("| Interlock itself |")).unwrap();
    let percent: f64 = own.split(['(', '%']).nth(1).unwrap().trim().parse().unwrap();
    assert!(percent < 60.0, "the turn took more than a second: {own}");
    assert!(markdown.contains("| coding agents | 1."), "{markdown}");
}

#[test]
fn a_run_in_a_worktree_is_repeated_in_the_checkout_also_after_the_worktree_is_gone() {
    let scene = Scene::new("echo 4 > value.txt\n");
    let cache = scene.session.folder().parent().unwrap().join("cache");
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), scene.session.folder())
        .with("INTERLOCK_HOME", scene.session.folder().parent().unwrap().join("home").display().to_string())
        .with("XDG_CACHE_HOME", cache.display().to_string())
        .with("INTERLOCK_USER", "ada");
    let ran = run(&session, "run ../mend --set 'goal=make it four' --name m1 --worktree");
    assert_eq!(ran.code, Some(0), "{ran}");
    let checkout = format!("--repo '{}'", scene.session.folder().display());
    for _ in 0..2 {
        let repeat = json(&session, "report m1")["repeat"].to_string();
        assert!(repeat.contains(&checkout), "{repeat}");
        fs::remove_dir_all(&cache).unwrap_or_default();
    }
    assert_eq!(json(&session, "diff m1 --stat")["total"]["files"], 1, "the difference outlives the worktree");
}

#[test]
fn every_view_for_programs_names_the_outcome_and_the_reason_of_the_end() {
    let scene = Scene::new("");
    let ran = run(&scene.session, "run ../mend --set 'goal=make it four' --name m1 --json");
    assert_eq!(ran.code, Some(1), "{ran}");
    let ran: Json = serde_json::from_str(&ran.stdout).unwrap();
    let (shown, listed, report) =
        (json(&scene.session, "show m1"), json(&scene.session, "runs")[0].clone(), scene.report()["end"].clone());
    for told in [ran, shown, listed, report] {
        assert_eq!((told["outcome"].as_str(), told["reason"].as_str()), (Some("failure"), Some("once was not enough")));
    }
    assert!(run(&scene.session, "show m1").stdout.contains("  reason     once was not enough"));
}
