//! Several calls in one attempt.

use serde_json::json;

use crate::trial::Trial;

#[tokio::test]
async fn reads_run_side_by_side_and_answer_in_order() {
    let trial = Trial::new(&[("a", "A\n"), ("b", "B\n")]);
    let call = |id: &str, name: &str, args| json!({ "tool_call_id": id, "name": name, "args": args });
    let calls = [
        call("1", "read_file", json!({ "path": "a" })),
        call("2", "read_file", json!({ "path": "none" })),
        call("3", "write_file", json!({ "path": "c", "content": "" })),
        call("4", "read_file", json!({ "path": "b" })),
    ];
    let ended = trial.run(json!({ "calls": calls })).await;
    assert_eq!((&ended.data["name"], &ended.data["ok"]), (&json!("several"), &json!(true)));
    let results = ended.data["payload"]["results"].as_array().unwrap();
    let short: Vec<_> =
        results.iter().map(|result| (result["tool_call_id"].as_str().unwrap(), result["ok"] == true)).collect();
    assert_eq!(short, [("1", true), ("2", false), ("3", false), ("4", true)]);
    assert_eq!(results[3]["payload"]["content"], "B\n");
    assert_eq!(results[2]["payload"]["error"]["code"], "E_INVALID_ARGS");
    assert!(!trial.folder.join("c").exists());
    // Each of them counts as read.
    trial.write("b", "changed\n");
    assert_eq!(trial.fail("write_file", json!({ "path": "b", "content": "x" })).await.0, "E_CONFLICT");
}

#[tokio::test]
async fn input_that_is_no_call_is_refused() {
    let trial = Trial::new(&[]);
    for with in [json!({}), json!({ "calls": [] }), json!({ "call": { "args": {} } }), json!({ "tool": "read_file" })] {
        let ended = trial.run(with.clone()).await;
        assert_eq!(ended.error().0, "BAD_INPUT", "{with}");
    }
}
