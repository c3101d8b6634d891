//! `interlock fork`: creates a run that shares the first records of another.

use interlock_journal::{Engine as _, Head};
use interlock_runtime::{NewFork, fork};
use serde_json::json;

use super::{Outcome, run::name};
use crate::{
    Exit,
    args::Fork,
    continuation,
    failure::Failure,
    output::Output,
    store::{Store, user},
};

/// Creates a run from the first records of another one.
pub(crate) fn run(args: &Fork, output: &Output) -> Outcome {
    let store = Store::open()?;
    let head = store.find(&args.run)?;
    if args.at == 0 || args.at > head.seq {
        return Err(Failure::bad_input(format!("{} has no record {}", head.name, args.at))
            .hint(format!("it has records 1 to {}", head.seq)));
    }
    let named = name(args.name.as_deref())?;
    let wanted = NewFork { at: args.at, by: user(), accepts_unproved: args.unproved };
    let mut new = fork(&*store.engine(), &store.proofs(), &head, wanted)?;
    if let Some(name) = named {
        new.name = name;
    }
    continuation::remember_begin(&store, &head, &new.name)?;
    let made = store.journal.create(new).wait()?;
    if output.is_json() {
        output.json(&json!({ "run": made.name, "from": head.name, "at": args.at, "place": made.place }))?;
        return Ok(Exit::Good);
    }
    output.data(&format!("{}\n", made.name))?;
    output.talk(&match made.phase.is_over() {
        false => format!("It is in {}. Continue it with:\n    interlock resume {}\n", made.place, made.name),
        true => at_the_end(&head, &made),
    });
    Ok(Exit::Good)
}

/// The message for a fork at the record that ended the run: it cannot continue, but a fork at an earlier record can.
fn at_the_end(of: &Head, made: &Head) -> String {
    format!(
        "It has ended in {place}, as {name} did at that record, so it cannot continue. To take another path, fork an earlier record:\n    \
         interlock trace {name}  # lists the records\n    interlock fork {name} --at N\n",
        place = made.place,
        name = of.name,
    )
}
