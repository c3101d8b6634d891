//! A repository, a real agent in a private home, a scripted model, and policy that the test decides.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex},
};

use interlock_activity::{
    Activity as _, Attempt, Canceller, Future, HandledSignal, Host, Invocation, Outcome, Question, StartRun,
};
use interlock_agent::{AgentPrompt, Referee, Ruling, Setup, Writing, driver::ToolCall};
use interlock_chart::Value;
use interlock_core::ActivityId;
use interlock_process::Sandbox;
use interlock_testkit_activity::{
    EndedAttempt, Recorder, attempt,
    launcher::launcher,
    model_server::{ModelServer, Step, agent_model},
    real_agents::RealAgent,
};
use interlock_workspace::Workspace;
use tempfile::TempDir;

/// Policy as a test decides it.
pub(crate) type Rule = fn(&ToolCall) -> Ruling;

struct ByTest(Rule);

impl Referee for ByTest {
    fn rule(&self, _: &Attempt, call: &ToolCall) -> Result<Ruling, Outcome> {
        Ok(self.0(call))
    }

    fn writing(&self, _: &Attempt, path: &str) -> Result<Writing, Outcome> {
        Ok(Writing::Asks { scopes: vec![format!("write:{path}")], reason: format!("{path} is protected") })
    }

    fn weakened(&self, _: &Attempt, patch: &[u8]) -> Vec<String> {
        let text = String::from_utf8_lossy(patch);
        text.lines().filter(|line| line.starts_with("-assert")).map(str::to_owned).collect()
    }
}

/// Answers questions with a fixed decision, and records them.
pub(crate) struct Person {
    recorder: Recorder,
    pub(crate) decision: Option<&'static str>,
    pub(crate) asked: Mutex<Vec<Question>>,
}

impl Host for Person {
    fn progress(&self, run: &str, activity: ActivityId, text: &str) {
        self.recorder.progress(run, activity, text);
    }

    fn now_ms(&self) -> i64 {
        self.recorder.now_ms()
    }

    fn sleep(&self, ms: u64) -> Future<()> {
        self.recorder.sleep(ms)
    }

    fn ask(&self, question: Question) -> Future<Option<Value>> {
        self.asked.lock().unwrap().push(question);
        let answer = self.decision.map(|word| Value::map([("decision", Value::from(word))]));
        Box::pin(std::future::ready(answer))
    }

    fn run(&self, start: StartRun) -> Future<Outcome> {
        self.recorder.run(start)
    }
}

/// A run with one agent.
pub(crate) struct Trial {
    pub(crate) folder: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) model: ModelServer,
    pub(crate) rule: Rule,
    pub(crate) decision: Option<&'static str>,
    pub(crate) asked: Vec<Question>,
    number: u64,
    _top: TempDir,
}

impl Trial {
    /// Prepares a repository and an agent whose model plays a script.
    pub(crate) fn new(agent: RealAgent, limits: &str, script: Vec<(&str, Vec<Step>)>) -> Option<Self> {
        let programs = agent.installed()?;
        let trial = Trial::empty(script);
        let settings = agent.settings("it", &programs, &trial.model.url, &format!("limits = {{ {limits} }}"));
        fs::write(trial.home.join("agents.toml"), settings).unwrap();
        Some(trial)
    }

    /// Prepares a repository and an agent that is a shell script, which speaks the protocol of the driver `command`.
    pub(crate) fn scripted(script: &str, limits: &str) -> Self {
        let trial = Trial::empty(Vec::new());
        let path = trial.home.parent().unwrap().join("agent.sh");
        fs::write(&path, script).unwrap();
        let settings = format!(
            "[agents.it]\ndriver = \"command\"\ncommand = [\"sh\", {:?}]\nlimits = {{ {limits} }}\n",
            path.display().to_string()
        );
        fs::write(trial.home.join("agents.toml"), settings).unwrap();
        trial
    }

    /// Prepares a repository and an agent whose model is behind a relay that holds a key.
    pub(crate) fn relayed(agent: RealAgent, limits: &str, key: &str, script: Vec<(&str, Vec<Step>)>) -> Option<Self> {
        let programs = agent.installed()?;
        let trial = Trial::empty(script);
        let api = if agent == RealAgent::Gemini { ", api = \"google\"" } else { "" };
        let more = format!("limits = {{ {limits} }}\n{}", trial.relay(key, api));
        fs::write(trial.home.join("agents.toml"), agent.relayed("it", &programs, &more)).unwrap();
        Some(trial)
    }

    /// Prepares a repository and an agent that is a shell script, with a relay.
    pub(crate) fn relayed_script(script: &str, key: &str) -> Self {
        let trial = Trial::scripted(script, "");
        let path = trial.home.join("agents.toml");
        let env = format!("env = {{ MODEL = {:?} }}", trial.model.url);
        fs::write(&path, format!("{}{env}\n{}", fs::read_to_string(&path).unwrap(), trial.relay(key, ""))).unwrap();
        trial
    }

    /// Writes the key into a file and returns the settings of the relay.
    fn relay(&self, key: &str, api: &str) -> String {
        let file = self.home.join("key");
        fs::write(&file, format!("{key}\n")).unwrap();
        format!("relay = {{ to = {:?}, key = \"file:{}\"{api} }}\n", self.model.url, file.display())
    }

