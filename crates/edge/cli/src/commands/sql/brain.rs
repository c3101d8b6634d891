//! The views `brain_sessions`, `brain_rounds` and `brain_executions`: the runs of the machine `brain`, replayed.

use interlock_journal::{AttemptResult, Engine as _, Entry, Filter, Hash, Head, Phase};
use interlock_runtime::Move;
use interlock_sqlite::{Cell, View};
use serde_json::{Value as Json, json};

use crate::{
    failure::Failure,
    follow::{Follower, Step},
    store::Store,
};

/// The machine whose runs are shown.
const MACHINE: &str = "brain";

/// The state that only groups others: the state below it is the one of the specification.
const GROUP: &str = "WORKING";

const SESSIONS: &[&str] = &[
    "id",
    "namespace",
    "main_session_id",
    "review_session_id",
    "review_model",
    "review_model_variant",
    "status",
    "context_summary",
    "review_result",
    "created_at",
    "updated_at",
    "completed_at",
    "applied_suggestion_ids",
    "current_state",
    "state_context",
];

const ROUNDS: &[&str] = &[
    "id",
    "review_session_id",
    "round_number",
    "user_input",
    "ai_summary",
    "original_message_ids",
    "started_at",
    "ended_at",
    "created_at",
];

const EXECUTIONS: &[&str] = &[
    "id",
    "review_session_id",
    "rounds_reviewed",
    "reviewed_round_numbers",
    "time_range_start",
    "time_range_end",
    "prompt",
    "result",
    "status",
    "progress_log",
    "created_at",
    "completed_at",
    "seq",
    "from_state",
    "signal",
    "to_state",
    "reason",
    "evidence_refs",
];

/// Returns the three views over all runs of the machine, oldest run first.
pub(super) fn views(store: &Store) -> Result<Vec<View>, Failure> {
    let (mut sessions, mut rounds, mut executions) = (Vec::new(), Vec::new(), Vec::new());
    let mut heads = store.journal.list(&Filter { machine: Some(MACHINE.to_owned()), ..Filter::default() })?;
    heads.reverse();
    for head in heads {
        let mut follower = Follower::from_start(store, head)?;
        let steps = follower.catch_up()?;
        let session = Session::read(&follower, &steps);
        sessions.push(session.row(&follower));
        rounds.extend(session.rounds.iter().enumerate().map(|(at, round)| round.row(&session.run, at + 1)));
        executions.extend(session.executions);
    }
    Ok(vec![
        View { name: "brain_sessions", columns: SESSIONS, rows: sessions },
        View { name: "brain_rounds", columns: ROUNDS, rows: rounds },
        View { name: "brain_executions", columns: EXECUTIONS, rows: executions },
    ])
}

/// The data of one run that is collected from its records.
#[derive(Default)]
struct Session {
    run: String,
    folder: Option<String>,
    task: Option<String>,
    main_session: Option<String>,
    reviewer: Option<String>,
    review: Option<String>,
    completed_ms: Option<i64>,
    /// The executions whose suggestion was passed on to the main session.
    applied: Vec<String>,
    last_signal: Option<String>,
    last_detail: Option<String>,
    rounds: Vec<Round>,
    executions: Vec<Vec<Cell>>,
    /// The round after which the last review began.
    reviewed: usize,
}

/// One round of the main session.
struct Round {
    input: String,
    summary: Option<String>,
    records: Vec<u64>,
    started_ms: i64,
    ended_ms: Option<i64>,
}

impl Session {
    fn read(follower: &Follower, steps: &[Step]) -> Self {
        let mut session = Session { run: follower.head.name.clone(), ..Session::default() };
        for step in steps {
            session.see(step);
            for (at, each) in step.moves.iter().filter(|each| each.taken).enumerate() {
                session.executed(at, each, step);
            }
        }
        if follower.phase().is_over() {
            session.completed_ms = steps.last().map(|step| step.record.at_ms);
        }
        session
    }

    fn see(&mut self, step: &Step) {
        let at_ms = step.record.at_ms;
        if let Entry::Created(created) = &step.entry {
            self.folder.clone_from(&created.folder);
            self.task = Json::from(&created.input)["task"].as_str().map(str::to_owned);
        }
        let Some(activity) = step.activity.as_ref().filter(|activity| activity.name == "agent.prompt") else { return };
        let input = Json::from(&activity.with)["text"].as_str().unwrap_or_default().to_owned();
        let is_open = self.rounds.last().is_some_and(|round| round.ended_ms.is_none());
        if !is_open {
            let records = Vec::new();
            self.rounds.push(Round { input, summary: None, records, started_ms: at_ms, ended_ms: None });
        }
        let Some(round) = self.rounds.last_mut() else { return };
        round.records.push(step.record.seq);
        if let Entry::Outcome { result, .. } = &step.entry {
            round.ended_ms = Some(at_ms);
            if let AttemptResult::Signal { data, .. } = result {
                let data = Json::from(data);
                round.summary = data["summary"].as_str().map(str::to_owned);
                self.main_session = data["session"].as_str().map(str::to_owned).or(self.main_session.take());
            }
        }
    }

