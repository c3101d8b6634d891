//! `interlock verify`: checks that the records of runs are unchanged and complete.

use interlock_chart::counted;
use interlock_journal::{Engine as _, Filter, Head};
use interlock_runtime::{Problem, verify};
use interlock_sqlite::Audit;
use serde_json::json;

use super::Outcome;
use crate::{
    Exit,
    anchor::{Anchors, Key, PublicKey, Settings},
    args,
    failure::Failure,
    output::Output,
    store::{Store, registry},
};

/// Verifies the store as a whole, then the named runs, or all runs if none is named.
pub(crate) fn run(args: &args::Verify, output: &Output) -> Outcome {
    let store = Store::open()?;
    let heads = match args.runs.as_slice() {
        [] => store.journal.list(&Filter::default())?,
        runs => runs.iter().map(|run| store.find(run)).collect::<Result<_, _>>()?,
    };
    let mut checked = Vec::new();
    for head in &heads {
        let problems = verify(&*store.engine(), registry(), head).map_err(Failure::from)?;
        if !output.is_json() {
            output.data(&text(head, &problems, output))?;
        }
        checked.push((head, problems));
    }
    let whole = check_store(args, &store)?;
    match output.is_json() {
        true => output.json(&to_json(&checked, &whole))?,
        false => output.data(&store_text(&whole, output))?,
    }
    let is_good = checked.iter().all(|(_, problems)| problems.is_empty()) && whole.problems.is_empty();
    Ok(if is_good { Exit::Good } else { Exit::Failed })
}

/// The result of verifying the store as a whole.
struct Whole {
    audit: Audit,
    anchors: usize,
    problems: Vec<String>,
}

fn check_store(args: &args::Verify, store: &Store) -> Result<Whole, Failure> {
    let anchors = args.anchor.as_deref().map(Anchors::read).transpose()?.unwrap_or_default();
    let audit = store.journal.audit(&anchors.records())?;
    let mut problems = store.journal.integrity()?;
    problems.extend(audit.problems.iter().cloned());
    if anchors.len() > 0 {
        problems.extend(anchors.problems(&audit, &key(args, store)?));
    }
    Ok(Whole { audit, anchors: anchors.len(), problems })
}

/// Returns the key that anchors must be signed with: the named key, or the public part of the user's key.
fn key(args: &args::Verify, store: &Store) -> Result<PublicKey, Failure> {
    if let Some(text) = &args.public_key {
        let wrong = || Failure::bad_input(format!("`{text}` is not a public key"));
        return PublicKey::from_hex(text)
            .ok_or_else(|| wrong().hint("a public key has 64 hex digits; `interlock anchor --public-key` prints it"));
    }
    let path = Settings::read(&store.home)?.key_path(args.key.as_deref(), &store.home)?;
    let missing = || Failure::bad_input(format!("there is no key {} to verify anchors with", path.display()));
    match path.exists() {
        true => Ok(Key::read(&path)?.public()),
        false => Err(missing().hint("name the public key with --public-key, or the key's file with --key")),
    }
}

fn to_json(checked: &[(&Head, Vec<Problem>)], whole: &Whole) -> serde_json::Value {
    let row = |(head, problems): &(&Head, Vec<Problem>)| json!({ "run": head.name, "ok": problems.is_empty(), "records": head.seq, "problems": problems });
    let mut rows: Vec<_> = checked.iter().map(row).collect();
    rows.push(json!({
        "store": whole.audit.head.store, "ok": whole.problems.is_empty(), "records": whole.audit.head.records,
        "hash": whole.audit.head.hash, "anchors": whole.anchors, "problems": whole.problems,
    }));
    rows.into()
}

fn text(head: &Head, problems: &[Problem], output: &Output) -> String {
    if problems.is_empty() {
        let records = counted(head.seq, "record unchanged", "records unchanged");
        return format!("{} {}: {records}\n", output.green("✓"), head.name);
    }
    let mut text = format!("{} {}: records were changed\n", output.bad("✗"), head.name);
    for problem in problems {
        let record = problem.seq.map(|seq| format!("record {seq}: ")).unwrap_or_default();
        text.push_str(&format!("  {record}{}\n", problem.what));
    }
    text
}

fn store_text(whole: &Whole, output: &Output) -> String {
    let records = counted(whole.audit.head.records, "record", "records");
    if whole.problems.is_empty() {
        let anchors = match whole.anchors {
            0 => String::new(),
            count => format!(", as {} of it", counted(count as u64, "anchor confirms", "anchors confirm")),
        };
        return format!("{} the store: {records} in one chain{anchors}\n", output.green("✓"));
    }
    let mut text = format!("{} the store: records were changed\n", output.bad("✗"));
    whole.problems.iter().for_each(|problem| text.push_str(&format!("  {problem}\n")));
    text
}