    fn empty(script: Vec<(&str, Vec<Step>)>) -> Self {
        // Codex refuses a home in the temporary directory.
        let top = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let base = top.path().canonicalize().unwrap();
        let (folder, home) = (base.join("work"), base.join("home"));
        fs::create_dir(&folder).unwrap();
        fs::create_dir(&home).unwrap();
        sh(
            &folder,
            "git init -q -b main && echo one > first.txt && echo 'assert 1' > test.txt && git add . && git -c user.name=a -c user.email=a@b commit -qm first",
        );
        Trial {
            folder,
            home,
            model: agent_model(script),
            rule: |_| Ruling::Allow,
            decision: None,
            asked: Vec::new(),
            number: 0,
            _top: top,
        }
    }

    /// Returns the activity, as a new process would create it.
    fn activity(&self) -> AgentPrompt {
        AgentPrompt::new(Setup {
            home: Some(self.home.clone()),
            cache: Some(self.home.parent().unwrap().join("cache")),
            workspace: Workspace::new(&self.home),
            sandbox: Sandbox { launcher: launcher(), store: Some(self.home.clone()), ..Sandbox::default() },
            referee: Arc::new(ByTest(self.rule)),
            before_turn: |_, _| {},
        })
    }

    /// Prompts the agent, in a new process each time as far as the activity can tell.
    pub(crate) async fn prompt(&mut self, text: &str) -> EndedAttempt {
        let (attempt, person, _canceller) = self.attempt(text);
        let outcome = self.activity().start(attempt).await;
        self.asked = person.asked.lock().unwrap().clone();
        EndedAttempt::new(outcome)
    }

    /// Prompts the agent and drops the turn when a file appears, as if the process were killed.
    pub(crate) async fn prompt_and_drop(&mut self, text: &str, file: &str) {
        let (attempt, _person, _canceller) = self.attempt(text);
        let turn = tokio::spawn(self.activity().start(attempt));
        self.wait_for(file).await;
        turn.abort();
        assert!(turn.await.unwrap_err().is_cancelled());
    }

    async fn wait_for(&self, file: &str) {
        let path = self.folder.join(file);
        let limit = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while !path.exists() {
            assert!(std::time::Instant::now() < limit, "{file} was not written");
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }

    /// Prompts the agent and cancels the turn when a file appears. Returns the outcome and the seconds that the end took.
    pub(crate) async fn prompt_and_cancel(&mut self, text: &str, file: &str) -> (EndedAttempt, f64) {
        let (attempt, _person, canceller) = self.attempt(text);
        let turn = tokio::spawn(self.activity().start(attempt));
        self.wait_for(file).await;
        let begun = std::time::Instant::now();
        canceller.cancel();
        let outcome = turn.await.unwrap();
        (EndedAttempt::new(outcome), begun.elapsed().as_secs_f64())
    }

    fn attempt(&mut self, text: &str) -> (Attempt, Arc<Person>, Canceller) {
        self.number += 1;
        let person =
            Arc::new(Person { recorder: Recorder::in_real_time(), decision: self.decision, asked: Mutex::default() });
        let (mut attempt, canceller) = attempt(&self.home, &self.folder, Arc::clone(&person) as Arc<dyn Host>);
        let data = serde_json::json!({});
        attempt.invocation = Arc::new(Invocation {
            signals: vec![HandledSignal { name: "turn_ended".into(), data }],
            ..(*attempt.invocation).clone()
        });
        attempt.activity = ActivityId(self.number);
        attempt.with = Value::map([("text", Value::from(text))]);
        attempt.snapshot = Some(Workspace::new(&self.home).take(&self.folder, &attempt.run).unwrap());
        (attempt, person, canceller)
    }

    /// Returns a file of the workspace.
    pub(crate) fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(name)).ok()
    }

    /// Adds a line to the agent's settings.
    pub(crate) fn add_setting(&self, line: &str) {
        let path = self.home.join("agents.toml");
        fs::write(&path, format!("{}{line}\n", fs::read_to_string(&path).unwrap())).unwrap();
    }

    /// Returns the private home of the agent.
    pub(crate) fn agent_home(&self) -> PathBuf {
        let only = |folder: PathBuf| {
            let inside = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            let mut inside = inside.filter(|path| !path.ends_with(".logins"));
            inside.next().unwrap()
        };
        only(only(only(self.home.parent().unwrap().join("cache/agents"))))
    }

    /// Returns the files in private homes that contain a text.
    pub(crate) fn in_homes(&self, text: &str) -> Vec<String> {
        let cache = self.home.parent().unwrap().join("cache");
        sh(&cache, &format!("grep -rl {text} . || true")).lines().map(str::to_owned).collect()
    }

    /// Returns all text of the last attempt's evidence with this name.
    pub(crate) fn evidence(&self, ended: &EndedAttempt, name: &str) -> String {
        let found = ended.outcome.evidence.iter().find(|one| one.name == name).unwrap();
        let store = interlock_journal::EvidenceStore::open(self.home.join("evidence")).unwrap();
        String::from_utf8(store.get(&found.hash).unwrap()).unwrap()
    }
}

pub(crate) fn sh(folder: &Path, script: &str) -> String {
    let done = Command::new("sh").arg("-ec").arg(script).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}
