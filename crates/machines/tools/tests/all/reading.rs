//! Tools that only read.

use std::{fs, os::unix::fs::symlink};

use serde_json::json;

use crate::trial::Trial;

#[tokio::test]
async fn a_long_file_is_read_in_parts() {
    let lines: String = (1..=2_500).map(|line| format!("line {line}\n")).collect();
    let trial = Trial::new(&[("long.txt", &lines)]);
    let first = trial.call("read_file", json!({ "path": "long.txt" })).await.unwrap();
    assert_eq!(
        (&first["from_line"], &first["to_line"], &first["total_lines"]),
        (&json!(1), &json!(1_000), &json!(2_500))
    );
    let content = first["content"].as_str().unwrap();
    let marker =
        r#"[cut: lines 1001 to 2500 are not shown; read on with read_file {"path": "long.txt", "offset": 1001}]"#;
    assert!(content.ends_with(&format!("line 1000\n{marker}\n")), "{content}");
    let last = trial.call("read_file", json!({ "path": "./long.txt", "offset": 2_499, "limit": 10 })).await.unwrap();
    assert_eq!(last["content"], "line 2499\nline 2500\n");
    assert_eq!(last["truncated"], false);
    let (code, message) = trial.fail("read_file", json!({ "path": "long.txt", "offset": 9_999 })).await;
    assert_eq!((code.as_str(), message.as_str()), ("E_INVALID_ARGS", "`offset` is 9999, but long.txt has 2500 lines"));
}

#[tokio::test]
async fn binary_and_empty_files_are_recognised() {
    let trial = Trial::new(&[("empty", "")]);
    fs::write(trial.folder.join("image.png"), b"\x89PNG\0\0\0").unwrap();
    let binary = trial.call("read_file", json!({ "path": "image.png" })).await.unwrap();
    assert_eq!((&binary["binary"], &binary["bytes"]), (&json!(true), &json!(7)));
    let empty = trial.call("read_file", json!({ "path": "empty" })).await.unwrap();
    assert_eq!((&empty["content"], &empty["total_lines"]), (&json!(""), &json!(0)));
}

#[tokio::test]
async fn no_tool_reads_outside_of_the_workspace() {
    let trial = Trial::new(&[("a", "a\n"), ("in/b", "b\n")]);
    let elsewhere = trial.home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("secret"), "secret\n").unwrap();
    symlink(&elsewhere, trial.folder.join("out")).unwrap();
    symlink(elsewhere.join("secret"), trial.folder.join("link")).unwrap();
    for path in ["../elsewhere/secret", "/etc/passwd", ".git/config", "out/secret", "link", "in/../../elsewhere/secret"]
    {
        let (code, message) = trial.fail("read_file", json!({ "path": path })).await;
        assert_eq!(code, "E_POLICY_DENIED", "{path}: {message}");
    }
    for (tool, path) in [("list_dir", "out"), ("list_dir", "../elsewhere"), ("grep", "out"), ("glob", "/etc")] {
        let (code, message) = trial.fail(tool, json!({ "path": path, "pattern": "secret" })).await;
        let is_refused = code == "E_POLICY_DENIED" || tool == "list_dir" && code == "E_INVALID_ARGS";
        assert!(is_refused, "{tool} {path}: {message}");
    }
    let found = trial.call("grep", json!({ "pattern": "secret" })).await.unwrap();
    assert_eq!(found["count"], 0, "{found}");
    // An absolute path inside is understood, because models like to write it.
    let path = trial.folder.join("in/b");
    assert_eq!(trial.call("read_file", json!({ "path": path })).await.unwrap()["content"], "b\n");
}

#[tokio::test]
async fn a_missing_file_is_named_and_not_tried_again() {
    let trial = Trial::new(&[]);
    let error = trial.call("read_file", json!({ "path": "none.rs" })).await.unwrap_err();
    assert_eq!(error["code"], "E_IO");
    assert_eq!(error["message"], "none.rs does not exist");
    assert_eq!(error["next_step"], "find the path with `glob` or `list_dir`");
    assert_eq!(error["trace_id"], "run-1/a7.1");
    assert!(trial.host.slept_ms.lock().unwrap().is_empty());
}

