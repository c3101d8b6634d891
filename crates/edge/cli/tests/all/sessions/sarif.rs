//! The findings of `check` in SARIF: the properties of the format that GitHub requires or shows.

use interlock_testkit_cli::session::Session;
use serde_json::Value as Json;
use tempfile::TempDir;

use super::scene::{DOOR, project};

/// Makes a repository with a machine that breaks a property, one that cannot be read, and one that is proved.
fn repository() -> (TempDir, Session) {
    let (folder, session) = project();
    let promise = "properties:\n  - never: open\n    without: locked.turn_key\n    because: only a key opens it\n";
    session.write("my doors/broken/machine.yaml", &format!("{DOOR}{promise}")).unwrap();
    session.write("bad.yaml", &DOOR.replace("initial: closed", "initial: closd")).unwrap();
    session.write(".git/HEAD", "ref: refs/heads/main\n").unwrap();
    (folder, session)
}

fn written(session: &Session) -> Json {
    serde_json::from_slice(&std::fs::read(session.folder().join("found.sarif")).unwrap()).unwrap()
}

fn texts<'j>(value: &'j Json, pointers: &[&str]) -> Vec<&'j str> {
    let text = |pointer: &&str| value.pointer(pointer).and_then(Json::as_str).filter(|text| !text.is_empty());
    pointers.iter().map(|pointer| text(pointer).unwrap_or_else(|| panic!("no {pointer} in {value:#}"))).collect()
}

/// Checks what GitHub requires of a document, and returns its results.
/// <https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning>
fn uploadable(document: &Json) -> &Vec<Json> {
    assert_eq!(texts(document, &["/version", "/runs/0/tool/driver/name"]), ["2.1.0", "interlock"]);
    texts(document, &["/$schema", "/runs/0/tool/driver/semanticVersion"]);
    let rules = document.pointer("/runs/0/tool/driver/rules").unwrap().as_array().unwrap();
    for rule in rules {
        texts(rule, &["/id", "/shortDescription/text", "/fullDescription/text", "/help/text"]);
    }
    let results = document.pointer("/runs/0/results").unwrap().as_array().unwrap();
    for result in results {
        texts(result, &["/message/text", "/partialFingerprints/primaryLocationLineHash"]);
        assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]), "{result:#}");
        assert!(["error", "warning", "note"].contains(&texts(result, &["/level"])[0]));
        let place = result.pointer("/locations/0/physicalLocation").unwrap();
        texts(place, &["/artifactLocation/uri"]);
        let numbers = ["startLine", "startColumn", "endLine", "endColumn"].map(|key| place["region"][key].as_u64());
        assert!(numbers.iter().all(|number| number.is_some_and(|number| number > 0)), "{place:#}");
        assert!((numbers[0], numbers[1]) < (numbers[2], numbers[3]), "{place:#}");
    }
    results
}

/// Returns rule, place and first line of each result.
fn rows(results: &[Json]) -> Vec<String> {
    let row = |result: &Json| {
        let place = &result["locations"][0]["physicalLocation"];
        let [rule, uri, text] =
            texts(result, &["/ruleId", "/locations/0/physicalLocation/artifactLocation/uri", "/message/text"])
                .try_into()
                .unwrap();
        format!("{uri}:{} {rule} {}", place["region"]["startLine"], text.lines().next().unwrap())
    };
    results.iter().map(row).collect()
}

#[test]
fn findings_are_written_with_their_places() {
    let (_folder, session) = repository();
    let checked = session.run("check --sarif found.sarif door 'my doors/broken' ./bad.yaml").unwrap();
    assert_eq!(checked.code, Some(2), "{checked}");
    let document = written(&session);
    let results = uploadable(&document);
    assert_eq!(
        rows(results),
        [
            "my%20doors/broken/machine.yaml:13 property not proved: never open without locked.turn_key",
            "bad.yaml:7 E0201 there is no state `closd`"
        ]
    );
    let text = results[0]["message"]["text"].as_str().unwrap();
    assert!(text.contains("only a key opens it\na shortest counterexample:\n   1. start"), "{text}");
    let help = document.pointer("/runs/0/tool/driver/rules/0/help/text").unwrap().as_str().unwrap();
    assert!(help.starts_with("# E0201: unknown state"), "{help}");
}

#[test]
fn paths_begin_at_the_root_of_the_repository() {
    let (_folder, session) = repository();
    let below = Session::new(env!("CARGO_BIN_EXE_interlock"), session.folder().join("my doors"));
    below.run("check broken/ ../bad.yaml --sarif ../found.sarif").unwrap();
    let document = written(&session);
    let rows = rows(uploadable(&document));
    assert!(rows[0].starts_with("my%20doors/broken/machine.yaml:13 "), "{document:#}");
    assert!(rows[1].starts_with("bad.yaml:7 "), "{document:#}");
}

#[test]
fn the_same_problem_on_another_line_has_the_same_fingerprint() {
    let (_folder, session) = repository();
    let fingerprint = || {
        session.run("check bad.yaml --sarif found.sarif").unwrap();
        uploadable(&written(&session))[0]["partialFingerprints"].clone()
    };
    let before = fingerprint();
    let text = std::fs::read_to_string(session.folder().join("bad.yaml")).unwrap();
    session.write("bad.yaml", &format!("# A comment.\n\n{text}")).unwrap();
    assert_eq!(fingerprint(), before);
}

#[test]
fn proved_machines_have_no_results() {
    let (_folder, session) = repository();
    let checked = session.run("check --sarif found.sarif door firmware").unwrap();
    assert_eq!(checked.code, Some(0), "{checked}");
    assert!(uploadable(&written(&session)).is_empty());
}
