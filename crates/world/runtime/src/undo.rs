//! Undoes writes of a run: lists the writes, selects those that are meant, and restores the files.
//!
//! The changes of a write are evidence of its record (`snapshots.rs`). An undo is itself a write, so that it can be
//! undone too. It is recorded before it is carried out. If it is interrupted, it can be repeated: paths that are
//! already restored are left as they are.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use interlock_activity::{TakeBack, TakenBack, Writes};
use interlock_chart::{Value, model::StateId};
use interlock_core::ActivityId;
use interlock_journal::{AttemptResult, By, Engine, Entry, Evidence, Head, Left, Undone};
use interlock_workspace::{COMMIT_EVIDENCE, Change, Changes, Conflict, Moved, NotKept, Undo, Workspace};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Frame, LoadedMachine, Result, Runtime, dispatch::blocking, replay, request::Request, runtime::Shared,
    snapshots::CHANGES,
};

/// The tag of states in which a run may rest.
const IDLE: &str = "idle";

/// A write of a run: the changes of an attempt or of an undo.
#[derive(Clone, Debug)]
pub struct Write {
    /// The sequence number of its record.
    pub seq: u64,
    /// The id of the activity that wrote; `None` for an undo.
    pub activity: Option<ActivityId>,
    /// The activity's name, or `undo`.
    pub what: String,
    /// The state that started the activity.
    pub state: Option<String>,
    /// The changes to files, if they are known.
    pub changes: Option<Changes>,
    /// The commit that it made, as the move of a branch.
    pub moved: Option<Moved>,
    /// The reason why its changes are not known.
    pub unknown: Option<String>,
    /// The snapshot before a write whose changes are not known.
    pub before_unknown: Option<String>,
    /// The state that started the activity and its ancestors, each with the number of its visit.
    visits: Vec<(StateId, u64)>,
}

/// All writes of a run, and the data needed to select from them.
#[derive(Debug)]
pub struct History {
    /// The directory in which the run works.
    pub folder: PathBuf,
    /// The writes, oldest first.
    pub writes: Vec<Write>,
    loaded: Option<Arc<LoadedMachine>>,
    /// The records with which the run left a state in which it may rest.
    turns: Vec<u64>,
    /// The records of activities that ended with a `step`.
    steps: Vec<(u64, Value)>,
    visits: BTreeMap<StateId, u64>,
    starts: BTreeMap<ActivityId, Start>,
    is_idle: bool,
}

/// The start of an activity: its name, its state and the visits of that state.
#[derive(Clone, Debug)]
struct Start {
    name: String,
    state: String,
    visits: Vec<(StateId, u64)>,
}

/// References that a fetch moves.
const REMOTES: &str = "refs/remotes/";

impl Write {
    /// Returns the references that were moved: by a commit of Interlock, or by a program.
    fn moves(&self) -> impl Iterator<Item = &Moved> {
        let own = self.moved.as_ref().map(|moved| &moved.reference);
        let others = self.changes.iter().flat_map(|changes| &changes.references);
        self.moved.iter().chain(others.filter(move |moved| Some(&moved.reference) != own))
    }
}

impl History {
    /// Reads the records of a run and collects its writes.
    pub fn of(engine: &dyn Engine, head: &Head) -> Result<Self> {
        let mut history = History {
            folder: PathBuf::new(),
            writes: Vec::new(),
            loaded: None,
            turns: Vec::new(),
            steps: Vec::new(),
            visits: BTreeMap::new(),
            starts: BTreeMap::new(),
            is_idle: false,
        };
        let mut wrong = None;
        let live = replay(engine, head, u64::MAX, |frame| {
            wrong = wrong.take().or(history.see(engine, &frame).err());
        })?;
        history.folder = live.folder;
        history.loaded = Some(live.loaded);
        wrong.map_or(Ok(history), Err)
    }