#[tokio::test]
async fn listings_and_globs_keep_to_gitignore() {
    let trial = Trial::new(&[
        (".gitignore", "target/\n*.log\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("src/deep/a.rs", ""),
        ("target/x.rs", ""),
        ("b.log", ""),
        (".github/workflows/ci.yml", ""),
    ]);
    let listed = trial.call("list_dir", json!({})).await.unwrap();
    assert_eq!(listed["entries"], json!([".github/", ".gitignore", "src/"]));
    let listed = trial.call("list_dir", json!({ "path": "src/", "depth": 2 })).await.unwrap();
    assert_eq!(listed["entries"], json!(["src/deep/", "src/deep/a.rs", "src/main.rs"]));
    let found = trial.call("glob", json!({ "pattern": "*.rs" })).await.unwrap();
    assert_eq!(found["paths"], json!(["src/deep/a.rs", "src/main.rs"]));
    let found = trial.call("glob", json!({ "pattern": "src/*.rs" })).await.unwrap();
    assert_eq!(found["paths"], json!(["src/main.rs"]));
    let found = trial.call("glob", json!({ "pattern": "deep/*.rs", "path": "src" })).await.unwrap();
    assert_eq!(found["paths"], json!(["src/deep/a.rs"]));
    let (code, message) = trial.fail("glob", json!({ "pattern": "a{b" })).await;
    assert_eq!(code, "E_INVALID_ARGS", "{message}");
}

#[tokio::test]
async fn grep_finds_lines_with_context_and_is_bounded() {
    let many: String = (0..500).map(|line| format!("needle {line}\n")).collect();
    let trial = Trial::new(&[
        (".gitignore", "hidden\n"),
        ("a.rs", "one\nfn Needle() {}\nthree\n"),
        ("b.txt", "no\n"),
        ("hidden", "needle\n"),
        ("many.txt", &many),
    ]);
    fs::write(trial.folder.join("binary"), b"needle\0needle\n").unwrap();
    let found = trial
        .call("grep", json!({ "pattern": "n(ee)dle", "ignore_case": true, "glob": "*.rs", "context": 1 }))
        .await
        .unwrap();
    assert_eq!(found["matches"], "a.rs-1-one\na.rs:2:fn Needle() {}\na.rs-3-three\n");
    assert_eq!((&found["count"], &found["files"]), (&json!(1), &json!(1)));
    let found = trial.call("grep", json!({ "pattern": "needle", "max": 3 })).await.unwrap();
    assert_eq!((&found["count"], &found["truncated"]), (&json!(3), &json!(true)));
    let text = found["matches"].as_str().unwrap();
    assert!(text.starts_with("many.txt:1:needle 0\n") && text.contains("[cut after 3 matches"), "{text}");
    let (code, message) = trial.fail("grep", json!({ "pattern": "(" })).await;
    assert!(code == "E_INVALID_ARGS" && message.contains("`pattern`"), "{message}");
}

#[tokio::test]
async fn search_finds_definitions_and_mentions() {
    let trial = Trial::new(&[
        ("src/net.rs", "/// Reads the timeout.\npub fn read_timeout() -> u64 { 3 }\n"),
        ("notes.md", "The timeout of the server is three seconds.\n"),
    ]);
    let found = trial.call("search", json!({ "query": "where is the timeout read" })).await.unwrap();
    let hits = found["hits"].as_array().unwrap();
    let has = |path: &str, source: &str| hits.iter().any(|hit| hit["path"] == path && hit["source"] == source);
    assert!(has("src/net.rs", "symbol") && has("notes.md", "text"), "{found}");
}

#[tokio::test]
async fn unknown_tools_and_arguments_are_refused() {
    let trial = Trial::new(&[]);
    let (code, message) = trial.fail("read_fil", json!({})).await;
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("E_INVALID_ARGS", "there is no tool called `read_fil`; did you mean `read_file`?")
    );
    let (code, message) = trial.fail("list_dir", json!({ "pat": "src" })).await;
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("E_INVALID_ARGS", "list_dir has no argument `pat`; did you mean `path`?")
    );
}

/// Vectors by hand: one dimension for greetings, one for everything else.
struct Greetings;

