//! `interlock replay`: shows a run as it was after one of its records.

use interlock_runtime::replay;
use serde_json::json;

use super::{Outcome, show};
use crate::{
    Exit,
    args::Replay,
    failure::Failure,
    follow::state_json,
    output::Output,
    store::{Store, registry},
    why,
};

/// Replays a run up to a record and shows its state.
pub(crate) fn run(args: &Replay, output: &Output) -> Outcome {
    let store = Store::open()?;
    let head = store.find(&args.run)?;
    let at = args.at.unwrap_or(head.seq);
    if at == 0 || at > head.seq {
        return Err(Failure::bad_input(format!("{} has no record {at}", head.name))
            .hint(format!("it has records 1 to {}", head.seq)));
    }
    let mut last = Vec::new();
    let live = replay(&*store.engine(), &head, at, |frame| last = frame.moves)?;
    let phase = live.phase(registry());
    if output.is_json() {
        let mut json = state_json(&live, live.at_ms);
        json["run"] = json!(head.name);
        json["seq"] = json!(at);
        json["phase"] = json!(phase);
        json["moves"] = json!(last);
        output.json(&json)?;
        return Ok(Exit::Good);
    }
    output.data(&format!("{} after record {at} of {}: {} in {}\n", head.name, head.seq, phase.word(), live.place()))?;
    for line in why::lines(&last) {
        output.data(&format!("  {line}\n"))?;
    }
    output.data(&show::state_text(&live, live.at_ms, output))?;
    Ok(Exit::Good)
}
