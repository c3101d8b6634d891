//! The results of rounds are stored in the knowledge base and are found again, by words and by meaning.

use std::fs;

use interlock_knowledge::{Knowledge, Round};
use interlock_testkit_activity::model_server::{ModelServer, Scripted};
use serde_json::{Value as Json, json};

use super::{
    bench::{Bench, change},
    scene::is_missing,
};

pub(crate) const LOCAL: &str =
    "  env_type: local\n  format: unity\n  suites: [{ id: all }]\n  confirm: false\n  config: { command: sh fw.sh }";

/// Returns the results of a run's rounds, by iteration.
fn results(bench: &Bench) -> Vec<(u64, String)> {
    let said = bench.session.run("kb export --json").unwrap();
    let entries: Vec<Json> = serde_json::from_str(&said.stdout).unwrap();
    let of = |entry: &Json| (entry["iteration"].as_u64().unwrap(), entry["result"].as_str().unwrap().to_owned());
    let mut all: Vec<_> = entries.iter().map(of).collect();
    all.sort();
    all
}

fn check(patches: &[String], expected: &[(u64, &str)]) {
    let bench = Bench::new(LOCAL, patches);
    let ran = bench.run();
    let expected: Vec<_> = expected.iter().map(|(iteration, result)| (*iteration, (*result).to_owned())).collect();
    let trace = bench.trace();
    assert_eq!(results(&bench), expected, "{ran}\n{trace}");
    // No other run has stored an entry yet, and a run's own entries are not similar cases.
    assert!(trace.contains("no similar case is known") && !trace.contains("known, the first"), "{trace}");
}

#[test]
fn rounds_are_remembered_as_what_they_were() {
    if is_missing(&["git"]) {
        return;
    }
    let one = change("A=1", "A=2");
    let two = one.replace("-A=1\n+A=2\n B=1\n", " A=2\n-B=1\n+B=2\n").replace(" # values\n", "");
    let two = two.replace("@@ -1,3 +1,3 @@", "@@ -2,2 +2,2 @@");
    check(&[one, two], &[(1, "improved"), (2, "fixed")]);
    let broken = |number: u32| change("A=1", &format!("A=$(({number}"));
    check(&[broken(1), broken(2), broken(3), broken(4)], &[(1, "build_failed")]);
    let dangerous = |number: u32| change("A=1", &format!("rm -rf /tmp/{number}\nA=2"));
    check(&[dangerous(1), dangerous(2), dangerous(3)], &[(1, "refused")]);
}

/// A patch that corrects both values at once.
pub(crate) const BOTH: &str =
    "--- a/fw.sh\n+++ b/fw.sh\n@@ -1,4 +1,4 @@\n # values\n-A=1\n-B=1\n+A=2\n+B=2\n # cases\n";

fn entries(bench: &Bench) -> Vec<Json> {
    serde_json::from_str(&bench.session.run("kb search both values --json").unwrap().stdout).unwrap()
}

#[test]
fn a_fix_is_remembered_by_what_was_wrong_and_told_as_taken_back_when_it_is() {
    if is_missing(&["git"]) {
        return;
    }
    let bench = Bench::new(LOCAL, &[BOTH.to_owned()]);
    assert_eq!(bench.run().code, Some(0), "{}", bench.trace());
    let entry = entries(&bench)[0]["entry"].clone();
    let symptom = entry["symptom"].as_str().unwrap();
    assert!(symptom.contains("one") && symptom.contains("it is 1"), "what was wrong before: {entry}");
    assert_eq!(entry["files"], json!(["fw.sh"]));
    let told =
        || bench.session.run("kb search both values").unwrap().stdout + &bench.session.run("report r").unwrap().stdout;
    assert!(told().contains("  fixed  ") && told().contains("It is in the sources."), "{}", told());

    let undone: Json = serde_json::from_str(&bench.session.run("undo r --json").unwrap().stdout).unwrap();
    bench.is_untouched();
    assert!(
        told().contains("  fixed, undone  ") && told().contains("It was written to the sources and undone at "),
        "{}",
        told()
    );
    assert_eq!(bench.story()["taken_back"]["by"].as_str().map(str::is_empty), Some(false));
    let shown = bench.session.run(&format!("kb show {}", entry["id"].as_str().unwrap())).unwrap().stdout;
    assert!(shown.contains("- result: fixed, undone, "), "{shown}");

    let again = bench.session.run(&format!("undo r --write {}", undone["seq"])).unwrap();
    assert_eq!(again.code, Some(0), "{again}");
    assert!(told().contains("  fixed  ") && told().contains("It is in the sources."), "{}", told());
}

