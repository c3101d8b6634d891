//! The limits of a turn and of a run: its time, and its cost as Claude Code reports it.

use interlock_testkit_activity::{model_server::Step, real_agents::RealAgent};

use crate::trial::Trial;

#[tokio::test]
async fn turn_that_takes_too_long_is_stopped() {
    let script = "read -r prompt\necho begun > begun.txt\nsleep 300\n";
    let mut trial = Trial::scripted(script, "turn_minutes = 0.01");
    let ended = trial.prompt("take long").await;
    let (code, message) = ended.error();
    assert_eq!((code.as_str(), message.as_str()), ("BUDGET_SPENT", "the turn took longer than 0.01 minutes"));
    assert_eq!(trial.file("begun.txt").as_deref(), Some("begun\n"), "edits are kept, as for every stopped turn");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cost_that_claude_reports_is_limited() {
    let script = vec![("go on", vec![Step::say("Done.")])];
    let Some(mut trial) = Trial::new(RealAgent::Claude, "cost_per_run = 0.000001", script) else { return };
    let first = trial.prompt("go on").await;
    assert!(first.data["cost"].as_f64().unwrap() > 0.0, "Claude Code reports a cost: {:?}", first.data);
    let asked = trial.model.asked().len();
    let second = trial.prompt("go on").await;
    assert_eq!(second.error().0, "BUDGET_SPENT", "{:?}", second.data);
    assert_eq!(trial.model.asked().len(), asked, "the model was asked although the budget is spent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn model_and_session_are_reported() {
    let script = "read -r prompt\necho '{\"type\":\"model\",\"name\":\"small-1\"}'\necho '{\"type\":\"end\",\"reason\":\"done\"}'\n";
    let mut trial = Trial::scripted(script, "");
    let first = trial.prompt("go on").await;
    assert_eq!(first.data["model"], "small-1");
    let session = first.data["session"].clone();
    assert!(session.is_string(), "{:?}", first.data);
    assert_eq!(trial.prompt("go on").await.data["session"], session);
    for agent in [RealAgent::Goose, RealAgent::Claude, RealAgent::Codex] {
        let script = vec![("go on", vec![Step::say("Done.")])];
        let Some(mut trial) = Trial::new(agent, "", script) else { return };
        let ended = trial.prompt("go on").await;
        let known = ended.data["model"].as_str().is_some_and(|model| !model.is_empty());
        assert!(known && ended.data["session"].is_string(), "{agent:?}: {:?}", ended.data);
    }
}
