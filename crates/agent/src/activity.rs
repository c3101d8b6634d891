//! `agent.prompt`: sends a prompt to the run's session of a coding agent, and ends with the signal of the state.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use interlock_activity::{Activity, Attempt, EffectClass, Ending, Outcome, OutcomeKind, schema};
use interlock_chart::{Value, model::Schema};
use interlock_journal::Evidence;
use interlock_process::{How, Plan, ProgramResult, Sandbox, Tell, keep, not_ended};
use interlock_workspace::{Workspace, patch::Patch};
use serde_json::json;

use crate::{
    Referee, coder, confinement,
    confinement::Home,
    driver::{End, Turn, driver},
    facts::{Facts, Stop},
    git::Standing,
    launch,
    observed::{asks, observed},
    prompt::{Order, with_notes},
    record::Record,
    session::{Session, Sessions, fresh_id},
    settings::{Agent, DriverKind, Settings},
    turn::{Left, Scene},
};

/// The error codes of the activity.
pub mod code {
    /// The agent's model refuses, or a permission was denied and nothing was done.
    pub const AGENT_REFUSED: &str = "AGENT_REFUSED";
    /// The agent's program ended before its turn did.
    pub const AGENT_DIED: &str = "AGENT_DIED";
    /// The agent failed for a reason of its own.
    pub const AGENT_FAILED: &str = "AGENT_FAILED";
    /// The agent's model could not be reached, or failed.
    pub const MODEL_UNAVAILABLE: &str = "MODEL_UNAVAILABLE";
    /// A limit of `agents.toml` is reached.
    pub const BUDGET_SPENT: &str = "BUDGET_SPENT";
    /// `agents.toml` cannot be used.
    pub const BAD_SETTINGS: &str = "BAD_SETTINGS";
}

/// The number of changed files that the data of a signal lists.
const FILES_MAX: usize = 200;

/// The length of the summary in the data of a signal.
const SUMMARY_CHARS_MAX: usize = 2_000;

/// The bytes kept of an agent's standard error.
const STDERR_BYTES_MAX: u64 = 4 * 1_024 * 1_024;

/// The time that a person has to answer a permission request.
const ASK_MS: u64 = 15 * 60 * 1_000;

/// Everything that the activity needs.
#[derive(Clone)]
pub struct Setup {
    /// The store's directory, with the user's settings and the state of sessions.
    pub home: Option<PathBuf>,
    /// The cache directory, with the private homes of agents; the user's cache directory if `None`.
    pub cache: Option<PathBuf>,
    /// Computes trees and changes.
    pub workspace: Workspace,
    /// The confinement of programs.
    pub sandbox: Sandbox,
    /// Decides on tool calls.
    pub referee: Arc<dyn Referee>,
    /// The agent that the user chose for new runs of this process.
    pub chosen: Arc<OnceLock<String>>,
}

/// Prompts coding agents.
#[derive(Clone)]
pub struct AgentPrompt(Arc<Setup>);

