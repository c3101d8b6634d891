//! Turns of real agents: edits, permissions, cancellation, sessions, outages, budgets and lies.

use interlock_agent::{Ruling, driver::ToolCall};
use interlock_testkit_activity::{EndedAttempt, model_server::Step, processes::is_alive, real_agents::RealAgent};

use crate::trial::{Trial, sh};

/// Runs a test with each agent.
macro_rules! with_each_agent {
    ($($name:ident)*) => {
        mod goose { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $name() { super::$name(interlock_testkit_activity::real_agents::RealAgent::Goose).await; })* }
        mod claude { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $name() { super::$name(interlock_testkit_activity::real_agents::RealAgent::Claude).await; })* }
        mod codex { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $name() { super::$name(interlock_testkit_activity::real_agents::RealAgent::Codex).await; })* }
    };
}

with_each_agent! {
    edit_and_command_are_reported_as_they_were_seen
    session_is_resumed_by_the_next_process
    lost_session_is_replaced_with_a_summary
    allowed_by_a_person_is_done
    denied_permission_is_a_refusal
    cancelled_turn_ends_soon_and_keeps_its_edits
    model_outage_is_told_apart
    spent_budget_stops_the_run
    claimed_success_without_changes_is_not_an_edit
    files_outside_the_workspace_stay
    host_that_is_not_listed_is_out_of_reach
    commit_of_the_agent_is_kept_and_taken_back
    question_at_the_end_is_seen
    daemon_is_gone_after_the_turn
}

/// Runs a test with each of the agents that `scripts/more-agents.sh` installs and that speak the Agent Client Protocol.
macro_rules! with_more_agents {
    ($($name:ident)*) => {
        mod gemini { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $name() { super::$name(interlock_testkit_activity::real_agents::RealAgent::Gemini).await; })* }
        mod qwen { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $name() { super::$name(interlock_testkit_activity::real_agents::RealAgent::Qwen).await; })* }
        mod opencode { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $name() { super::$name(interlock_testkit_activity::real_agents::RealAgent::Opencode).await; })* }
    };
}

with_more_agents! {
    command_runs_in_a_terminal_and_its_tokens_count
    session_is_resumed_by_the_next_process
    lost_session_is_replaced_with_a_summary
    allowed_by_a_person_is_done
    denied_permission_is_a_refusal
    spent_budget_stops_the_run
}

/// Gemini CLI and Qwen Code run commands in a pseudo-terminal. Policy sees the command, and every model call counts.
async fn command_runs_in_a_terminal_and_its_tokens_count(agent: RealAgent) {
    let steps = vec![Step::shell("echo hello > proof.txt && cat proof.txt"), Step::say("Done: proof.txt says hello.")];
    let Some(mut trial) = Trial::new(agent, "", vec![("write proof", steps)]) else { return };
    trial.rule = |call| match call.command.as_deref() {
        Some("echo hello > proof.txt && cat proof.txt") => Ruling::Allow,
        other => Ruling::Deny(format!("this is not the command: {other:?} {}", call.name)),
    };
    let ended = trial.prompt("write proof").await;
    let data = finished(&ended);
    assert_eq!(trial.file("proof.txt").as_deref(), Some("hello\n"), "{}", trial.evidence(&ended, "transcript"));
    assert!(!trial.evidence(&ended, "transcript").contains("forkpty"), "{}", trial.evidence(&ended, "transcript"));
    assert_eq!(data["summary"], "Done: proof.txt says hello.");
    assert!(data["tokens"].as_i64().unwrap() >= 120, "{data}");
    // opencode reports the last call only.
    assert!(agent == RealAgent::Opencode || data["tokens"].as_i64().unwrap() >= 230, "{data}");
}

fn finished(ended: &EndedAttempt) -> &serde_json::Value {
    assert_eq!(ended.name, "turn_ended", "{:?}", ended.data);
    &ended.data
}