impl interlock_tools::Meaning for Greetings {
    fn vectors(
        &self,
        _: &std::path::Path,
        texts: Vec<String>,
    ) -> interlock_activity::Future<Result<Option<Vec<Vec<f32>>>, String>> {
        let is_greeting = |text: &String| text.contains("hello") || text.contains("salute");
        let vectors = texts.iter().map(|text| if is_greeting(text) { vec![1.0, 0.0] } else { vec![0.0, 1.0] });
        Box::pin(std::future::ready(Ok(Some(vectors.collect()))))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn search_orders_by_meaning_if_there_are_vectors() {
    let mut trial =
        Trial::new(&[("a.rs", "pub fn hello_settings() {}\n"), ("b.rs", "pub fn salute() {}\npub fn settings() {}\n")]);
    trial.tools = trial.tools.with_meaning(std::sync::Arc::new(Greetings));
    let found = trial.call("search", json!({ "query": "hello settings", "max": 2 })).await.unwrap();
    assert_eq!(found["method"], "by meaning");
    let first: Vec<&str> =
        found["hits"].as_array().unwrap().iter().map(|hit| hit["summary"].as_str().unwrap()).collect();
    assert!(
        first[0].contains("hello") && first[1].contains("salute"),
        "by words alone, `settings` would be second: {found}"
    );
}

/// A program puts pipes, devices and links in place of all files with ignore rules.
#[tokio::test]
async fn listings_wait_for_no_file_with_rules_and_follow_no_link() {
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("theirs.rs"), "needle\n").unwrap();
    let trial = Trial::new(&[("src/a.rs", "needle\n"), ("src/b.log", ""), ("src/.gitignore", "*.log\n")]);
    let prepare = format!(
        "for f in .gitignore .ignore .git/info/exclude; do rm -f $f src/in/$f; mkdir -p src/in/.git/info; mkfifo $f src/in/$f; done; \
         mkdir deep; ln -s /dev/zero deep/.gitignore; ln -s /dev/zero deep/.ignore; echo needle > deep/c.rs; ln -s {} out",
        elsewhere.path().display()
    );
    let done = std::process::Command::new("sh").args(["-ec", &prepare]).current_dir(&trial.folder).status().unwrap();
    assert!(done.success());
    let walks = async {
        let found = trial.tools_call("glob", json!({ "pattern": "*.rs" })).await;
        assert_eq!(found["paths"], json!(["deep/c.rs", "src/a.rs"]));
        let found = trial.tools_call("grep", json!({ "pattern": "needle", "path": "src" })).await;
        assert_eq!(found["files"], 1);
        let listed = trial.tools_call("list_dir", json!({ "path": "src", "depth": 3 })).await;
        assert_eq!(
            listed["entries"],
            json!(["src/.gitignore", "src/a.rs", "src/in/", "src/in/.gitignore", "src/in/.ignore"])
        );
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), walks).await.expect("no walk waits");
}

#[tokio::test]
async fn the_nearest_ignore_rule_counts_and_a_repository_inside_has_its_own() {
    let trial = Trial::new(&[
        (".gitignore", "*.log\n/only\ntmp/\n"),
        (".ignore", "!kept.log\n"),
        ("a.log", ""),
        ("kept.log", ""),
        ("only", ""),
        ("in/only", ""),
        ("in/.gitignore", "!b.log\n"),
        ("in/b.log", ""),
        ("in/tmp/x", ""),
        ("excluded", ""),
        ("nested/c.log", ""),
        ("nested/d.tmp", ""),
    ]);
    trial.write(".git/info/exclude", "excluded\n");
    trial.write("nested/.git/info/exclude", "*.tmp\n");
    let found = trial.call("glob", json!({ "pattern": "*" })).await.unwrap();
    assert_eq!(
        found["paths"],
        json!([".gitignore", ".ignore", "in/.gitignore", "in/b.log", "in/only", "kept.log", "nested/c.log"])
    );
}

#[tokio::test]
async fn a_deep_chain_of_directories_is_cut() {
    let trial = Trial::new(&[("a/b", "")]);
    let deep: std::path::PathBuf = std::iter::repeat_n("d", 400).collect();
    fs::create_dir_all(trial.folder.join(&deep)).unwrap();
    fs::write(trial.folder.join(&deep).join("end"), "").unwrap();
    let found = trial.call("glob", json!({ "pattern": "*" })).await.unwrap();
    assert_eq!((&found["paths"][0], &found["truncated"]), (&json!("a/b"), &json!(true)));
}
