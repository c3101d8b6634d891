//! `agent.prompt`: sends a prompt to the run's session of a coding agent, and ends with the signal of the state.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use interlock_activity::{
    Activity, Attempt, EffectClass, Ending, Outcome, OutcomeKind, Requests, Signal, Site, UseGrants,
    report::{Account, RunRecord},
    schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_journal::EvidenceStore;
use interlock_process::{How, ProgramResult, Sandbox};
use interlock_redact::Redactor;
use interlock_relay::{Relay, Report};
use interlock_workspace::{Workspace, patch::Patch};

use crate::{
    Referee, Writing,
    accounted::account,
    budget::{Left, within_budget},
    change::{Change, before},
    code, coder,
    confinement::Home,
    driver::{Turn, driver},
    ended::{self, EndedTurn},
    facts::Facts,
    gemini,
    git::Standing,
    homes, launch,
    plan::Starting,
    prompt::{Notes, Order},
    protected::{Refusal, Restored},
    record::Record,
    relay::Link,
    secrets::with_secrets,
    session::{Session, Sessions, fresh_id},
    settings::{Agent, DriverKind, Settings},
    turn::Scene,
};

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
    /// Is called before each turn, and may block: it lists what no diff of the turn would show.
    pub before_turn: fn(&Workspace, &Attempt),
}

/// Prompts coding agents.
#[derive(Clone)]
pub struct AgentPrompt(Arc<Setup>);

/// The agent of a run, with the state of its session.
struct Chosen {
    name: String,
    agent: Agent,
    sessions: Sessions,
    session: Session,
    homes: PathBuf,
}

/// A turn that was run.
struct Played {
    facts: Facts,
    ended: ProgramResult,
    record: Record,
    relay: Option<Report>,
}

