//! `interlock evidence`: lists the evidence files of a run, or prints one of them.

use interlock_journal::{Engine as _, Evidence, Hash, Head};
use serde_json::json;

use super::Outcome;
use crate::{Exit, args::Evidence as Args, failure::Failure, output::Output, store::Store, table};

/// The fewest digits of a hash that identify a file.
const PREFIX_MIN: usize = 4;

/// Lists a run's files or prints a file.
pub(crate) fn run(args: &Args, output: &Output) -> Outcome {
    let (store, what) = (Store::open()?, &args.what);
    if let Some(name) = &args.name {
        return print(&store, &named(&store, &store.find(what)?, name, args.record)?, output);
    }
    match hash(&store, what)? {
        Some(hash) => print(&store, &hash, output),
        None => list(&store, &store.find(what).map_err(|failure| unknown(what, failure))?, output),
    }
}

/// The failure for a text that names neither a file nor a run. If it looks like a hash, a file was meant.
fn unknown(what: &str, failure: Failure) -> Failure {
    match is_hash(what) {
        true => Failure::bad_input(format!(
            "no evidence file has a hash that begins with `{what}`, and no run has this name"
        ))
        .hint("`interlock evidence RUN` lists the files of a run with their hashes"),
        false => failure,
    }
}

/// Returns true if the text can be a hash or the beginning of one.
fn is_hash(text: &str) -> bool {
    text.len() >= PREFIX_MIN && text.chars().all(|letter| letter.is_ascii_hexdigit())
}

/// Returns the run's file of this name: the one of the given record, or else the last one.
fn named(store: &Store, head: &Head, name: &str, record: Option<u64>) -> Result<Hash, Failure> {
    let files = of_run(store, head)?;
    let is_meant = |(seq, file): &&(u64, Evidence)| file.name == name && record.is_none_or(|record| record == *seq);
    if let Some((_, file)) = files.iter().rev().find(is_meant) {
        return Ok(file.hash);
    }
    let place = record.map(|record| format!(" in record {record}")).unwrap_or_default();
    let hint = format!("`interlock evidence {}` lists its files", head.name);
    Err(Failure::bad_input(format!("{} has no file called `{name}`{place}", head.name)).hint(hint))
}

/// Returns the only file whose hash begins with this text.
fn hash(store: &Store, text: &str) -> Result<Option<Hash>, Failure> {
    if !is_hash(text) || store.journal.find(text)?.is_some() {
        return Ok(None);
    }
    let text = text.to_lowercase();
    let found: Vec<Hash> =
        store.journal.evidence_in_use()?.into_iter().filter(|hash| hash.to_string().starts_with(&text)).collect();
    match found.as_slice() {
        [] => Ok(None),
        [hash] => Ok(Some(*hash)),
        _ => Err(Failure::bad_input(format!("`{text}` matches {} files", found.len()))
            .hint("give more characters of its hash")),
    }
}

fn print(store: &Store, hash: &Hash, output: &Output) -> Outcome {
    output.content(&store.journal.evidence().get(hash)?)?;
    Ok(Exit::Good)
}

fn list(store: &Store, head: &Head, output: &Output) -> Outcome {
    let files = of_run(store, head)?;
    if output.is_json() {
        let row = |(seq, file): &(u64, Evidence)| json!({ "seq": seq, "name": file.name, "hash": file.hash, "media": file.media, "bytes": file.bytes });
        output.json(&files.iter().map(row).collect::<Vec<_>>())?;
        return Ok(Exit::Good);
    }
    if files.is_empty() {
        output.talk(&format!("{} has no evidence files\n", head.name));
        return Ok(Exit::Good);
    }
    let rows = files
        .into_iter()
        .map(|(seq, file)| [seq.to_string(), file.name, file.bytes.to_string(), file.media, file.hash.to_string()]);
    output.data(&table::text(["record", "name", "bytes", "media", "hash"], rows, output))?;
    Ok(Exit::Good)
}

/// Returns every file that the records of a run refer to, with the number of the record.
pub(crate) fn of_run(store: &Store, head: &Head) -> Result<Vec<(u64, Evidence)>, Failure> {
    let mut found = Vec::new();
    for record in store.journal.records_with_evidence(head.key)? {
        let entry = store.journal.entry(&record)?;
        found.extend(entry.evidence().iter().map(|file| (record.seq, Evidence::clone(file))));
    }
    Ok(found)
}