impl AgentPrompt {
    /// Creates the activity.
    pub fn new(setup: Setup) -> Self {
        AgentPrompt(Arc::new(setup))
    }

    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let order = Order::read(&attempt)?;
        let home = self.0.home.clone().ok_or_else(|| bad_settings("an agent needs a store for its session"))?;
        let sessions = Sessions::new(&home);
        let mut session = sessions.read(&attempt.run).map_err(bad_settings)?;
        let settings = Settings::load(Some(&home), &attempt.folder).map_err(bad_settings)?;
        let name = self.name_of(&order, &session, &settings)?;
        let agent = settings.agent(&name).map_err(bad_settings)?;
        if session.agent != name {
            session.lose();
            session.agent.clone_from(&name);
        }
        within_budget(agent, &session)?;
        let before = self.before(&attempt).await?;
        if agent.driver == DriverKind::Coder {
            let place = Place { name: &name, agent, sessions: &sessions, before };
            return self.run_coder(&attempt, &order, &place, session).await;
        }
        let standing = {
            let folder = attempt.folder.clone();
            blocking(move || Ok(Standing::of(&folder))).await?
        };
        let played = self.play(&attempt, &name, agent, &order.text, &sessions, &mut session).await?;
        let Played { facts, ended, mut record } = played;
        let breaches = match (standing, agent.may_commit) {
            (Some(standing), false) => {
                let run = attempt.run.clone();
                blocking(move || Ok(standing.restore(&run))).await?
            }
            _ => Vec::new(),
        };
        for breach in &breaches {
            record.show(breach);
        }
        session.tokens += facts.usage.tokens;
        session.cost_of_session = facts.usage.session_cost.unwrap_or(session.cost_of_session);
        session.is_turn_open = false;
        session.remember(&order.text, &facts.reply);
        sessions.write(&attempt.run, &session).map_err(bad_settings)?;
        let change = self.change(&attempt, before).await?;
        let kind = self.conclude(&order, &name, agent, &facts, &ended, &change, &breaches, &session);
        let evidence = evidence(&attempt, &name, agent, facts, ended, record, breaches, &session).await?;
        Ok(Outcome::from(kind).with(evidence))
    }

    /// Runs a turn of our own machine `coder`.
    async fn run_coder(
        &self,
        attempt: &Attempt,
        order: &Order,
        place: &Place<'_>,
        mut session: Session,
    ) -> Result<Outcome, Outcome> {
        // Each prompt is a run of its own, which is told the rounds before it.
        let text = with_notes(&order.text, &session, !session.rounds.is_empty());
        session.is_turn_open = true;
        place.sessions.write(&attempt.run, &session).map_err(bad_settings)?;
        let turn = coder::play(attempt, place.agent, text).await?;
        session.is_turn_open = false;
        session.remember(&order.text, &turn.reply);
        place.sessions.write(&attempt.run, &session).map_err(bad_settings)?;
        let change = self.change(attempt, place.before.clone()).await?;
        let data = data(place.name, &turn.facts(), &change, &[], &session);
        Ok(match turn.error(change.is_edited) {
            None => Outcome::signal(&order.signal, merged([], data)),
            Some((code, message)) => {
                let said = [("code".to_owned(), Value::from(code)), ("message".to_owned(), Value::from(message))];
                OutcomeKind::Error { data: merged(said, data) }.into()
            }
        })
    }

    fn name_of(&self, order: &Order, session: &Session, settings: &Settings) -> Result<String, Outcome> {
        let known = Some(session.agent.as_str()).filter(|name| !name.is_empty());
        let chosen = self.0.chosen.get().map(String::as_str);
        let name = order.agent.as_deref().or(known).or(chosen).or_else(|| settings.usual());
        name.map(str::to_owned).ok_or_else(|| bad_settings("several agents are configured; set `agent` under [default] in agents.toml, or choose one with `--agent`"))
    }

    /// Runs the turn. If the session cannot be resumed, opens a new one with a summary.
    async fn play(
        &self,
        attempt: &Attempt,
        name: &str,
        agent: &Agent,
        text: &str,
        sessions: &Sessions,
        session: &mut Session,
    ) -> Result<Played, Outcome> {
        let cache = self.0.cache.clone().or_else(confinement::cache);
        let cache = cache.ok_or_else(|| bad_settings("there is no cache directory; set XDG_CACHE_HOME"))?;
        let home = Home::open(&cache, &attempt.run, name, agent).map_err(bad_settings)?;
        let mut record = Record::new(attempt, name).map_err(|error| bad_settings(error.to_string()))?;
        let was_open = session.is_turn_open;
        let mut is_lost = false;
        // The second pass opens a new session, which cannot be lost.
        for _ in 0..2 {
            session.is_turn_open = was_open;
            let turn = Turn {
                session: session.id.clone(),
                fresh: fresh_id().map_err(bad_settings)?,
                folder: attempt.folder.to_string_lossy().into_owned(),
                text: Some(with_notes(text, session, is_lost)),
                model: agent.model.clone(),
            };
            let driver = driver(agent.driver, turn.clone()).map_err(bad_settings)?;
            let mut plan = plan(name, agent, attempt, &self.0.sandbox, &home)?;
            plan.words.extend(launch::words(agent, &turn).into_iter().skip(1).map(Into::into));
            session.is_turn_open = true;
            sessions.write(&attempt.run, session).map_err(bad_settings)?;
            let scene = Scene {
                attempt,
                plan: &plan,
                referee: Arc::clone(&self.0.referee),
                left: left(agent, session),
                ask_ms: ASK_MS,
            };
            let (facts, ended) = scene.run(driver, &mut record).await?;
            let never_began =
                facts.end.is_none() && facts.session.is_none() && turn.session.is_some() && facts.stopped.is_none();
            if facts.no_session.is_some() || never_began && matches!(ended.how, How::Exited { .. }) {
                record.show("the session cannot be resumed; a new one is opened");
                session.lose();
                is_lost = true;
                continue;
            }
            session.id = facts.session.clone().or(session.id.take());
            return Ok(Played { facts, ended, record });
        }
        Err(Outcome::error(code::AGENT_FAILED, format!("the agent `{name}` opens no session")))
    }

    async fn before(&self, attempt: &Attempt) -> Result<String, Outcome> {
        let (workspace, folder, snapshot) =
            (self.0.workspace.clone(), attempt.folder.clone(), attempt.snapshot.clone());
        blocking(move || {
            let tree = match snapshot {
                Some(name) => workspace.tree_named(&folder, &name),
                None => workspace.kept_tree(&folder),
            };
            tree.map_err(|error| failed(&error))
        })
        .await
    }

    /// Compares the workspace with its tree before the turn.
    async fn change(&self, attempt: &Attempt, before: String) -> Result<Change, Outcome> {
        let (setup, attempt) = (Arc::clone(&self.0), attempt.clone());
        blocking(move || {
            let tree = setup.workspace.kept_tree(&attempt.folder).map_err(|error| failed(&error))?;
            if tree == before {
                return Ok(Change { tree, ..Change::default() });
            }
            let diff = setup.workspace.diff_trees(&attempt.folder, &before, &tree).map_err(|error| failed(&error))?;
            let files = match Patch::parse(&diff) {
                Ok(patch) => patch.paths().iter().map(|path| path.to_string_lossy().into_owned()).collect(),
                Err(_) => Vec::new(),
            };
            let weakened = setup.referee.weakened(&attempt, &diff);
            Ok(Change { tree, is_edited: true, files, weakened })
        })
        .await
    }

    #[allow(clippy::too_many_arguments, reason = "the outcome depends on everything that was found")]
    fn conclude(
        &self,
        order: &Order,
        name: &str,
        agent: &Agent,
        facts: &Facts,
        ended: &ProgramResult,
        change: &Change,
        breaches: &[String],
        session: &Session,
    ) -> OutcomeKind {
        let minutes = agent.limits.turn_minutes;
        let denied: Vec<&str> =
            facts.decisions.iter().filter(|one| !one.is_allowed).map(|one| one.reason.as_str()).collect();
        let error = |code: &str, message: String| {
            let data = data(name, facts, change, breaches, session);
            let said = [("code".to_owned(), Value::from(code)), ("message".to_owned(), Value::from(message))];
            OutcomeKind::Error { data: merged(said, data) }
        };
        let stopped = || {
            not_ended(&ended.how, &Plan { timeout: None, ..empty_plan() }, ended.duration).map(|outcome| outcome.kind)
        };
        match (&facts.stopped, &facts.end) {
            (Some(Stop::Cancelled), _) => OutcomeKind::Cancelled { reason: "the turn was cancelled".to_owned() },
            (Some(Stop::Budget(why)), _) => error(code::BUDGET_SPENT, why.clone()),
            (Some(Stop::Protocol(why)), _) => {
                error(code::AGENT_FAILED, format!("the agent `{name}` was stopped: {why}"))
            }
            (None, None) if ended.how == How::TimedOut => {
                error(code::BUDGET_SPENT, format!("the turn took longer than {minutes} minutes"))
            }
            (None, None) => match stopped() {
                Some(kind) => kind,
                None => {
                    let talk = ended.shown.last_line().map(|line| format!(" ({line})")).unwrap_or_default();
                    error(code::AGENT_DIED, format!("the agent `{name}` ended in the middle of its turn{talk}"))
                }
            },
            (None, Some(End::Cancelled)) => error(code::AGENT_FAILED, format!("the agent `{name}` cancelled its turn")),
            (None, Some(End::Refused(why))) => error(code::AGENT_REFUSED, why.clone()),
            (None, Some(End::ModelUnavailable(why))) => error(code::MODEL_UNAVAILABLE, why.clone()),
            (None, Some(End::Failed(why))) => error(code::AGENT_FAILED, format!("the agent `{name}` failed: {why}")),
            (None, Some(End::Finished)) => match hidden_outage(&facts.reply) {
                Some(why) => error(code::MODEL_UNAVAILABLE, why),
                None if !denied.is_empty() && !change.is_edited => error(
                    code::AGENT_REFUSED,
                    format!("nothing was changed, because permission was denied: {}", denied.join("; ")),
                ),
                None => {
                    let data = data(name, facts, change, breaches, session);
                    OutcomeKind::Signal { name: order.signal.clone(), data: merged([], data) }
                }
            },
        }
    }
}