    fn see(&mut self, engine: &dyn Engine, frame: &Frame<'_>) -> Result<()> {
        let (seq, chart) = (frame.record.seq, frame.live.loaded.chart());
        for state in frame.trace.microsteps.iter().flat_map(|round| &round.entered) {
            *self.visits.entry(*state).or_default() += 1;
        }
        let mut active = frame.live.state.configuration.iter();
        let is_idle = active.any(|state| chart.state(state).tags.iter().any(|tag| tag == IDLE));
        if self.is_idle && !is_idle {
            self.turns.push(seq);
        }
        self.is_idle = is_idle;
        for (id, begun) in &frame.live.activities {
            let invoke = chart.invoke(begun.invoke);
            let around = chart.ancestors(invoke.state).chain([invoke.state]);
            let visits = around.map(|state| (state, self.visits.get(&state).copied().unwrap_or(0))).collect();
            let (name, state) = (invoke.activity.clone(), chart.state(invoke.state).name.clone());
            self.starts.entry(*id).or_insert(Start { name, state, visits });
        }
        if let Entry::Outcome { result: AttemptResult::Signal { data, .. }, .. } = frame.entry
            && let Some(step) = data.get("step")
        {
            self.steps.push((seq, step.clone()));
        }
        self.writes.extend(self.write(engine, seq, frame.entry)?);
        Ok(())
    }

    fn write(&self, engine: &dyn Engine, seq: u64, entry: &Entry) -> Result<Option<Write>> {
        let activity = match entry {
            // A person was asked about the files of an interrupted attempt.
            Entry::Outcome { activity, .. } | Entry::Left(Left { activity, .. }) => Some(*activity),
            Entry::Undone(_) => None,
            _ => return Ok(None),
        };
        let find = |name: &str| entry.evidence().iter().find(|evidence| evidence.name == name);
        let (changes, not_known) = match find(CHANGES) {
            Some(evidence) => read_changes(engine, evidence)?,
            None => (None, None),
        };
        let (unknown, before_unknown) =
            not_known.map_or((None, None), |NotKnown { unknown, before }| (Some(unknown), before));
        let moved = find(COMMIT_EVIDENCE).map(|evidence| read(engine, evidence)).transpose()?;
        if changes.is_none() && unknown.is_none() && moved.is_none() {
            return Ok(None);
        }
        let start = activity.and_then(|activity| self.starts.get(&activity));
        let what = start.map_or("undo".to_owned(), |start| start.name.clone());
        let state = start.map(|start| start.state.clone());
        let visits = start.map(|start| start.visits.clone()).unwrap_or_default();
        Ok(Some(Write { seq, activity, what, state, changes, moved, unknown, before_unknown, visits }))
    }

    /// Returns the selected writes, newest first.
    pub fn choose(&self, writes: &Writes) -> Result<Vec<&Write>> {
        let after = |seq: u64| self.filtered(move |write| write.seq > seq);
        Ok(match writes {
            Writes::Run => after(0),
            Writes::Turn => after(self.turns.last().copied().unwrap_or(0)),
            Writes::After(seq) => after(*seq),
            Writes::Record(seq) => match self.filtered(|write| write.seq == *seq) {
                found if found.is_empty() => return Err(Error::Undo(format!("record {seq} wrote nothing"))),
                found => found,
            },
            Writes::Activity(id) => self.filtered(|write| write.activity == Some(*id)),
            Writes::State(name) => {
                let state = self.loaded.as_ref().and_then(|loaded| loaded.chart().find_state(name));
                let state = state.ok_or_else(|| Error::Undo(format!("the machine has no state `{name}`")))?;
                let visit = |write: &Write| write.visits.iter().find(|(at, _)| *at == state).map(|(_, visit)| *visit);
                let last = self.writes.iter().filter_map(visit).max();
                self.filtered(|write| last.is_some() && visit(write) == last)
            }
            Writes::Step(step) => {
                let begun = self.steps.iter().rev().find(|(_, known)| known == step);
                let begun = begun.ok_or_else(|| Error::Undo("no activity has ended with this step".into()))?;
                after(begun.0)
            }
        })
    }

    /// Lets the last turn begin with the turn before it while it has only made commits: those belong to the earlier work.
    fn join_commits_to_their_turn(&mut self) {
        while let Some(turn) = self.turns.last().copied() {
            // An undo in between belongs to the work that it undid.
            let writes = self.filtered(|write| write.seq > turn && write.activity.is_some());
            let is_commit = |write: &&Write| write.moved.is_some() && write.changes.as_ref().is_none_or(is_empty);
            if writes.is_empty() || !writes.iter().all(is_commit) {
                return;
            }
            self.turns.pop();
        }
    }

    fn filtered(&self, is_meant: impl Fn(&Write) -> bool) -> Vec<&Write> {
        self.writes.iter().rev().filter(|write| is_meant(write)).collect()
    }
}

fn is_empty(changes: &Changes) -> bool {
    changes.files.is_empty()
}