impl AgentPrompt {
    /// Creates the activity.
    pub fn new(setup: Setup) -> Self {
        AgentPrompt(Arc::new(setup))
    }

    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let order = Order::read(&attempt)?;
        let mut chosen = self.choose(&order, &attempt)?;
        within_budget(&chosen.agent, &chosen.session)?;
        let attempt = {
            let agent = chosen.agent.clone();
            blocking(move || Ok(with_secrets(attempt, &agent))).await?
        };
        let (tree, standing) = {
            let (setup, attempt) = (Arc::clone(&self.0), attempt.clone());
            blocking(move || {
                (setup.before_turn)(&setup.workspace, &attempt);
                Ok((before(&setup.workspace, &attempt)?, Standing::of(&attempt.folder)))
            })
            .await?
        };
        if chosen.agent.driver == DriverKind::Coder {
            return self.run_coder(&attempt, &order, chosen, tree).await;
        }
        let notes = self.notes(&attempt, &chosen.session, &tree).await?;
        let redactor = attempt.evidence.redactor();
        let Played { facts, ended, mut record, relay } =
            self.play(&attempt, &mut chosen, &order.text, &tree, &notes).await?;
        let mut breaches = match chosen.agent.may_commit {
            true => self.secrets_in_commits(&attempt, &redactor).await?,
            false => Vec::new(),
        };
        let is_kept = chosen.agent.may_commit && breaches.is_empty();
        breaches.extend(taken_back(standing.filter(|_| !is_kept), &attempt).await?);
        let restored = Restored::of(&ended.confined.ended.breaches, &attempt.folder);
        breaches.extend(restored.sentences.iter().cloned());
        breaches.iter().for_each(|breach| record.show(breach));
        chosen.session.close(&facts, |text| redactor.text(text).into_owned());
        chosen.session.taken_back.clone_from(&breaches);
        chosen.session.wanted.clone_from(&restored.paths);
        chosen.sessions.write(&attempt.run, &chosen.session).map_err(bad_settings)?;
        let refusal = match facts.stopped {
            None => self.refusal(&attempt, &restored).await?,
            Some(_) => None,
        };
        let change = {
            let (setup, attempt) = (Arc::clone(&self.0), attempt.clone());
            blocking(move || Change::since(&tree, &setup.workspace, &attempt, &*setup.referee)).await?
        };
        let Chosen { name, agent, session, .. } = &chosen;
        let model = facts.model.clone().or_else(|| launch::model(agent));
        let signal = &order.signal;
        let turn = EndedTurn { name, agent, signal, facts, ended, change, breaches, refusal, session, model, relay };
        let kind = redacted(&redactor, turn.kind());
        let evidence = turn.evidence(&attempt, record).await?;
        Ok(Outcome::from(kind).with(evidence))
    }

    /// Returns a sentence if the agent made a commit or tag with a secret, so that its commits are not kept.
    async fn secrets_in_commits(&self, attempt: &Attempt, redactor: &Arc<Redactor>) -> Result<Vec<String>, Outcome> {
        let Some(before) = attempt.snapshot.clone() else { return Ok(Vec::new()) };
        let workspace = self.0.workspace.clone().refusing(Arc::clone(redactor));
        let folder = attempt.folder.clone();
        blocking(move || Ok(workspace.refuse_secrets_since(&folder, &before).err().map(|error| error.to_string())))
            .await
            .map(|found| found.into_iter().collect())
    }

    /// Runs a turn of our own machine `coder`.
    async fn run_coder(
        &self,
        attempt: &Attempt,
        order: &Order,
        chosen: Chosen,
        tree: String,
    ) -> Result<Outcome, Outcome> {
        let Chosen { name, agent, sessions, mut session, .. } = chosen;
        let (notes, redactor) = (self.notes(attempt, &session, &tree).await?, attempt.evidence.redactor());
        session.open(&redactor.text(&order.text), &tree);
        // Each prompt is a separate run; its text includes the rounds before it.
        let text = notes.before(&order.text, &session, true);
        sessions.write(&attempt.run, &session).map_err(bad_settings)?;
        let turn = coder::play(attempt, &agent, text).await?;
        let facts = turn.facts();
        session.close(&facts, |text| redactor.text(text).into_owned());
        sessions.write(&attempt.run, &session).map_err(bad_settings)?;
        let change = {
            let (setup, attempt) = (Arc::clone(&self.0), attempt.clone());
            blocking(move || Change::since(&tree, &setup.workspace, &attempt, &*setup.referee)).await?
        };
        let data = ended::data(&name, &facts, &change, &[], &session, agent.model.as_deref());
        let kind = match turn.error(change.is_edited) {
            None => OutcomeKind::Signal { name: order.signal.clone(), data: Value::map(data) },
            Some((code, message)) => {
                let said = [("code", Value::from(code)), ("message", Value::from(message))];
                OutcomeKind::Error { data: Value::map(said.into_iter().chain(data)) }
            }
        };
        Ok(redacted(&redactor, kind).into())
    }

    /// Returns the agent of the run: the one that the state names, the one that the run began with, or the usual one.
    fn choose(&self, order: &Order, attempt: &Attempt) -> Result<Chosen, Outcome> {
        let home = self.0.home.as_deref().ok_or_else(|| bad_settings("an agent needs a store for its session"))?;
        let homes = homes::homes(home, self.0.cache.as_deref());
        let homes = homes.ok_or_else(|| bad_settings("there is no cache directory; set XDG_CACHE_HOME"))?;
        let sessions = Sessions::new(home);
        let mut session = sessions.read(&attempt.run).map_err(bad_settings)?;
        session.count_cut_off_turn();
        let settings = Settings::load(Some(home), &attempt.folder).map_err(bad_settings)?;
        let known = sessions.agent_of(&attempt.run).map_err(bad_settings)?;
        let name = order.agent.clone().or(known).or_else(|| settings.usual().map(str::to_owned));
        let name = name.ok_or_else(|| bad_settings("several agents are configured; set `agent` under [default] in agents.toml, or choose one with `--agent`"))?;
        let agent = settings.agent(&name).map_err(bad_settings)?.clone();
        if session.agent != name {
            session.lose();
            session.agent.clone_from(&name);
        }
        Ok(Chosen { name, agent, sessions, session, homes })
    }

    /// Returns what the agent cannot know about the time since its last turn: measured, not assumed.
    async fn notes(&self, attempt: &Attempt, session: &Session, tree: &str) -> Result<Notes, Outcome> {
        let left = match session.is_turn_open && !session.tree.is_empty() {
            false => session.is_turn_open.then(Vec::new),
            true => {
                let (setup, attempt) = (Arc::clone(&self.0), attempt.clone());
                let (before, now) = (session.tree.clone(), tree.to_owned());
                let files = move || Ok(files_between(&setup.workspace, &attempt, &before, &now));
                Some(blocking(files).await?)
            }
        };
        let mut granted = Vec::new();
        for path in &session.wanted {
            if self.is_granted(attempt, path).await? {
                granted.push(path.clone());
            }
        }
        Ok(Notes { left, taken_back: session.taken_back.clone(), granted })
    }

    /// Uses the grants of the run for a protected path. Returns false if a person has not given them.
    async fn is_granted(&self, attempt: &Attempt, path: &str) -> Result<bool, Outcome> {
        match self.rule_on(attempt, path).await? {
            Writing::Allowed => Ok(true),
            Writing::Denied(_) => Ok(false),
            Writing::Asks { scopes, .. } => {
                let (run, activity, number) = (attempt.run.clone(), attempt.activity, attempt.number);
                Ok(attempt.host.use_grants(UseGrants { run, activity, number, scopes }).await)
            }
        }
    }

    async fn rule_on(&self, attempt: &Attempt, path: &str) -> Result<Writing, Outcome> {
        let (setup, attempt, path) = (Arc::clone(&self.0), attempt.clone(), path.to_owned());
        blocking(move || setup.referee.writing(&attempt, &path)).await
    }

    /// Returns the permission that a person can give for the protected paths that were put back.
    async fn refusal(&self, attempt: &Attempt, restored: &Restored) -> Result<Option<Refusal>, Outcome> {
        let mut refusal = Refusal::default();
        for path in &restored.paths {
            if let Writing::Asks { scopes, reason } = self.rule_on(attempt, path).await? {
                refusal.paths.push(path.clone());
                refusal.scopes.extend(scopes);
                refusal.reasons.push(reason);
            }
        }
        Ok((!refusal.scopes.is_empty()).then_some(refusal))
    }

    /// Runs the turn. If the session cannot be resumed, opens a new one with a summary.
    async fn play(
        &self,
        attempt: &Attempt,
        chosen: &mut Chosen,
        text: &str,
        tree: &str,
        notes: &Notes,
    ) -> Result<Played, Outcome> {
        let Chosen { name, agent, sessions, session, homes } = chosen;
        let mut record = Record::new(attempt, name).map_err(|error| bad_settings(error.to_string()))?;
        let (link, relay) = open_relay(agent, session).await?.unzip();
        let redactor = attempt.evidence.redactor();
        session.open(&redactor.text(text), tree);
        let mut is_lost = false;
        // The second pass opens a new session, which cannot be lost.
        for _ in 0..2 {
            // The copies of credentials are gone with each program.
            let home = Home::open(homes, &attempt.run, name, agent).map_err(bad_settings)?;
            if let Some(id) = &session.id {
                gemini::make_resumable(&home.path, id);
            }
            let turn = Turn {
                session: session.id.clone(),
                fresh: fresh_id().map_err(bad_settings)?,
                folder: attempt.folder.to_string_lossy().into_owned(),
                text: Some(notes.before(text, session, is_lost)),
                model: agent.model.clone(),
            };
            let driver = driver(agent.driver, turn.clone()).map_err(bad_settings)?;
            let starting = Starting { name, agent, home: &home, link: link.as_ref() };
            let mut plan = starting.plan(attempt, &self.0.sandbox, &turn)?;
            let workspace = plan.rules.workspace.clone();
            plan.rules.write.extend(notes.granted.iter().map(|path| workspace.join(path)));
            sessions.write(&attempt.run, session).map_err(bad_settings)?;
            let (referee, left) = (Arc::clone(&self.0.referee), Left::of(agent, session));
            let open = session.clone();
            let note = |id: Option<&str>, tokens| {
                let id = id.map(str::to_owned).or_else(|| open.id.clone());
                // A turn that cannot be noted goes on; its end is written and checked.
                let _ = sessions.write(&attempt.run, &Session { id, tokens_of_open_turn: tokens, ..open.clone() });
            };
            let scene = Scene {
                attempt,
                plan: &plan,
                referee,
                left,
                relay: relay.as_ref(),
                note: &note,
                ask_ms: ASK_MS,
                close_grace: launch::close_grace(agent.driver),
            };
            let (mut facts, ended) = scene.run(driver, &mut record).await?;
            if is_session_lost(&facts, &ended, &turn) {
                record.show("the session cannot be resumed; a new one is opened");
                session.lose();
                is_lost = true;
                continue;
            }
            session.id = facts.session.clone().or(session.id.take());
            let relay = match relay {
                Some(relay) => Some(relay.close().await),
                None => None,
            };
            // A reply that was broken off is counted when the relay closes.
            facts.usage.tokens = relay.as_ref().map_or(0, |report| report.tokens.total()).max(facts.usage.tokens);
            return Ok(Played { facts, ended, record, relay });
        }
        Err(Outcome::error(code::AGENT_FAILED, format!("the agent `{name}` opens no session")))
    }
}

