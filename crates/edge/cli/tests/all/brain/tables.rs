//! The views of `interlock sql` on runs of `brain`.

use serde_json::json;

use super::scene::{RIGHT, Scene, WRONG};

#[test]
fn views_show_sessions_rounds_and_executions() {
    let scene = Scene::new();
    scene.start(&json!({}));
    scene.reply(WRONG);
    scene.reply(RIGHT);
    let sessions = scene.json("sql 'select id, status, current_state, context_summary from brain_sessions'");
    let expected = json!([{ "id": "b1", "status": "completed", "current_state": "COMPLETED", "context_summary": "Count the arguments" }]);
    assert_eq!(sessions, expected);
    let rounds = scene.json("sql 'select round_number, ai_summary from brain_rounds order by round_number'");
    let summary = "I counted them.";
    assert_eq!(
        rounds,
        json!([{ "round_number": 1, "ai_summary": summary }, { "round_number": 2, "ai_summary": summary }])
    );
    let reviews = scene.json(
        "sql \"select reviewed_round_numbers, evidence(prompt) as asked from brain_executions where from_state = 'JUDGING'\"",
    );
    assert!(reviews[0]["asked"].as_str().unwrap().contains("# Reviewing"), "{reviews}");
    assert_eq!(reviews[0]["reviewed_round_numbers"], json!("[1]"), "{reviews}");
    assert_eq!(reviews[1]["reviewed_round_numbers"], json!("[2]"), "{reviews}");
    let count = scene.json("sql \"select count(*) as n from brain_executions where status = 'completed'\"");
    let moves = scene.run("trace b1 --json").stdout.lines().count();
    assert_eq!(count[0]["n"], json!(moves));
}

#[test]
fn store_cannot_be_changed_by_a_query() {
    let scene = Scene::new();
    scene.start(&json!({}));
    for query in [
        "delete from run",
        "update store.run set place = 1",
        "pragma query_only = 0",
        "attach x as y",
        "create table t (a)",
    ] {
        let refused = scene.run(&format!("sql '{query}'"));
        assert!(
            refused.code == Some(2) && refused.stderr.contains("nothing in the store can be changed"),
            "{query}: {refused}"
        );
    }
    for query in ["", " ; "] {
        let refused = scene.run(&format!("sql '{query}'"));
        assert!(refused.code == Some(2) && refused.stderr.contains("error: the query is empty"), "{refused}");
    }
    let endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n";
    let refused = scene.run(&format!("sql '{endless}' --seconds 0"));
    assert!(refused.stderr.contains("took longer than"), "{refused}");
    let cut = scene.run("sql 'select id from record' --rows 1");
    assert!(cut.stdout.lines().count() == 2 && cut.stderr.contains("only the first 1 rows"), "{cut}");
}