fn read<T: serde::de::DeserializeOwned>(engine: &dyn Engine, evidence: &Evidence) -> Result<T> {
    let bytes = engine.evidence().get(&evidence.hash)?;
    serde_json::from_slice(&bytes).map_err(|error| Error::Undo(format!("evidence {}: {error}", evidence.hash)))
}

/// The evidence of changes that are not known.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct NotKnown {
    /// The reason.
    pub unknown: String,
    /// The snapshot before them. Earlier versions of Interlock did not record it.
    pub before: Option<String>,
}

/// Reads the changes of a write, or the reason why they are not known.
fn read_changes(engine: &dyn Engine, evidence: &Evidence) -> Result<(Option<Changes>, Option<NotKnown>)> {
    let json: serde_json::Value = read(engine, evidence)?;
    if let Ok(not_known) = NotKnown::deserialize(&json) {
        return Ok((None, Some(not_known)));
    }
    let changes = serde_json::from_value(json);
    changes
        .map(|changes| (Some(changes), None))
        .map_err(|error| Error::Undo(format!("evidence {}: {error}", evidence.hash)))
}

/// An undo that a person requests.
#[derive(Clone, Debug)]
pub struct TakeBackOrder {
    /// The writes to undo.
    pub writes: Writes,
    /// Restricts the undo to paths at or below these, relative to the root of the workspace; all paths if it is empty.
    pub paths: Vec<PathBuf>,
    /// Only report the result; change nothing.
    pub is_dry: bool,
    /// Restore the paths without conflicts, and leave paths that others have changed as they are.
    pub skip_conflicts: bool,
}

/// The result of an undo, or of a dry run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Undid {
    /// The sequence number of its own record; `None` if nothing was done.
    pub seq: Option<u64>,
    /// The records of the writes that it undoes.
    pub writes: Vec<u64>,
    /// The paths that were restored.
    pub files: Vec<Change>,
    /// The references that were moved back: by commits of Interlock, and by programs.
    pub commits: Vec<CommitBack>,
    /// Paths that others have changed since the write.
    pub conflicts: Vec<Conflict>,
    /// Paths that the run has changed and whose content is not kept, so that they stay as they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_kept: Vec<NotKept>,
    /// Records whose changes are not known, each with the reason.
    pub unknown: Vec<(u64, String)>,
    /// The snapshots before these records, as far as they are recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before_unknown: Vec<(u64, String)>,
    /// The snapshot of the workspace before the undo.
    pub snapshot: Option<String>,
}

/// A commit that an undo removes from its branch.
#[derive(Clone, Debug, Serialize)]
pub struct CommitBack {
    /// The branch, with its commits before and after.
    #[serde(flatten)]
    pub moved: Moved,
    /// True if the branch still points at the commit that the run made.
    pub is_ours: bool,
}

impl Undid {
    /// Returns true if the undo cannot be complete: others have changed a path or a branch, or the undo is partial.
    pub fn has_conflicts(&self) -> bool {
        !self.conflicts.is_empty() || self.commits.iter().any(|commit| !commit.is_ours) || self.is_partial()
    }

    /// Returns true if some changes of the run cannot be restored or are not known.
    pub fn is_partial(&self) -> bool {
        !self.not_kept.is_empty() || !self.unknown.is_empty()
    }

    /// Returns true if there is nothing to restore.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && !self.commits.iter().any(|commit| commit.is_ours)
    }
}

/// An undo that is planned and not yet carried out.
struct Plan {
    undo: Undo,
    undid: Undid,
}

/// Plans an undo of the selected writes.
fn plan(workspace: &Workspace, history: &History, writes: &Writes, paths: &[PathBuf]) -> Result<Plan> {
    let chosen = history.choose(writes)?;
    let changes: Vec<&Changes> = chosen.iter().filter_map(|write| write.changes.as_ref()).collect();
    let is_wanted = |path: &Path| paths.is_empty() || paths.iter().any(|wanted| path.starts_with(wanted));
    let undo = workspace.plan_undo(&history.folder, &changes, &is_wanted).map_err(not_done)?;
    let moved = chosen.iter().flat_map(|write| write.moves()).filter(|_| paths.is_empty());
    let undid = Undid {
        writes: chosen.iter().map(|write| write.seq).collect(),
        files: undo.files.clone(),
        commits: commits(workspace, &history.folder, moved)?,
        conflicts: undo.conflicts.clone(),
        not_kept: undo.not_kept.clone(),
        unknown: chosen.iter().filter_map(|write| Some((write.seq, write.unknown.clone()?))).collect(),
        before_unknown: chosen.iter().filter_map(|write| Some((write.seq, write.before_unknown.clone()?))).collect(),
        ..Undid::default()
    };
    Ok(Plan { undo, undid })
}