    fn executed(&mut self, at: usize, each: &Move, step: &Step) {
        let id = format!("{}:{}:{at}", self.run, each.seq);
        let signal = each.event.clone();
        let is_review = each.activity.as_ref().is_some_and(|ended| ended.name == "judge.review");
        let first = if is_review { self.reviewed } else { self.rounds.len() };
        let numbers: Vec<usize> = (first + 1..=self.rounds.len()).collect();
        let range = self.rounds.get(first).map(|round| round.started_ms);
        let end = self.rounds.last().and_then(|round| round.ended_ms);
        if is_review {
            self.reviewed = self.rounds.len();
            self.reviewer = each.judge.as_ref().map(|judge| judge.name.clone()).or(self.reviewer.take());
            self.review.clone_from(&each.reason);
        }
        if each.data["suggestion"].is_string() && each.to_state.as_deref() == Some("CODING") {
            self.applied.push(id.clone());
        }
        self.last_signal.clone_from(&signal);
        self.last_detail.clone_from(&each.reason);
        let prompt = each.evidence_names.iter().position(|name| name == "prompt").map(|at| each.evidence_refs[at]);
        let status = match each.to_state.as_deref() {
            Some("FAILED") => "failed",
            Some("CANCELLED") => "cancelled",
            _ => "completed",
        };
        let log =
            json!([{ "id": each.seq, "type": kind(&step.entry), "content": each.reason, "timestamp": each.at_ms }]);
        self.executions.push(vec![
            Cell::Text(id),
            Cell::Text(self.run.clone()),
            number(numbers.len()),
            Cell::Text(json!(numbers).to_string()),
            range.filter(|_| is_review).map_or(Cell::Null, Cell::Integer),
            end.filter(|_| is_review).map_or(Cell::Null, Cell::Integer),
            Cell::text(prompt.map(|hash: Hash| hash.to_string())),
            Cell::text(result(&each.data)),
            Cell::Text(status.to_owned()),
            Cell::Text(log.to_string()),
            Cell::Integer(each.at_ms),
            Cell::Integer(each.at_ms),
            Cell::Integer(i64::try_from(each.seq).unwrap_or(i64::MAX)),
            Cell::text(each.from_state.clone()),
            Cell::text(signal),
            Cell::text(each.to_state.clone()),
            Cell::text(each.reason.clone()),
            Cell::Text(json!(each.evidence_refs).to_string()),
        ]);
    }

    fn row(&self, follower: &Follower) -> Vec<Cell> {
        let Head { created_ms, updated_ms, .. } = follower.head;
        vec![
            Cell::Text(self.run.clone()),
            Cell::text(self.folder.clone()),
            Cell::text(self.main_session.clone()),
            Cell::Text(self.run.clone()),
            Cell::text(self.reviewer.clone()),
            Cell::Null,
            Cell::Text(self.status(follower.phase()).to_owned()),
            Cell::text(self.task.clone()),
            Cell::text(self.review.clone()),
            Cell::Integer(created_ms),
            Cell::Integer(updated_ms),
            self.completed_ms.map_or(Cell::Null, Cell::Integer),
            Cell::Text(json!(self.applied).to_string()),
            Cell::Text(current_state(follower)),
            Cell::Text(self.context(follower).to_string()),
        ]
    }

    fn status(&self, phase: Phase) -> &'static str {
        match phase {
            Phase::Succeeded | Phase::Incomplete => "completed",
            Phase::Failed => "failed",
            Phase::Aborted => "cancelled",
            _ if self.rounds.iter().all(|round| round.ended_ms.is_none()) => "pending",
            _ => "active",
        }
    }

    fn context(&self, follower: &Follower) -> Json {
        let counters = follower.live.loaded.chart().counters.iter().zip(&follower.live.state.counters);
        let retries: serde_json::Map<String, Json> =
            counters.map(|(counter, count)| (counter.name.clone(), json!(count))).collect();
        json!({
            "retries": retries,
            "lastSignal": self.last_signal,
            "lastSignalDetail": self.last_detail,
            "place": follower.live.place(),
        })
    }
}

impl Round {
    fn row(&self, run: &str, round: usize) -> Vec<Cell> {
        vec![
            Cell::Text(format!("{run}:{round}")),
            Cell::Text(run.to_owned()),
            number(round),
            Cell::Text(self.input.clone()),
            Cell::text(self.summary.clone()),
            Cell::Text(json!(self.records).to_string()),
            Cell::Integer(self.started_ms),
            self.ended_ms.map_or(Cell::Null, Cell::Integer),
            Cell::Integer(self.started_ms),
        ]
    }
}

/// Returns the state of the specification that the run is in: a child of the machine, or of the state that groups them.
fn current_state(follower: &Follower) -> String {
    let chart = follower.live.loaded.chart();
    let active = follower.live.state.configuration.iter().map(|state| chart.state(state).name.as_str());
    let mut below = active.skip(1).filter(|name| *name != GROUP);
    below.next().unwrap_or_default().to_owned()
}

/// Returns the data of an event as text; `None` if there is none.
fn result(data: &Json) -> Option<String> {
    let is_empty = data.is_null() || data.as_object().is_some_and(serde_json::Map::is_empty);
    (!is_empty).then(|| data.to_string())
}

fn kind(entry: &Entry) -> &'static str {
    Entry::kind_word(entry.kind())
}

fn number(count: usize) -> Cell {
    Cell::Integer(i64::try_from(count).unwrap_or(i64::MAX))
}
