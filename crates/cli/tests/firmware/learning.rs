//! What rounds have shown is remembered as what it was, and found again, by words and by meaning.

use std::fs;

use interlock_journal::knowledge::{Knowledge, Round};
use interlock_testkit::model_server::{ModelServer, Scripted};
use serde_json::{Value as Json, json};

use crate::{
    bench::{Bench, change},
    scene::is_missing,
};

const LOCAL: &str =
    "  env_type: local\n  format: unity\n  suites: [{ id: all }]\n  confirm: false\n  config: { command: sh fw.sh }";

/// What became of the rounds of a run, by iteration.
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
    assert_eq!(results(&bench), expected, "{ran}\n{}", bench.trace());
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
