//! The queue of actions, and actions that cannot be carried out.

use interlock_activity::Activity as _;
use interlock_chart::Value;
use interlock_testkit_activity::EndedAttempt;
use serde_json::{Value as Json, json};

use crate::trial::{Trial, texts};

async fn with(trial: &Trial, with: Json) -> EndedAttempt {
    let (mut attempt, _canceller) = trial.attempt(json!({}));
    attempt.with = Value::from(with);
    EndedAttempt::new(trial.activity.start(attempt).await)
}

#[tokio::test]
async fn a_queue_is_worked_off_by_index() {
    let Some(trial) = Trial::new() else { return };
    let actions = json!([{ "action": "add", "content": "a" }, { "action": { "action": "add", "content": "b" } }, { "action": "jump" }]);
    let at = async |index: u64| with(&trial, json!({ "actions": actions, "index": index })).await;
    let (first, second, third) = (at(0).await, at(1).await, at(2).await);
    assert_eq!(
        (&first.data["more"], &second.data["more"], &third.data["more"]),
        (&json!(true), &json!(true), &json!(false))
    );
    assert_eq!(texts(&third.data["effects"]), ["[Skipped: the action `jump` does not exist.]"]);
    assert_eq!(first.data["notebook"]["path"], "run-1.ipynb", "a notebook without a name is named after its run");
    assert_eq!(second.data["notebook"]["cell_count"], 2);
    assert_eq!(at(3).await.error(), ("BAD_ACTION".into(), "the queue has 3 actions, so there is no action 4".into()));
}

#[tokio::test]
async fn actions_that_cannot_be_carried_out_say_why() {
    let Some(trial) = Trial::new() else { return };
    let wrong = async |action: Json| trial.act(action).await.error();
    let bad = |why: &str| ("BAD_ACTION".to_owned(), format!("action 1 cannot be carried out: {why}"));
    assert_eq!(wrong(json!({ "action": "exec" })).await, bad("`exec` has no text in `codecell_id`"));
    let exec = |cell: &str| json!({ "action": "exec", "codecell_id": cell });
    assert_eq!(wrong(exec("x")).await.0, "NO_CELL");
    assert_eq!(wrong(exec("lastAddedCellId")).await.0, "NO_CELL");
    assert!(!trial.path().exists(), "nothing was written");
    for notebook in ["../n.ipynb", "/etc/n.ipynb", "n.txt"] {
        let ended =
            with(&trial, json!({ "actions": [{ "action": "add", "content": "x" }], "notebook": notebook })).await;
        assert_eq!(ended.error().0, "BAD_INPUT", "{notebook}");
    }
}
