//! The relay between real agents and their model: the agent never has the key, and the budget ends its turn.

use interlock_testkit_activity::{EndedAttempt, model_server::Step, real_agents::RealAgent};
use serde_json::Value as Json;

use crate::trial::Trial;

const KEY: &str = "sk-the-key-that-stays-outside";

fn finished(ended: &EndedAttempt) -> &Json {
    assert_eq!(ended.name, "turn_ended", "{:?}", ended.data);
    &ended.data
}

/// Returns the evidence of a turn about its relay.
fn relayed(trial: &Trial, ended: &EndedAttempt) -> Json {
    serde_json::from_str::<Json>(&trial.evidence(ended, "agent-turn")).unwrap()["relay"].clone()
}

async fn the_key_stays_outside(agent: RealAgent) {
    let look = "env > env.txt; cat /proc/[0-9]*/environ > environ.txt 2>/dev/null; true";
    let steps = vec![Step::shell(look), Step::say("Done.")];
    let Some(mut trial) = Trial::relayed(agent, "", KEY, vec![("look around", steps)]) else { return };
    let ended = trial.prompt("look around").await;
    let data = finished(&ended);
    assert_eq!(data["edited"], true, "{data}");
    for file in ["env.txt", "environ.txt"] {
        let found = trial.file(file).unwrap();
        assert!(found.contains("HOME=") && !found.contains(KEY), "{agent:?} {file}: {found}");
    }
    assert_eq!(trial.in_homes(KEY), Vec::<String>::new());
    let calls: Vec<_> = trial.model.asked().into_iter().filter(|asked| asked.line.starts_with("POST")).collect();
    assert!(calls.len() >= 2, "{calls:?}");
    for asked in &calls {
        let sent = ["x-api-key", "authorization", "x-goog-api-key"].map(|name| asked.headers.get(name));
        assert!(sent.iter().flatten().any(|value| value.contains(KEY)), "{agent:?}: {:?}", asked.headers);
        assert!(sent.iter().flatten().all(|value| !value.contains("interlock-")), "{agent:?}: the token got out");
    }
    let relay = relayed(&trial, &ended);
    assert_eq!(relay["to"], trial.model.url.as_str());
    assert!(relay["tokens"]["output"].as_u64().unwrap() > 0, "{relay}");
    let total: u64 =
        ["input", "output", "cache_read", "cache_write"].iter().filter_map(|of| relay["tokens"][of].as_u64()).sum();
    assert!(data["tokens"].as_u64().unwrap() >= total && total >= 200, "{data} {relay}");
    for name in ["transcript", "agent-turn", "network"] {
        assert!(!trial.evidence(&ended, name).contains(KEY), "{agent:?}: the key is in the evidence `{name}`");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn goose_works_through_the_relay_without_the_key() {
    the_key_stays_outside(RealAgent::Goose).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claude_works_through_the_relay_without_the_key() {
    the_key_stays_outside(RealAgent::Claude).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn codex_works_through_the_relay_without_the_key() {
    the_key_stays_outside(RealAgent::Codex).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gemini_works_through_the_relay_without_the_key() {
    the_key_stays_outside(RealAgent::Gemini).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn qwen_works_through_the_relay_without_the_key() {
    the_key_stays_outside(RealAgent::Qwen).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opencode_works_through_the_relay_without_the_key() {
    the_key_stays_outside(RealAgent::Opencode).await;
}

/// Counts the questions to the model. A list of models is not one.
fn calls(trial: &Trial) -> usize {
    trial.model.asked().iter().filter(|asked| asked.line.starts_with("POST")).count()
}

/// goose reports the tokens of the last call only; the relay counts them all. A call is not forwarded if its prompt, which
/// the relay estimates, does not fit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn budget_that_the_relay_counts_ends_the_turn() {
    let say = vec![("go on", vec![Step::say("Done.")])];
    let Some(mut trial) = Trial::relayed(RealAgent::Goose, "", KEY, say) else { return };
    finished(&trial.prompt("go on").await);
    let prompt = trial.model.asked().iter().map(|asked| asked.body.to_string().len() / 4).max().unwrap();
    let again = |number: u32| Step::shell(&format!("echo {number} >> steps.txt"));
    let steps = (0..30).map(again).chain([Step::say("Done.")]).collect();
    let limit = format!("tokens_per_run = {}", prompt + 1_000);
    let Some(mut trial) = Trial::relayed(RealAgent::Goose, &limit, KEY, vec![("go on", steps)]) else { return };
    let ended = trial.prompt("go on").await;
    assert_eq!(ended.error().0, "BUDGET_SPENT", "{:?}", ended.data);
    let steps = trial.file("steps.txt").unwrap().lines().count();
    assert!((1..10).contains(&steps), "{steps} steps");
    assert!(ended.data["tokens"].as_u64().unwrap() >= 120, "{:?}", ended.data);
    let asked = calls(&trial);
    assert_eq!(trial.prompt("go on").await.error().0, "BUDGET_SPENT");
    assert_eq!(calls(&trial), asked, "the model was asked although the budget is spent");
}

/// The tokens of a turn whose process is killed count for the budget of the run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_of_a_turn_that_was_cut_off_count() {
    let steps = vec![Step::shell("echo begun > begun.txt; sleep 100"), Step::say("Done.")];
    let script = vec![("take long", steps), ("say it", vec![Step::say("Said.")])];
    let Some(mut trial) = Trial::relayed(RealAgent::Goose, "tokens_per_run = 100000", KEY, script) else { return };
    trial.prompt_and_drop("take long", "begun.txt").await;
    let calls = calls(&trial);
    let ended = trial.prompt("say it").await;
    let relay = relayed(&trial, &ended);
    let later = relay["tokens"]["input"].as_u64().unwrap() + relay["tokens"]["output"].as_u64().unwrap();
    let all = finished(&ended)["tokens"].as_u64().unwrap();
    assert!(calls > 0 && later > 0 && all > later, "{calls} calls, {all} tokens, {later} of them later");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn key_under_another_name_is_not_passed_on() {
    let mut trial = Trial::relayed_script("read -r prompt\n", KEY);
    let path = trial.home.join("agents.toml");
    let settings = std::fs::read_to_string(&path).unwrap().replace("env = {", &format!("env = {{ OTHER = {KEY:?},"));
    std::fs::write(&path, settings).unwrap();
    let (code, message) = trial.prompt("look").await.error();
    assert_eq!(code, "BAD_SETTINGS");
    assert!(message.contains("`env.OTHER` gives the agent the key") && !message.contains(KEY), "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sandbox_reaches_nothing_but_the_relay_and_only_with_the_token() {
    let model = "${MODEL#http://}";
    let script = format!(
        "read -r prompt\n\
         try() {{ bash -c \"exec 3<>/dev/tcp/${{1%:*}}/${{1#*:}} && printf '$2' >&3 && head -n 1 <&3\" 2>/dev/null || echo none; }}\n\
         relay=${{OPENAI_HOST#http://}}\n\
         try $relay 'GET /v1/models HTTP/1.1\\r\\nHost: a\\r\\nAuthorization: Bearer wrong\\r\\nConnection: close\\r\\n\\r\\n' >> said.txt\n\
         try $relay \"GET /v1/files HTTP/1.1\\r\\nHost: a\\r\\nAuthorization: Bearer $OPENAI_API_KEY\\r\\nConnection: close\\r\\n\\r\\n\" >> said.txt\n\
         try $relay \"GET /v1/models HTTP/1.1\\r\\nHost: a\\r\\nAuthorization: Bearer $OPENAI_API_KEY\\r\\nConnection: close\\r\\n\\r\\n\" >> said.txt\n\
         try {model} 'GET /v1/models HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n' >> said.txt\n\
         echo '{{\"type\":\"end\",\"reason\":\"done\"}}'\n"
    );
    let mut trial = Trial::relayed_script(&script, KEY);
    let ended = trial.prompt("try").await;
    finished(&ended);
    let said = trial.file("said.txt").unwrap();
    let statuses: Vec<_> = said.lines().map(|line| line.split(' ').nth(1).unwrap_or("none")).collect();
    assert_eq!(statuses[..2], ["401", "404"], "{said}");
    assert!(statuses[2] != "401" && statuses[2] != "none" && statuses[3] == "none", "{said}");
    assert_eq!(trial.model.asked().len(), 1, "only the request with token and path gets through");
    assert_eq!(relayed(&trial, &ended)["refused"], 2);
}