/// Returns the files that differ between two trees. May block.
fn files_between(workspace: &Workspace, attempt: &Attempt, before: &str, now: &str) -> Vec<String> {
    if before == now {
        return Vec::new();
    }
    let diff = workspace.diff_trees(&attempt.folder, before, now).unwrap_or_default();
    match Patch::parse(&diff) {
        Ok(patch) => patch.paths().iter().map(|path| path.to_string_lossy().into_owned()).collect(),
        Err(_) => vec!["(the files cannot be listed)".to_owned()],
    }
}

/// Starts the relay of an agent that has one, with the tokens that are left of the run's budget.
async fn open_relay(agent: &Agent, session: &Session) -> Result<Option<(Link, Relay)>, Outcome> {
    let Some(settings) = &agent.relay else { return Ok(None) };
    let relay = settings.open(Left::of(agent, session).tokens, &agent.env).await.map_err(bad_settings)?;
    Ok(Some((Link::new(&relay, settings), relay)))
}

/// Returns true if the agent could not resume its session: it says so, or it ends before the turn begins.
fn is_session_lost(facts: &Facts, ended: &ProgramResult, turn: &Turn) -> bool {
    let is_silent = facts.end.is_none() && facts.session.is_none() && facts.stopped.is_none();
    let never_began = is_silent && turn.session.is_some() && matches!(ended.how, How::Exited { .. });
    facts.no_session.is_some() || never_began
}

