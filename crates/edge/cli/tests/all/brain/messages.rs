//! Messages to a run of `brain`: while the agent works, while a permission is awaited, and after the end.

use std::{path::PathBuf, process::Child};

use serde_json::{Value as Json, json};

use super::{
    agents::{says, scene},
    scene::{Scene, until},
};

/// Keeps each prompt as `$HOME/prompt.N`.
const KEEP: &str = "printf '%s' \"$prompt\" > \"$HOME/prompt.$n\"\n";

/// An agent whose rounds up to this one edit and then hang.
fn hangs_until(round: u32, rest: &str) -> Scene {
    let hangs =
        format!("if [ $n -le {round} ]; then echo \"echo half $n\" > half.sh; touch out/begun.$n; sleep 60; fi\n");
    scene(&format!("mkdir -p out\n{KEEP}{hangs}{rest}"))
}

/// The prompts of a run, in order: whether the session is new, its id, and the text.
fn prompts(scene: &Scene, run: &str) -> Vec<(bool, String, String)> {
    let homes = scene.folder().join("../cache/interlock/agents");
    let store: PathBuf = std::fs::read_dir(homes).unwrap().map(|entry| entry.unwrap().path()).next().unwrap();
    let home = store.join(run).join("script");
    let read = |n: u32| std::fs::read_to_string(home.join(format!("prompt.{n}"))).ok();
    let parsed = (1..).map_while(read).map(|text| serde_json::from_str::<Json>(&text).unwrap());
    parsed.map(|it| (it["new"] == true, it["session"].to_string(), it["text"].as_str().unwrap().to_owned())).collect()
}

/// Starts a run and waits until its agent has begun a round.
fn begin(scene: &Scene, round: u32) -> Child {
    let child = scene.session.command("run brain --input ../input.json --name b1 --in-place").spawn().unwrap();
    until("the round", || scene.folder().join(format!("out/begun.{round}")).exists());
    child
}

#[test]
fn message_in_the_first_round_keeps_the_task_the_session_and_the_edits() {
    let scene = hangs_until(1, &format!("echo 'echo $#' > count.sh; rm -f half.sh\n{}", says("Done.")));
    let mut run = begin(&scene, 1);
    let sent = scene.send("user_message", &json!({ "text": "add a comment too" }));
    assert_eq!(sent.code, Some(0), "{sent}");
    assert!(run.wait().unwrap().success(), "{}", scene.run("trace b1"));
    let asked = prompts(&scene, "b1");
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked[0].0 && !asked[1].0 && asked[0].1 == asked[1].1, "it is the same session: {asked:?}");
    let second = &asked[1].2;
    assert!(second.contains("Count the arguments") && second.ends_with("add a comment too"), "{second}");
    assert!(second.contains("edits were kept") && second.contains("- half.sh"), "{second}");
    assert!(!second.contains("undone") && !second.contains("none of its edits"), "{second}");
    assert_eq!(scene.git(&["log", "-1", "--format=%s", "interlock/b1"]), "Count the arguments");
    assert_eq!(scene.place(), "COMPLETED");
}

#[test]
fn remark_in_the_first_round_is_answered_with_the_task_in_sight() {
    let scene = hangs_until(
        1,
        &format!("if [ $n = 3 ]; then echo 'echo $#' > count.sh; rm -f half.sh; fi\n{}", says("I see.")),
    );
    let mut run = begin(&scene, 1);
    scene.send("user_message", &json!({ "text": "the customer is in a hurry" }));
    assert!(run.wait().unwrap().success(), "{}", scene.run("trace b1"));
    let asked = prompts(&scene, "b1");
    let [_, message, next] = &asked[..] else { panic!("{asked:?}") };
    assert!(
        message.2.contains("Count the arguments") && message.2.ends_with("the customer is in a hurry"),
        "{message:?}"
    );
    assert!(next.2.contains("Count the arguments"), "{next:?}");
    assert!(!message.0 && !next.0, "it is the same session: {asked:?}");
}

#[test]
fn messages_in_a_later_round_do_not_lose_the_instruction_of_that_round() {
    let later = "if [ $n = 1 ]; then echo 'echo 7' > count.sh; fi\n\
                 if [ $n = 2 ] || [ $n = 3 ]; then touch out/begun.$n; sleep 60; fi\n\
                 if [ $n = 4 ]; then echo 'echo $#' > count.sh; fi\n";
    let scene = scene(&format!("mkdir -p out\n{KEEP}{later}{}", says("Done.")));
    let mut run = begin(&scene, 2);
    scene.send("user_message", &json!({ "text": "add a comment too" }));
    until("the third round", || scene.folder().join("out/begun.3").exists());
    scene.send("user_message", &json!({ "text": "use printf" }));
    assert!(run.wait().unwrap().success(), "{}", scene.run("trace b1"));
    let last = prompts(&scene, "b1").pop().unwrap().2;
    let parts = ["Count the arguments", "ended with exit code 1", "add a comment too", "none of its edits is there"];
    for part in parts {
        assert!(last.contains(part), "{part} is missing: {last}");
    }
    assert!(last.ends_with("use printf"), "{last}");
}