/// Returns the commits, newest first. `is_ours` is set if the branch still points at the commit after the newer ones
/// are undone.
fn commits<'m>(
    workspace: &Workspace,
    folder: &Path,
    moved: impl Iterator<Item = &'m Moved>,
) -> Result<Vec<CommitBack>> {
    let mut at: BTreeMap<&str, Option<String>> = BTreeMap::new();
    let mut commits = Vec::new();
    for moved in moved {
        if !at.contains_key(moved.reference.as_str()) {
            at.insert(&moved.reference, workspace.standing(folder, &moved.reference).map_err(not_done)?);
        }
        let standing = at.entry(&moved.reference).or_default();
        if *standing == moved.before {
            continue;
        }
        let is_ours = moved.is_at(standing.as_ref());
        if is_ours {
            standing.clone_from(&moved.before);
        } else if moved.reference.starts_with(REMOTES) {
            // A later fetch knows better.
            continue;
        }
        commits.push(CommitBack { moved: moved.clone(), is_ours });
    }
    // A commit and the undo of that commit leave nothing to undo.
    let is_moved = |reference: &str| -> Result<bool> {
        let now = workspace.standing(folder, reference).map_err(not_done)?;
        Ok(at.get(reference) != Some(&now))
    };
    let mut moving = Vec::new();
    for commit in commits {
        if !commit.is_ours || is_moved(&commit.moved.reference)? {
            moving.push(commit);
        }
    }
    Ok(moving)
}

/// Carries out a planned undo: restores the files, then the commits.
fn carry_out(workspace: &Workspace, folder: &Path, plan: &Plan) -> std::result::Result<(), String> {
    workspace.carry_out(&plan.undo).map_err(|error| error.to_string())?;
    let moves = back(&plan.undid.commits);
    let moves: Vec<Moved> = moves.iter().map(Moved::reversed).collect();
    workspace.take_back_moves(folder, &moves.iter().collect::<Vec<_>>()).map_err(|error| error.to_string())
}

fn not_done(error: interlock_workspace::Error) -> Error {
    Error::Undo(error.to_string())
}

impl Runtime {
    /// Undoes writes of a run at a person's request. If others have changed a path since then, nothing is done, unless
    /// such paths are to be skipped.
    pub async fn undo(&self, run: &Head, order: TakeBackOrder, by: By) -> Result<Undid> {
        let shared = Arc::clone(&self.0);
        let (head, asked) = (run.clone(), order.clone());
        let (history, plan) = on_a_thread(move || {
            let workspace = workspace(&shared)?;
            let mut history = History::of(&*shared.engine, &head)?;
            history.join_commits_to_their_turn();
            let plan = plan(workspace, &history, &asked.writes, &asked.paths)?;
            Ok((history, plan))
        })
        .await?;
        let stands_in_the_way = plan.undid.has_conflicts() && !order.skip_conflicts;
        if order.is_dry || stands_in_the_way || plan.undid.is_empty() {
            return Ok(plan.undid);
        }
        self.undo_now(run, history, plan, by).await
    }

    async fn undo_now(&self, run: &Head, history: History, plan: Plan, by: By) -> Result<Undid> {
        let shared = Arc::clone(&self.0);
        let (name, asker) = (run.name.clone(), by.clone());
        let (history, plan, undone) = on_a_thread(move || {
            let snapshot = workspace(&shared)?.take(&history.folder, &name).map_err(not_done)?;
            let undone = record(&shared, &plan.undid, snapshot, asker)?;
            Ok((history, plan, undone))
        })
        .await?;
        let seq = self.ask(run, Request::Undo(undone.clone()), by.clone()).await?.seq;
        let shared = Arc::clone(&self.0);
        let (done, mut undid) = on_a_thread(move || {
            let done = carry_out(workspace(&shared)?, &history.folder, &plan);
            Ok((done, plan.undid))
        })
        .await?;
        if let Err(why) = done {
            let told = self.0.redactor.text(&why).into_owned();
            let failed = Undone { failed: Some(told), evidence: Vec::new(), ..undone };
            self.ask(run, Request::Undo(failed), by).await?;
            return Err(Error::Undo(why));
        }
        (undid.seq, undid.snapshot) = (Some(seq), undone.snapshot);
        Ok(undid)
    }
}