async fn edit_and_command_are_reported_as_they_were_seen(agent: RealAgent) {
    let steps = vec![
        Step::Write("proof.txt".into(), "hello".into()),
        Step::shell("test -f proof.txt && echo a test passed"),
        Step::say("Done: proof.txt says hello."),
    ];
    let Some(mut trial) = Trial::new(agent, "", vec![("write proof", steps)]) else { return };
    let before = sh(&trial.folder, "git status --porcelain");
    let ended = trial.prompt("write proof").await;
    let data = finished(&ended);
    assert_eq!(before, "");
    assert_eq!(trial.file("proof.txt").unwrap().trim(), "hello");
    assert_eq!(data["edited"], true);
    assert_eq!(data["changed_files"], serde_json::json!(["proof.txt"]));
    assert_eq!(data["summary"], "Done: proof.txt says hello.");
    let seen = data["observed"].to_string();
    assert!(seen.contains("bash_test") && seen.contains("exit_code_zero") && seen.contains("says_done"), "{seen}");
    assert!(data["tokens"].as_i64().unwrap() >= 120, "{data}");
    assert!(trial.evidence(&ended, "transcript").contains("write proof"));
    assert!(trial.evidence(&ended, "agent-turn").contains("tool_calls"));
}

async fn session_is_resumed_by_the_next_process(agent: RealAgent) {
    let script = vec![("first task", vec![Step::say("Remembered.")]), ("second task", vec![Step::say("Done again.")])];
    let Some(mut trial) = Trial::new(agent, "", script) else { return };
    finished(&trial.prompt("first task").await);
    let ended = trial.prompt("second task").await;
    assert_eq!(finished(&ended)["summary"], "Done again.");
    let asked = trial.model.asked();
    let last = asked.iter().rev().find(|asked| asked.text().contains("second task")).unwrap().text();
    assert!(last.contains("first task"), "the model does not see the first round");
}

async fn lost_session_is_replaced_with_a_summary(agent: RealAgent) {
    let script =
        vec![("first task", vec![Step::say("Chose the blue one.")]), ("second task", vec![Step::say("Done again.")])];
    let Some(mut trial) = Trial::new(agent, "", script) else { return };
    finished(&trial.prompt("first task").await);
    std::fs::remove_dir_all(trial.home.parent().unwrap().join("cache")).unwrap();
    let ended = trial.prompt("second task").await;
    assert_eq!(finished(&ended)["summary"], "Done again.");
    let asked = trial.model.asked();
    let last = asked.iter().rev().find(|asked| asked.text().contains("second task")).unwrap().text();
    assert!(last.contains("Chose the blue one.") && last.contains("could not be continued"), "{last}");
}

fn ask(_: &ToolCall) -> Ruling {
    Ruling::Ask("a test wants to know".to_owned())
}

async fn allowed_by_a_person_is_done(agent: RealAgent) {
    let steps = vec![Step::shell("echo yes > asked.txt"), Step::say("Done.")];
    let Some(mut trial) = Trial::new(agent, "", vec![("ask me", steps)]) else { return };
    (trial.rule, trial.decision) = (ask, Some("allow"));
    let ended = trial.prompt("ask me").await;
    finished(&ended);
    assert_eq!(trial.file("asked.txt").as_deref(), Some("yes\n"));
    assert_eq!(trial.asked[0].event, "PERMIT");
    assert!(trial.asked[0].text.contains("echo yes > asked.txt"), "{:?}", trial.asked[0]);
}

async fn denied_permission_is_a_refusal(agent: RealAgent) {
    let steps = vec![Step::shell("echo no > asked.txt"), Step::say("Done.")];
    let Some(mut trial) = Trial::new(agent, "", vec![("ask me", steps)]) else { return };
    // Nobody answers in time.
    trial.rule = ask;
    let ended = trial.prompt("ask me").await;
    assert_eq!(ended.error().0, "AGENT_REFUSED", "{:?}", ended.data);
    assert_eq!(trial.file("asked.txt"), None);
    assert!(trial.evidence(&ended, "agent-turn").contains("nobody allowed it in time"));
}

async fn cancelled_turn_ends_soon_and_keeps_its_edits(agent: RealAgent) {
    let steps = vec![Step::shell("echo begun > begun.txt; sleep 100; echo late > late.txt"), Step::say("Done.")];
    let Some(mut trial) = Trial::new(agent, "", vec![("take long", steps)]) else { return };
    let (ended, seconds) = trial.prompt_and_cancel("take long", "begun.txt").await;
    assert_eq!(ended.error().0, "CANCELLED", "{:?}", ended.data);
    assert!(seconds < 3.0, "{seconds}");
    assert_eq!(trial.file("begun.txt").as_deref(), Some("begun\n"));
}

async fn model_outage_is_told_apart(agent: RealAgent) {
    let Some(mut trial) = Trial::new(agent, "", vec![("do it", vec![Step::Fail(500)])]) else { return };
    let ended = trial.prompt("do it").await;
    assert_eq!(ended.error().0, "MODEL_UNAVAILABLE", "{:?}", ended.data);
}