/// The surroundings of a turn of the machine `coder`.
struct Place<'a> {
    name: &'a str,
    agent: &'a Agent,
    sessions: &'a Sessions,
    /// The tree before the turn.
    before: String,
}

/// A turn that was run.
struct Played {
    facts: Facts,
    ended: ProgramResult,
    record: Record,
}

/// The change of the workspace in a turn.
#[derive(Debug, Default)]
struct Change {
    tree: String,
    is_edited: bool,
    files: Vec<String>,
    weakened: Vec<String>,
}

/// Returns the text of an outage that the agent reports as its own reply. goose does so.
fn hidden_outage(reply: &str) -> Option<String> {
    let said = reply.trim_start();
    said.starts_with("Ran into this error").then(|| said.lines().next().unwrap_or_default().to_owned())
}

fn merged<const N: usize>(first: [(String, Value); N], second: Vec<(&'static str, Value)>) -> Value {
    let second = second.into_iter().map(|(name, value)| (name.to_owned(), value));
    let all: Vec<(String, Value)> = first.into_iter().chain(second).collect();
    Value::map(all.iter().map(|(name, value)| (name.as_str(), value.clone())))
}

fn data(
    name: &str,
    facts: &Facts,
    change: &Change,
    breaches: &[String],
    session: &Session,
) -> Vec<(&'static str, Value)> {
    let texts =
        |list: &[String]| Value::List(list.iter().take(FILES_MAX).map(|text| Value::from(text.as_str())).collect());
    let summary: String = facts.reply.trim().chars().take(SUMMARY_CHARS_MAX).collect();
    let summary = if summary.is_empty() { "the agent said nothing".to_owned() } else { summary };
    let denied = facts.decisions.iter().filter(|one| !one.is_allowed).map(|one| Value::from(one.reason.as_str()));
    vec![
        ("tree", Value::from(change.tree.as_str())),
        ("edited", Value::Bool(change.is_edited)),
        ("summary", Value::from(summary)),
        ("observed", observed(&facts.calls, &facts.reply)),
        ("changed_files", texts(&change.files)),
        ("weakened", texts(&change.weakened)),
        ("breaches", texts(breaches)),
        ("denied", Value::List(denied.collect())),
        ("question", Value::Bool(asks(&facts.reply))),
        ("agent", Value::from(name)),
        ("tokens", Value::Int(i64::try_from(session.tokens).unwrap_or(i64::MAX))),
        ("cost", Value::Float(session.cost())),
    ]
}

/// Returns the plan of an agent's program, with the program as its only word.
pub(crate) fn plan(
    name: &str,
    agent: &Agent,
    attempt: &Attempt,
    sandbox: &Sandbox,
    home: &Home,
) -> Result<Plan, Outcome> {
    let program = confinement::program(name, agent, attempt)?;
    Ok(Plan {
        words: vec![program.into()],
        folder: attempt.folder.clone(),
        env: launch::env(agent, &home.path).map_err(bad_settings)?,
        timeout: Some(Duration::from_secs(agent.limits.turn_minutes.saturating_mul(60))),
        output_bytes_max: STDERR_BYTES_MAX,
        tell: [Tell::Nothing, Tell::Nothing],
        rules: confinement::rules(sandbox, attempt, agent, home)?,
        launcher: sandbox.launcher.clone(),
        ..empty_plan()
    })
}

fn empty_plan() -> Plan {
    Plan {
        words: Vec::new(),
        folder: PathBuf::new(),
        env: std::collections::BTreeMap::new(),
        stdin: Vec::new(),
        timeout: None,
        output_bytes_max: 0,
        tell: [Tell::Nothing; 2],
        rules: interlock_sandbox::Rules::default(),
        launcher: interlock_sandbox::Launcher::default(),
    }
}

fn left(agent: &Agent, session: &Session) -> Left {
    Left {
        tokens: agent.limits.tokens_per_run.map(|limit| limit.saturating_sub(session.tokens)),
        session_cost: agent.limits.cost_per_run.map(|limit| limit - session.cost_before),
    }
}

fn within_budget(agent: &Agent, session: &Session) -> Result<(), Outcome> {
    let spent = |why: String| Err(Outcome::error(code::BUDGET_SPENT, why));
    match (agent.limits.tokens_per_run, agent.limits.cost_per_run) {
        (Some(limit), _) if session.tokens >= limit => {
            spent(format!("{} of {limit} tokens of the run are used up", session.tokens))
        }
        (_, Some(limit)) if session.cost() >= limit => {
            spent(format!("{:.4} of {limit} of the run are spent", session.cost()))
        }
        _ => Ok(()),
    }
}

#[allow(clippy::too_many_arguments, reason = "all of it is evidence")]
async fn evidence(
    attempt: &Attempt,
    name: &str,
    agent: &Agent,
    facts: Facts,
    ended: ProgramResult,
    record: Record,
    breaches: Vec<String>,
    session: &Session,
) -> Result<Vec<Evidence>, Outcome> {
    let mut told = json!({
        "agent": name,
        "driver": agent.driver.name(),
        "session": session.id,
        "end": facts.end,
        "tool_calls": facts.calls,
        "permissions": facts.decisions,
        "tokens": facts.usage.tokens,
        "session_cost": facts.usage.session_cost,
        "tokens_of_run": session.tokens,
        "git": breaches,
    });
    let mut all = keep(attempt, vec![ended.stderr], ended.confined).await?;
    let store = attempt.evidence.clone();
    let kept = blocking(move || {
        let wrong = |why: String| Outcome::not_stored(format!("the transcript of a turn could not be kept: {why}"));
        store.redactor().json(&mut told);
        let turn = store
            .put("agent-turn", "application/json", told.to_string().as_bytes())
            .map_err(|error| wrong(error.to_string()))?;
        Ok([record.keep().map_err(wrong)?, turn])
    });
    all.extend(kept.await?);
    Ok(all)
}

fn bad_settings(why: impl Into<String>) -> Outcome {
    Outcome::error(code::BAD_SETTINGS, why)
}

fn failed(error: &interlock_workspace::Error) -> Outcome {
    Outcome::error(interlock_activity::code::FAILED, error.to_string())
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Outcome> + Send + 'static) -> Result<T, Outcome> {
    let broken = |error: tokio::task::JoinError| Outcome::error(interlock_activity::code::FAILED, error.to_string());
    tokio::task::spawn_blocking(work).await.map_err(broken)?
}

impl Activity for AgentPrompt {
    fn name(&self) -> &str {
        "agent.prompt"
    }

    fn summary(&self) -> &str {
        "Prompts a coding agent and reports the files that it changed."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Write
    }

    fn uses_cores(&self) -> bool {
        false
    }

    fn signals(&self) -> &[&str] {
        &[]
    }

    fn schema(&self) -> Schema {
        schema::fields([
            ("text", schema::text()),
            ("prompt", schema::meaning("prompt")),
            ("from", schema::text()),
            ("agent", schema::text()),
            ("signal", schema::text()),
        ])
    }

    /// Without a configured agent, a person reports the result of a turn.
    fn takes(&self, _name: &str, folder: &Path) -> bool {
        let settings = Settings::load(self.0.home.as_deref(), folder);
        settings.map_or(true, |settings| !settings.agents.is_empty())
    }

    fn not_taken_because(&self) -> &str {
        "no coding agent is configured (see docs/agents.md)"
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(async move { this.run(attempt).await.unwrap_or_else(|error| error) })
    }
}