/// Returns the record of an undo, and stores its evidence.
fn record(shared: &Shared, undid: &Undid, snapshot: String, by: By) -> Result<Undone> {
    let put = |name: &str, content: serde_json::Value| {
        shared.engine.evidence().put(name, "application/json", content.to_string().as_bytes())
    };
    let changes = Changes {
        before: snapshot.clone(),
        after: None,
        before_tree: None,
        after_tree: None,
        files: undid.files.clone(),
        not_kept: Vec::new(),
        breaches: Vec::new(),
        references: back(&undid.commits),
    };
    let mut evidence = Vec::new();
    if !changes.files.is_empty() || !changes.references.is_empty() {
        evidence.push(put(CHANGES, serde_json::json!(changes))?);
    }
    if !undid.conflicts.is_empty() {
        // Redact this evidence: unlike the others, it shows the content of files.
        let store = shared.engine.evidence().redacting(Arc::clone(&shared.redactor));
        let conflicts = serde_json::json!(undid.conflicts).to_string();
        evidence.push(store.put("conflicts", "application/json", conflicts.as_bytes())?);
    }
    let (put_back, left) = (undid.files.len() as u64, undid.conflicts.len() as u64);
    Ok(Undone { by, writes: undid.writes.clone(), put_back, left, snapshot: Some(snapshot), failed: None, evidence })
}

/// Returns the moves of the references that undoing the commits causes, from their values now to those before.
fn back(commits: &[CommitBack]) -> Vec<Moved> {
    let mut moves: BTreeMap<&str, Moved> = BTreeMap::new();
    for CommitBack { moved, .. } in commits.iter().filter(|commit| commit.is_ours) {
        let reversed = moved.reversed();
        // The newest move comes first and the oldest one last.
        moves.entry(&moved.reference).and_modify(|all| all.after.clone_from(&reversed.after)).or_insert(reversed);
    }
    moves.into_values().filter(|moved| moved.before.as_ref() != Some(&moved.after)).collect()
}

fn workspace(shared: &Shared) -> Result<&Workspace> {
    shared.snapshots.workspace().ok_or_else(|| Error::Undo("this run has no stored changes to undo".into()))
}

async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(Error::Undo(error.to_string())))
}

/// Undoes writes at the request of the run's own machine. The attempt that asks for it records its changes like any
/// other.
pub(crate) async fn take_back(shared: Arc<Shared>, order: TakeBack) -> std::result::Result<TakenBack, String> {
    blocking(&shared, move |shared| {
        let work = || {
            let head = shared.engine.find(&order.run)?.ok_or_else(|| Error::Undo("the run does not exist".into()))?;
            let workspace = workspace(shared)?;
            let history = History::of(&*shared.engine, &head)?;
            let plan = plan(workspace, &history, &order.writes, &order.paths)?;
            if !plan.undid.has_conflicts() {
                if let Some(before) = &order.snapshot {
                    let announced = workspace.announce_undo(&history.folder, &order.run, before, &plan.undo);
                    announced.map_err(not_done)?;
                }
                carry_out(workspace, &history.folder, &plan).map_err(Error::Undo)?;
            }
            Ok(taken_back(&plan.undid))
        };
        work().map_err(|error: Error| error.to_string())
    })
    .await
}

fn taken_back(undid: &Undid) -> TakenBack {
    let commits = undid.commits.iter().filter(|commit| !commit.is_ours);
    let conflicts = undid.conflicts.iter().map(|conflict| conflict.path.display().to_string());
    let view = undid
        .conflicts
        .iter()
        .map(|conflict| format!("{}: {}\n{}", conflict.path.display(), conflict.why, conflict.view));
    let not_kept = undid.not_kept.iter().map(|path| (path.path.display().to_string(), path.why.words()));
    let unknown = undid.unknown.iter().map(|(seq, why)| (format!("record {seq}"), why.clone()));
    let partial: Vec<(String, String)> = not_kept.chain(unknown).collect();
    let view = view.chain(partial.iter().map(|(path, why)| format!("{path}: {why}\n")));
    TakenBack {
        writes: undid.writes.clone(),
        paths: undid.files.iter().map(|change| change.path.display().to_string()).collect(),
        view: view.collect(),
        conflicts: conflicts
            .chain(commits.map(|commit| commit.moved.reference.clone()))
            .chain(partial.iter().map(|(path, _)| path.clone()))
            .collect(),
    }
}