async fn spent_budget_stops_the_run(agent: RealAgent) {
    let script = vec![("go on", vec![Step::say("Done.")])];
    let Some(mut trial) = Trial::new(agent, "tokens_per_run = 130", script) else { return };
    // The first turn takes about 120 tokens, the second one goes over the limit, the third does not begin.
    let mut codes = Vec::new();
    for _ in 0..3 {
        let ended = trial.prompt("go on").await;
        codes.push(if ended.name == "error" { ended.error().0 } else { ended.name });
    }
    assert_eq!(codes[2], "BUDGET_SPENT", "{codes:?}");
    let asked = trial.model.asked().len();
    trial.prompt("go on").await;
    assert_eq!(trial.model.asked().len(), asked, "the model was asked although the budget is spent");
}

async fn claimed_success_without_changes_is_not_an_edit(agent: RealAgent) {
    let script = vec![("fix it", vec![Step::say("Done. I fixed everything and all tests pass.")])];
    let Some(mut trial) = Trial::new(agent, "", script) else { return };
    let ended = trial.prompt("fix it").await;
    let data = finished(&ended);
    assert_eq!((&data["edited"], &data["changed_files"]), (&false.into(), &serde_json::json!([])));
}

async fn files_outside_the_workspace_stay(agent: RealAgent) {
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = outside.path().canonicalize().unwrap().join("outside.txt");
    std::fs::write(&file, "mine").unwrap();
    let steps = vec![Step::shell(&format!("echo theirs > {}", file.display())), Step::say("Done.")];
    let Some(mut trial) = Trial::new(agent, "", vec![("go out", steps)]) else { return };
    let ended = trial.prompt("go out").await;
    assert_eq!(finished(&ended)["edited"], false);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

async fn host_that_is_not_listed_is_out_of_reach(agent: RealAgent) {
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    other.set_nonblocking(true).unwrap();
    let port = other.local_addr().unwrap().port();
    let reach =
        format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached > reached.txt'; echo tried > tried.txt");
    let steps = vec![Step::shell(&reach), Step::say("Done.")];
    let Some(mut trial) = Trial::new(agent, "", vec![("phone home", steps)]) else { return };
    let ended = trial.prompt("phone home").await;
    finished(&ended);
    assert_eq!((trial.file("tried.txt").as_deref(), trial.file("reached.txt")), (Some("tried\n"), None));
    assert_eq!(other.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

async fn commit_of_the_agent_is_kept_and_taken_back(agent: RealAgent) {
    let commit = "echo two > second.txt && git add . && git -c user.name=a -c user.email=a@b commit -qm theirs";
    let steps = vec![Step::shell(commit), Step::say("Committed.")];
    let Some(mut trial) = Trial::new(agent, "", vec![("commit it", steps)]) else { return };
    let head = sh(&trial.folder, "git rev-parse HEAD");
    let ended = trial.prompt("commit it").await;
    let data = finished(&ended);
    assert_eq!(sh(&trial.folder, "git rev-parse HEAD"), head, "{data}");
    assert_eq!(trial.file("second.txt").as_deref(), Some("two\n"));
    assert!(data["breaches"].to_string().contains("refs/heads/main was moved"), "{data}");
    assert_eq!(sh(&trial.folder, "git for-each-ref --format='%(subject)' refs/interlock/agent"), "theirs\n");
}

async fn question_at_the_end_is_seen(agent: RealAgent) {
    let script = vec![("unclear", vec![Step::say("Two ways are possible. Which one do you want?")])];
    let Some(mut trial) = Trial::new(agent, "", script) else { return };
    let ended = trial.prompt("unclear").await;
    assert_eq!(finished(&ended)["question"], true);
}

async fn daemon_is_gone_after_the_turn(agent: RealAgent) {
    let daemon = "setsid sh -c 'echo $$ > daemon.pid; exec sleep 300' >/dev/null 2>&1 </dev/null & while [ ! -s daemon.pid ]; do sleep 0.05; done";
    let steps = vec![Step::shell(daemon), Step::say("Done.")];
    let Some(mut trial) = Trial::new(agent, "", vec![("leave one", steps)]) else { return };
    finished(&trial.prompt("leave one").await);
    let pid = trial.file("daemon.pid").unwrap();
    assert!(!is_alive(&trial.folder, pid.trim()), "the daemon is still there");
}
