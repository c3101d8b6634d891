//! `interlock grant`: grants permissions that policy asks a person about.
//!
//! `--list` and `--revoke` are about permissions that were granted for a workspace (`interlock_activities`).
//!
//! If the run waits in a state that asks for exactly these permissions (`grants` in the machine file), the event that
//! the state names is sent as well, and the run is followed as by `interlock send`.

use interlock_activities::WorkspaceGrants;
use interlock_chart::Value;
use interlock_journal::{Engine as _, Head, moment};
use interlock_runtime::{Clock as _, GrantOffer, SystemClock, fresh_id};
use serde_json::{Value as Json, json};

use super::{
    Outcome,
    send::{Sending, deliver},
};
use crate::{
    Exit,
    args::Grant,
    drive::{block_on, let_go},
    escape,
    failure::Failure,
    follow::Follower,
    output::Output,
    store::{Store, home, user},
    table,
};

/// Grants a run one scope after the other, each in a separate record.
pub(crate) fn run(args: &Grant, output: &Output) -> Outcome {
    if args.list {
        return list(output);
    }
    let Some(run) = &args.run else { return revoke(&args.revoke, output) };
    let store = Store::open()?;
    let head = store.find(run)?;
    // A grant needs a limit: without a duration it can be used once.
    let uses = args.uses.or(args.for_ms.is_none().then_some(1));
    let granted = grant(&store, &head, args, uses)?;
    let waiting = if args.only { None } else { satisfied(&store, &head)? };
    let json = granted_json(&granted);
    if !output.is_json() {
        for (scope, seq) in &granted {
            output.data(&format!("{}  granted {scope}  record {seq}\n", head.name))?;
        }
    }
    if let Some(offer) = waiting {
        let sending =
            Sending { event: offer.event, data: Value::empty(), id: fresh_id(), is_left: false, granted: Some(json) };
        return deliver(&store, head, sending, output);
    }
    if output.is_json() {
        output.json(&json!({ "run": head.name, "granted": json, "for_ms": args.for_ms, "uses": uses }))?;
    }
    Ok(Exit::Good)
}

fn grant(store: &Store, head: &Head, args: &Grant, uses: Option<u32>) -> Result<Vec<(String, u64)>, Failure> {
    block_on(async {
        let runtime = store.runtime()?;
        let mut granted = Vec::new();
        for scope in &args.scopes {
            let seq = runtime.grant(head, scope, args.for_ms, uses, user()).await?;
            granted.push((scope.clone(), seq));
        }
        if store.journal.holder(head.key)?.is_none_or(|holder| holder.worker == store.journal.worker()) {
            let_go(&runtime, head).await?;
        }
        Ok(granted)
    })
}

fn granted_json(granted: &[(String, u64)]) -> Json {
    granted.iter().map(|(scope, seq)| json!({ "scope": scope, "seq": seq })).collect()
}

/// Returns the permissions that the run waits for, if all of them are granted now.
fn satisfied(store: &Store, head: &Head) -> Result<Option<GrantOffer>, Failure> {
    let follower = Follower::from_now(store, head.clone())?;
    let offer = follower.offers().grant;
    Ok(offer.filter(|offer| follower.live.grants.covers(&offer.scopes, follower.now_ms())))
}

/// Lists the permissions that were granted for workspaces.
fn list(output: &Output) -> Outcome {
    let grants = WorkspaceGrants::new(&home()?).list().map_err(Failure::failed)?;
    if output.is_json() {
        output.json(&grants)?;
        return Ok(Exit::Good);
    }
    if grants.is_empty() {
        output.talk("No permission is granted for a workspace\n");
        return Ok(Exit::Good);
    }
    let rows = grants.into_iter().map(|grant| {
        let granted = moment::rfc3339(grant.granted_ms);
        let workspace = escape::line(&grant.workspace.display().to_string());
        [grant.id, grant.machine, escape::line(&grant.permission), workspace, granted, grant.run]
    });
    output.data(&table::text(["id", "machine", "permission", "workspace", "granted", "run"], rows, output))?;
    Ok(Exit::Good)
}

/// Revokes permissions that were granted for workspaces.
fn revoke(ids: &[String], output: &Output) -> Outcome {
    let grants = WorkspaceGrants::new(&home()?);
    let mut revoked = Vec::new();
    for id in ids {
        let found = grants.revoke(id, SystemClock.now_ms()).map_err(Failure::failed)?;
        let unknown = || Failure::bad_input(format!("there is no grant `{id}` for a workspace"));
        let grant = found.ok_or_else(|| unknown().hint("`interlock grant --list` lists them"))?;
        if !output.is_json() {
            let (permission, workspace) = (&grant.permission, grant.workspace.display().to_string());
            let (permission, workspace) = (escape::line(permission), escape::line(&workspace));
            output.data(&format!("{id}  revoked {permission} in {workspace}\n"))?;
        }
        revoked.push(grant);
    }
    if output.is_json() {
        output.json(&revoked)?;
    }
    Ok(Exit::Good)
}
