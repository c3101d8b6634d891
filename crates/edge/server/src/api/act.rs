//! Acts on runs. Every action is recorded with the name of its sender.

use std::path::PathBuf;

use axum::{
    Extension, Json,
    extract::{Path, State as Extracted},
    http::StatusCode,
};
use interlock_activity::Writes;
use interlock_chart::{Value as Data, model::Raiser};
use interlock_follow::Follower;
use interlock_journal::Phase;
use interlock_runtime::{NewFork, TakeBackOrder, fresh_id};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Body, Sender, by, machines::is_listed, rows::row};
use crate::{
    Role, WantedRun,
    app::{State, blocking},
    problem::{Problem, Result},
};

/// A run to start.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewRun {
    machine: String,
    folder: PathBuf,
    #[serde(default)]
    input: Option<Value>,
    name: Option<String>,
    agent: Option<String>,
}

/// Starts a run.
pub(super) async fn start(
    Extracted(app): Extracted<State>,
    Extension(sender): Sender,
    Body(new): Body<NewRun>,
) -> Result<(StatusCode, Json<Value>)> {
    let by = by(&sender);
    let start = blocking(&app, move |app| {
        let folder = app.folders.admit(&new.folder)?;
        is_listed(&new.machine, &folder)?;
        let input = new.input.unwrap_or_else(|| json!({}));
        app.services.prepare(WantedRun { machine: new.machine, input, folder, name: new.name, agent: new.agent, by })
    })
    .await?;
    let name = start.name.clone();
    let head = match app.runtime.start(start).await {
        Ok(head) => head,
        Err(error) => {
            name.iter().for_each(|name| app.services.not_started(name));
            return Err(error.into());
        }
    };
    Ok((StatusCode::CREATED, Json(row(&head))))
}

/// An event to send.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewEvent {
    event: String,
    #[serde(default)]
    data: Option<Value>,
    id: Option<String>,
}

/// Sends an event.
pub(super) async fn send(
    Extracted(app): Extracted<State>,
    Extension(sender): Sender,
    Path(run): Path<String>,
    Body(new): Body<NewEvent>,
) -> Result<Json<Value>> {
    let mut head = app.head(&run)?;
    if sender.role == Role::Agent {
        let follower = app.follow(&run)?;
        refuse_events_of_people(&follower, &new.event)?;
    }
    let data = Data::from(new.data.unwrap_or_else(|| json!({})));
    let (event, id) = (new.event, new.id.unwrap_or_else(fresh_id));
    let mut continues = None;
    if head.phase.is_over() {
        let (ended, event, id, by) = (head.clone(), event.clone(), id.clone(), by(&sender));
        if let Some(next) = blocking(&app, move |app| app.services.continue_run(&ended, &event, &id, by)).await? {
            continues = Some(std::mem::replace(&mut head, next).name);
        }
    }
    let sent = app.runtime.send_once(&head, &event, data, by(&sender), &id).await?;
    let mut json = json!({ "run": head.name, "seq": sent.seq, "repeated": sent.is_repeated, "fired": sent.fired });
    if continues.is_some() {
        json["continues"] = json!(continues);
    }
    Ok(Json(json))
}

/// An agent must not approve itself: it sends only events that the machine takes from other runs.
fn refuse_events_of_people(follower: &Follower, event: &str) -> Result<()> {
    let chart = follower.live.loaded.chart();
    let from = chart.find_event(event).map(|id| chart.event(id).from);
    match from {
        Some(Raiser::Run | Raiser::Any) => Ok(()),
        _ => Err(Problem::new(StatusCode::FORBIDDEN, "FORBIDDEN", format!("only a person may send `{event}`"))
            .hint("a person answers on the page or with `interlock send`; a machine allows agents with `from: run`")),
    }
}

/// Permissions to grant.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grant {
    scopes: Vec<String>,
    for_ms: Option<u64>,
    uses: Option<u32>,
}

/// Grants permissions. A run that waits for exactly these goes on.
pub(super) async fn grant(
    Extracted(app): Extracted<State>,
    Extension(sender): Sender,
    Path(run): Path<String>,
    Body(grant): Body<Grant>,
) -> Result<Json<Value>> {
    let head = app.head(&run)?;
    // A grant needs a limit: without a duration it can be used once.
    let uses = grant.uses.or(grant.for_ms.is_none().then_some(1));
    let mut granted = Vec::new();
    for scope in &grant.scopes {
        let seq = app.runtime.grant(&head, scope, grant.for_ms, uses, by(&sender)).await?;
        granted.push(json!({ "scope": scope, "seq": seq }));
    }
    let follower = app.follow(&run)?;
    let waiting = follower.offers().grant;
    let covered = waiting.filter(|offer| follower.live.grants.covers(&offer.scopes, follower.now_ms()));
    if let Some(offer) = covered {
        app.runtime.send(&head, &offer.event, Data::empty(), by(&sender)).await?;
    }
    Ok(Json(json!({ "run": run, "granted": granted })))
}