#[test]
fn a_case_that_comes_again_is_one_entry_and_another_program_is_no_similar_case() {
    if is_missing(&["git"]) {
        return;
    }
    let bench = Bench::new(LOCAL, &[BOTH.to_owned()]);
    let knowledge = Knowledge::open(&bench.home()).unwrap();
    let lamp = Round {
        run: "lamp".to_owned(),
        title: "all values of the lamp are right".to_owned(),
        symptom: "lamp.sh:9:dim:FAIL: it is 1".to_owned(),
        ..Round::default()
    };
    knowledge.record(&lamp).unwrap();
    for run in ["r", "s", "t"] {
        let ran = bench.session.run(&format!("run firmware --input task.yaml --name {run}")).unwrap();
        assert_eq!(ran.code, Some(0), "{ran}");
        assert_eq!(bench.session.run(&format!("undo {run}")).unwrap().code, Some(0));
    }
    let found = bench.session.run("kb search both values").unwrap().stdout;
    assert!(found.contains("fixed 3 times, all of them undone"), "{found}");
    let mut lessons = entries(&bench);
    lessons.retain(|lesson| lesson["entry"]["title"] == "both values are right");
    assert_eq!(lessons.len(), 1, "{found}");
    let report = bench.session.run("report t").unwrap().stdout;
    assert!(report.contains("| both values are right | fixed 2 times, all of them undone |"), "{report}");
    assert!(!report.contains("lamp"), "{report}");
    let shown = bench.session.run(&format!("kb show {}", lessons[0]["entry"]["id"].as_str().unwrap())).unwrap();
    assert!(shown.stdout.contains("- learned: fixed 3 times, all of them undone; also ku_"), "{shown}");
}

#[test]
fn cases_of_the_past_that_say_the_same_in_other_words_are_found_where_something_makes_vectors() {
    if is_missing(&["git"]) {
        return;
    }
    let server = ModelServer::start(|_, asked| {
        let has = |text: &str, words: &[&str]| f64::from(u8::from(words.iter().any(|word| text.contains(word))));
        let vector = |text: &str| json!([has(text, &["both values", "figures"]), has(text, &["serial"]), 0.1]);
        let texts = asked.body["input"].as_array().unwrap().clone();
        let rows = texts
            .iter()
            .enumerate()
            .map(|(index, text)| json!({ "index": index, "embedding": vector(text.as_str().unwrap()) }));
        Scripted::new(200, "application/json", json!({ "data": rows.collect::<Vec<_>>() }).to_string())
    });
    let bench = Bench::new(LOCAL, &[change("A=1", "A=2")]);
    let knowledge = Knowledge::open(&bench.home()).unwrap();
    for (run, title) in [("a", "wrong figures in a table"), ("b", "rubbish by serial")] {
        knowledge.record(&Round { run: run.to_owned(), title: title.to_owned(), ..Round::default() }).unwrap();
    }
    let file = bench.home().join("judges.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(file, format!("[embeddings]\nbase_url = \"{}/v1\"\nmodel = \"mini\"\n{text}", server.url)).unwrap();
    let ran = bench.run();
    let report = bench.session.run("report r").unwrap().stdout;
    assert!(report.contains("wrong figures in a table"), "{ran}\n{report}");
    assert!(!report.contains("rubbish by serial"), "{report}");
    assert_eq!(server.asked()[0].line, "POST /v1/embeddings HTTP/1.1");
}