#[test]
fn killed_round_is_told_that_its_edits_are_gone_and_keeps_its_session() {
    let scene = hangs_until(1, &format!("echo 'echo $#' > count.sh\n{}", says("Done.")));
    let mut run = begin(&scene, 1);
    run.kill().unwrap();
    run.wait().unwrap();
    let done = scene.run("resume b1");
    assert_eq!(done.code, Some(0), "{done}");
    let asked = prompts(&scene, "b1");
    assert!(!asked[1].0 && asked[0].1 == asked[1].1, "it is the same session: {asked:?}");
    assert!(
        asked[1].2.contains("none of its edits is there") && asked[1].2.contains("Count the arguments"),
        "{asked:?}"
    );
    assert!(scene.git(&["ls-tree", "--name-only", "interlock/b1"]).lines().all(|name| name != "half.sh"));
}

#[test]
fn message_continues_a_completed_run_with_its_session_and_branch() {
    let edits = "case $n in 1) echo 'echo $#';; 2) echo 'echo \"$#\"';; *) echo 'printf \"%s\\\\n\" \"$#\"';; esac > count.sh\n";
    let scene = scene(&format!("{KEEP}{edits}{}", says("Done.")));
    let done = scene.run("run brain --input ../input.json --name b1");
    assert_eq!(done.code, Some(0), "{done}");
    assert!(done.stderr.contains("interlock send b1 user_message"), "{done}");
    let next = scene.send("user_message", &json!({ "text": "add quotes" }));
    assert!(next.code == Some(0) && next.stderr.contains("b1 has ended; b1-2 continues it"), "{next}");
    assert!(next.stdout.contains("b1-2  succeeded  COMPLETED"), "{next}");
    assert_eq!(scene.git(&["log", "--format=%s", "interlock/b1"]), "Add quotes\nCount the arguments\nBegin");
    let asked = prompts(&scene, "b1-2");
    assert!(asked[0].0 && !asked[1].0 && asked[0].1 == asked[1].1, "it is the same session: {asked:?}");
    assert!(asked[1].2.contains("Count the arguments") && asked[1].2.ends_with("add quotes"), "{asked:?}");
    let shown = scene.json("show b1-2");
    assert_eq!(shown["continues"]["run"], "b1");
    let ended = scene.json("show b1");
    assert_eq!(ended["phase"], "succeeded", "the ended run stays as it is");
    assert_eq!(ended["continued_by"], "b1-2");
    let twice = scene.send("user_message", &json!({ "text": "add another" }));
    assert!(twice.code == Some(1) && twice.stderr.contains("b1 is already continued by b1-2"), "{twice}");
    let again = scene.run("send b1-2 user_message --data '{\"text\": \"add one more\"}'");
    assert!(again.code == Some(0) && again.stdout.contains("b1-3  succeeded"), "{again}");
    assert_eq!(scene.run("verify b1-3").code, Some(0));
    // Any other event is refused as before.
    let refused = scene.send("skip", &json!({}));
    assert!(refused.code != Some(0) && scene.run("show b1-4").code != Some(0), "{refused}");
}

#[test]
fn message_continues_a_failed_run_and_a_question_does_not_make_it_succeed() {
    let edits = "if [ $n -le 4 ]; then echo \"echo wrong $n\" > count.sh; fi\nif [ $n = 6 ]; then echo 'echo $#' > count.sh; fi\n";
    let scene = scene(&format!("{KEEP}{edits}{}", says("Done.")));
    let failed = scene.run("run brain --input ../input.json --name b1 --in-place");
    assert!(failed.code == Some(1) && failed.stdout.contains("b1  failed  FAILED"), "{failed}");
    let asked = scene.send("user_message", &json!({ "text": "why did it fail" }));
    assert!(asked.code == Some(1) && asked.stdout.contains("b1-2  failed  FAILED"), "{asked}");
    assert_eq!(scene.json("show b1-2")["context"]["warnings"], json!(["tests_failed"]));
    let fixed = scene.run("send b1-2 user_message --data '{\"text\": \"use $# instead\"}'");
    assert!(fixed.code == Some(0) && fixed.stdout.contains("b1-3  succeeded  COMPLETED"), "{fixed}");
    let all = prompts(&scene, "b1-3");
    assert!(all.iter().skip(1).all(|prompt| !prompt.0 && prompt.1 == all[0].1), "it is the same session: {all:?}");
    assert_eq!(scene.git(&["show", "interlock/b1:count.sh"]), "echo $#");
}

#[test]
fn run_that_was_undone_is_not_continued() {
    let scene = scene(&format!("echo 'echo $#' > count.sh\n{}", says("Done.")));
    assert_eq!(scene.run("run brain --input ../input.json --name b1 --in-place").code, Some(0));
    assert_eq!(scene.run("undo b1").code, Some(0));
    let refused = scene.send("user_message", &json!({ "text": "add a comment" }));
    assert!(refused.code == Some(1) && refused.stderr.contains("b1 was undone"), "{refused}");
    assert_eq!(scene.json("show b1")["continued_by"], Json::Null);
    assert_ne!(scene.run("show b1-2").code, Some(0));
}
