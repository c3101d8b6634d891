//! `interlock grant`: a person says yes to something that policy asks about.

use interlock_journal::Engine as _;
use serde_json::json;

use super::Outcome;
use crate::{
    Exit,
    args::Grant,
    drive::{block_on, let_go},
    output::Output,
    store::{Store, user},
};

/// Grants a run one scope after the other, each as a record of its own.
pub(crate) fn run(args: &Grant, output: &Output) -> Outcome {
    let store = Store::open()?;
    let head = store.find(&args.run)?;
    // A yes without an end is no yes to anything in particular.
    let uses = args.uses.or(args.for_ms.is_none().then_some(1));
    let granted = block_on(async {
        let runtime = store.runtime()?;
        let mut granted = Vec::new();
        for scope in &args.scopes {
            let seq = runtime.grant(&head, scope, args.for_ms, uses, user()).await?;
            granted.push((scope, seq));
        }
        if store.journal.holder(head.key)?.is_none_or(|holder| holder.worker == store.journal.worker()) {
            let_go(&runtime, &head).await?;
        }
        Ok(granted)
    })?;
    if output.is_json() {
        let rows = granted.iter().map(|(scope, seq)| json!({ "scope": scope, "seq": seq })).collect::<Vec<_>>();
        output.json(&json!({ "run": head.name, "granted": rows, "for_ms": args.for_ms, "uses": uses }))?;
        return Ok(Exit::Good);
    }
    for (scope, seq) in granted {
        output.data(&format!("{}  granted {scope}  record {seq}\n", head.name))?;
    }
    Ok(Exit::Good)
}