/// Pauses a run.
pub(super) async fn pause(
    Extracted(app): Extracted<State>,
    Extension(sender): Sender,
    Path(run): Path<String>,
) -> Result<Json<Value>> {
    let seq = app.runtime.pause(&app.head(&run)?, by(&sender)).await?;
    Ok(Json(json!({ "run": run, "seq": seq })))
}

/// Continues a run.
pub(super) async fn resume(
    Extracted(app): Extracted<State>,
    Extension(sender): Sender,
    Path(run): Path<String>,
) -> Result<Json<Value>> {
    let head = app.head(&run)?;
    if head.phase == Phase::Paused {
        let seq = app.runtime.resume(&head, by(&sender)).await?;
        return Ok(Json(json!({ "run": run, "seq": seq })));
    }
    let worker = app.runtime.adopt(head.key).await?;
    Ok(Json(json!({ "run": run, "seq": head.seq, "worker": worker })))
}

/// Aborts a run.
pub(super) async fn abort(
    Extracted(app): Extracted<State>,
    Extension(sender): Sender,
    Path(run): Path<String>,
) -> Result<Json<Value>> {
    let follower = app.follow(&run)?;
    let event = follower.abort_event().ok_or_else(|| {
        Problem::refused(format!("no event aborts {run} in {}", follower.live.place())).hint("pause it instead")
    })?;
    let seq = app.runtime.send(&follower.head, &event, Data::empty(), by(&sender)).await?;
    Ok(Json(json!({ "run": run, "event": event, "seq": seq })))
}

/// The record at which a run is forked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ForkAt {
    at: u64,
    name: Option<String>,
}

/// Makes a new run from the first records of another.
pub(super) async fn fork(
    Extracted(app): Extracted<State>,
    Extension(sender): Sender,
    Path(run): Path<String>,
    Body(fork): Body<ForkAt>,
) -> Result<(StatusCode, Json<Value>)> {
    let by = by(&sender);
    let new = blocking(&app, move |app| {
        let wanted = NewFork { at: fork.at, by, accepts_unproved: false };
        let head = app.head(&run)?;
        let mut new = app.runtime.fork(&head, wanted)?;
        if let Some(name) = fork.name {
            new.name = name;
        }
        app.services.forks(&head, &new.name)?;
        Ok(new)
    })
    .await?;
    let head = app.engine().create(new).await?;
    app.runtime.adopt(head.key).await?;
    Ok((StatusCode::CREATED, Json(row(&head))))
}

/// The writes to undo.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Undo {
    dry_run: bool,
    #[serde(default)]
    skip_conflicts: bool,
    to: Option<u64>,
    write: Option<u64>,
    #[serde(default)]
    paths: Vec<PathBuf>,
}

/// Undoes writes, or returns the changes that an undo would make.
pub(super) async fn undo(
    Extracted(app): Extracted<State>,
    Extension(sender): Sender,
    Path(run): Path<String>,
    Body(undo): Body<Undo>,
) -> Result<Json<Value>> {
    let head = app.head(&run)?;
    let writes = match (undo.to, undo.write) {
        (Some(seq), _) => Writes::After(seq),
        (None, Some(seq)) => Writes::Record(seq),
        (None, None) => Writes::Run,
    };
    let order = TakeBackOrder { writes, paths: undo.paths, is_dry: undo.dry_run, skip_conflicts: undo.skip_conflicts };
    let undid = app.runtime.undo(&head, order, by(&sender)).await?;
    if undid.seq.is_some() {
        let services = std::sync::Arc::clone(&app.services);
        // The undo stands, even if the services do not hear of it.
        let _ = tokio::task::spawn_blocking(move || services.undone(&head)).await;
    }
    let is_refused = undid.has_conflicts() && !undo.skip_conflicts;
    let mut json = json!({ "run": run, "done": undid.seq.is_some(), "refused": is_refused });
    if let (Value::Object(json), Value::Object(fields)) = (&mut json, json!(undid)) {
        json.extend(fields);
    }
    Ok(Json(json))
}
