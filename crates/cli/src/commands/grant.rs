//! `interlock grant`: grants permissions that policy asks a person about.
//!
//! If the run waits in a state that asks for exactly these permissions (`grants` in the machine file), the event that
//! the state names is sent as well, and the run is followed as by `interlock send`.

use interlock_chart::Value;
use interlock_journal::{Engine as _, Head};
use interlock_runtime::{GrantOffer, fresh_id};
use serde_json::{Value as Json, json};

use super::{
    Outcome,
    send::{Sending, deliver},
};
use crate::{
    Exit,
    args::Grant,
    drive::{block_on, let_go},
    failure::Failure,
    follow::Follower,
    output::Output,
    store::{Store, user},
};

/// Grants a run one scope after the other, each in a separate record.
pub(crate) fn run(args: &Grant, output: &Output) -> Outcome {
    let store = Store::open()?;
    let head = store.find(&args.run)?;
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
