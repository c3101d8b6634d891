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
            "value.txt was changed by the run",
            "not verified: the run executed no command that its machine declares as a check; `sh test.sh` ended with exit code 0 in record ",
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
fn a_long_log_is_quoted_within_a_bound_and_its_command_is_named() {
    let scene = Scene::new("for n in $(seq 2000); do echo mending $n; done; echo 4 > value.txt\n");
    let loud = format!("seq 3000\n{TEST}");
    scene.session.write("test.sh", &loud).unwrap();
    assert_eq!(run(&scene.session, "run ../mend --set 'goal=make it four' --name m1").code, Some(0));
    let text = run(&scene.session, "report m1 --out ../m1.md");
    assert_eq!(text.code, Some(0), "{text}");
    let text = fs::read_to_string(scene.session.folder().join("../m1.md")).unwrap();
    let lines = text.lines().count();
    assert!(lines < 1_000 && text.contains("lines are left out"), "{lines} lines");
    has_all(&text, &["interlock evidence m1 stdout"]);
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
            "`sh test.sh` ended with exit code 1 in record ",
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
            "value.txt was changed by the run",
            "not verified: the run executed no command that its machine declares as a check",
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

/// Runs the shell lines of the repository's files `one.sh` and `two.sh`, with a pause for a person in between.
const WRITER: &str = "\
machine: writer
version: 1
summary: Writes in two steps.
events: { go: { from: user } }
initial: one
on: { error: { target: failed, reason: '${event.message}' } }
states:
  one:
    invoke: { activity: command.run, with: { command: [sh, one.sh] }, signals: [passed, failed] }
    on: { passed: { target: mid, reason: '${event.summary}' }, failed: failed }
  mid: { tags: [idle], on: { go: two } }
  two:
    invoke: { activity: command.run, with: { command: [sh, two.sh] }, signals: [passed, failed] }
    on: { passed: { target: done, reason: '${event.summary}' }, failed: failed }
  done: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
";

/// Runs `writer` with these two scripts. `between` is done by a person at the pause.
fn written(one: &str, two: &str, between: impl Fn(&Session)) -> Scene {
    let scene = Scene::new("");
    let machine = scene.session.folder().parent().unwrap().join("writer");
    fs::create_dir(&machine).unwrap();
    fs::write(machine.join("machine.yaml"), WRITER).unwrap();
    scene.session.write("one.sh", one).unwrap();
    scene.session.write("two.sh", two).unwrap();
    let ran = run(&scene.session, "run ../writer --name m1");
    assert_eq!(ran.code, Some(4), "{ran}");
    between(&scene.session);
    let ran = run(&scene.session, "send m1 go");
    assert_eq!(ran.code, Some(0), "{ran}");
    scene
}

#[test]
fn a_command_that_wrote_the_files_verifies_nothing() {
    let scene = written("echo hi > notes.txt", "true", |_| {});
    let sentence = scene.sentence();
    has_all(
        &sentence,
        &[
            "notes.txt was changed by the run",
            "not verified: the run executed no command that its machine declares as a check; `sh two.sh` ended with exit code 0",
        ],
    );
    assert!(!sentence.contains("; verified"), "{sentence}");
    assert_eq!(scene.report()["commands"][0]["verifies"], false);
}

#[test]
fn failed_tests_behind_a_pipe_are_told_although_the_exit_code_is_0() {
    let scene = written("true", "echo '1 failed, 4 passed in 0.10s' | tail -1", |_| {});
    let sentence = scene.sentence();
    let said = "its output reports 1 failed test and 4 passed";
    has_all(
        &sentence,
        &[&format!("done: exit code 0, but {said}"), &format!("ended with exit code 0 in record 6, but {said}")],
    );
    let report = scene.report();
    assert_eq!(report["failing"][0]["what"], "a test of `sh two.sh`", "{report}");
    assert_eq!(report["commands"][1]["objection"], said);
    let trace = run(&scene.session, "show m1").stdout;
    assert!(trace.contains(&format!("exit code 0, but {said}")), "{trace}");
}

#[test]
fn only_what_the_run_wrote_is_told_as_its_change_in_every_place() {
    let scene = written("echo 1 > both.txt; echo 1 > one.txt", "echo 3 >> both.txt", |session| {
        session.write("mine.txt", "a person's\n").unwrap();
        session.write("both.txt", "1\n2\n2\n2\n").unwrap();
    });
    scene.session.write("later.txt", "a person's\n").unwrap();
    let diff = json(&scene.session, "diff m1 --stat");
    let files: Vec<_> = diff["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["path"].as_str().unwrap(), file["added"].as_u64()))
        .collect();
    assert_eq!(
        files,
        [("both.txt", Some(2)), ("one.txt", Some(1))],
        "one line before and one after those of the person"
    );
    let patch = run(&scene.session, "diff m1").stdout;
    assert!(patch.matches("\n+").count() >= 3 && !patch.contains("\n+2") && !patch.contains("mine.txt"), "{patch}");
    let report = scene.report();
    assert_eq!((&report["difference"]["files"], report["changes"].as_array().unwrap().len()), (&diff["files"], 2));
    has_all(&scene.sentence(), &["both.txt, one.txt were changed by the run"]);
    assert!(run(&scene.session, "report m1").stdout.contains("2 files differ: +3 −0 lines."));
    run(&scene.session, "undo m1 --skip-conflicts");
    scene.session.write("after-the-undo.txt", "a person's\n").unwrap();
    assert!(!json(&scene.session, "diff m1 --stat")["files"].to_string().contains("after-the-undo"));
}

#[test]
fn an_undo_does_not_replace_the_reason_of_the_end() {
    let scene = written("echo 1 > one.txt", "echo the end", |_| {});
    assert_eq!(run(&scene.session, "undo m1").code, Some(0));
    for reason in [&scene.report()["end"]["reason"], &json(&scene.session, "show m1")["reason"]] {
        assert_eq!(reason, "the end");
    }
    has_all(&scene.sentence(), &["succeeded in done: the end", "one.txt was changed and undone at "]);
}

/// Lets `writer`'s first step be done by a child run.
const BOSS: &str = "\
machine: boss
version: 1
summary: Lets a child write.
events: { more: { from: user, data: { type: object, required: [n], properties: { n: { type: integer } } } } }
initial: having
states:
  having:
    invoke: { activity: run.start, with: { machine: hand }, signals: [succeeded, failed, aborted] }
    on: { succeeded: asking, failed: lost, aborted: lost, error: lost }
  asking: { on: { more: { target: done, guard: event.n > 0 } } }
  done: { type: final, outcome: success }
  lost: { type: final, outcome: failure }
";

const HAND: &str = "\
machine: hand
version: 1
summary: Writes a file.
initial: writing
states:
  writing:
    invoke: { activity: command.run, with: { command: 'echo 1 > child.txt' }, signals: [passed, failed] }
    on: { passed: done, failed: lost, error: lost }
  done: { type: final, outcome: success }
  lost: { type: final, outcome: failure }
";

#[test]
fn changes_of_a_child_run_are_told_as_its_and_an_event_that_a_guard_refuses_is_not_offered() {
    let scene = Scene::new("");
    scene.session.write(".interlock/machines/boss/machine.yaml", BOSS).unwrap();
    scene.session.write(".interlock/machines/hand/machine.yaml", HAND).unwrap();
    let ran = run(&scene.session, "run boss --name m1");
    assert_eq!(ran.code, Some(4), "{ran}");
    let report = scene.report();
    let child = report["changes"][0]["run"].as_str().unwrap().to_owned();
    has_all(&scene.sentence(), &[&format!("child.txt was changed by the child run {child}")]);
    assert_eq!(report["difference"]["files"][0]["run"], child.as_str());
    let refused = run(&scene.session, "send m1 more --data '{\"n\": 0}'");
    assert_eq!(refused.code, Some(2), "{refused}");
    has_all(&refused.stderr, &["asking knows `more`, but cannot take it now: "]);
    assert!(!refused.stderr.contains("it accepts these events now"), "{refused}");
}