/// Takes changes to git back and describes them.
async fn taken_back(standing: Option<Standing>, attempt: &Attempt) -> Result<Vec<String>, Outcome> {
    let Some(standing) = standing else { return Ok(Vec::new()) };
    let run = attempt.run.clone();
    blocking(move || Ok(standing.restore(&run))).await
}

/// Redacts the data of an outcome: the runtime does not know the secrets that only the agent was given.
fn redacted(redactor: &Redactor, kind: OutcomeKind) -> OutcomeKind {
    let clean = |data: Value| {
        let mut json = serde_json::Value::from(&data);
        match redactor.json(&mut json) {
            true => Value::from(json),
            false => data,
        }
    };
    match kind {
        OutcomeKind::Signal { name, data } => OutcomeKind::Signal { name, data: clean(data) },
        OutcomeKind::Error { data } => OutcomeKind::Error { data: clean(data) },
        other => other,
    }
}

pub(crate) fn bad_settings(why: impl Into<String>) -> Outcome {
    Outcome::error(code::BAD_SETTINGS, why)
}

/// Runs work that may block on a thread for blocking work.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Outcome> + Send + 'static,
) -> Result<T, Outcome> {
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

    fn signals(&self) -> &[Signal] {
        &[]
    }

    fn schema(&self) -> Schema {
        let fields = schema::fields([
            ("text", schema::text()),
            ("prompt", schema::meaning("prompt")),
            ("from", schema::text()),
            ("agent", schema::text()),
            ("signal", schema::text()),
        ]);
        // Further fields are variables of the prompt.
        schema::open(fields)
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    /// Without a configured agent, a person reports the result of a turn.
    fn takes(&self, _name: &str, folder: &Path) -> bool {
        let settings = Settings::load(self.0.home.as_deref(), folder);
        settings.map_or(true, |settings| !settings.agents.is_empty())
    }

    fn not_taken_because(&self) -> &str {
        "no coding agent is configured (see docs/agents.md)"
    }

    fn account(&self, record: &RunRecord, evidence: &EvidenceStore) -> Option<Account> {
        Some(account(record, evidence))
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(async move { this.run(attempt).await.unwrap_or_else(|error| error) })
    }
}
