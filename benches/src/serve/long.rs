//! The page of a run with very many records, in a real browser: the first paint, and the time until its rows are there.

use std::path::Path;

use interlock_journal::{Append, By, Engine as _, Entry, NewRun};
use interlock_runtime::{AnyMachine, NewFork, fork};
use interlock_sqlite::Journal;
use interlock_testkit_activity::browser::Browser;

use super::Server;
use crate::{Result, size};

/// The records of the run.
const RECORDS: usize = size(100_000, 50);

/// The number of times that the page is loaded.
const LOADS: usize = size(7, 1);

/// Measures the page of a long run.
pub(super) fn report(server: &Server) -> Result<()> {
    write(&server.home())?;
    let Some(browser) = Browser::start() else {
        println!("         the page of a long run is not measured: chromedriver is not installed");
        return Ok(());
    };
    browser.open(&server.link);
    browser.until("document.querySelector('.bar')");
    let address = format!("http://{}/runs/long", server.address);
    let (mut paints, mut rows) = (Vec::new(), Vec::new());
    for _ in 0..LOADS {
        browser.open("about:blank");
        browser.open(&address);
        browser.until(&format!(
            "window.rowsAt ||= document.querySelector('#record-{RECORDS} .what') ? performance.now() : 0"
        ));
        let number = |expression: &str| browser.value(expression).as_f64().unwrap_or(f64::NAN);
        rows.push(number("window.rowsAt"));
        browser.until("performance.getEntriesByName('first-contentful-paint').length");
        paints.push(number("performance.getEntriesByName('first-contentful-paint')[0].startTime"));
    }
    println!(
        "         {:>8.0} ms to the first paint of the page of a run with {RECORDS} records (median), {:.0} ms the first time; rows after {:.0} ms, the first time {:.0} ms",
        super::median(&mut paints.clone()),
        paints[0],
        super::median(&mut rows.clone()),
        rows[0]
    );
    Ok(())
}

/// Writes a run with many records: the first of a small run, then its event again and again.
fn write(home: &Path) -> Result<()> {
    let journal = Journal::open(home)?;
    let model = journal.find("w0")?.ok_or("there is no run to copy")?;
    let records = journal.records(model.key, 1, 2)?;
    let (first, tick) = (journal.entry(&records[0])?, journal.entry(&records[1])?);
    let tick = match tick {
        Entry::Event { event, data, by, .. } => Entry::Event { event, data, by, id: None },
        _ => return Err("the second record is no event".into()),
    };
    let mut all = vec![journal.record(records[0].at_ms, &first)?];
    for at in 1..RECORDS {
        all.push(journal.record(records[0].at_ms + at as i64, &tick)?);
    }
    let (phase, place) = (model.phase, model.place.clone());
    let append =
        Append { records: all, evidence: Vec::new(), phase, place, snapshot: None, timers: Vec::new(), answer: None };
    let (machine, definition) = (model.machine.clone(), model.definition.clone());
    let run = NewRun { name: "long".into(), machine, definition, parent: None, claim: false, first: append };
    // A store aside computes the snapshot that a run has that was moved step by step.
    let aside = tempfile::tempdir()?;
    let other = Journal::open(aside.path())?;
    other.define(journal.definition(&model.definition)?).wait()?;
    let head = other.create(run).wait()?;
    let wanted = NewFork { at: head.seq, by: By::user("bench"), accepts_unproved: true };
    let forked = fork(&other, &AnyMachine, &head, wanted)?;
    journal.create(NewRun { name: "long".into(), ..forked }).wait()?;
    Ok(())
}
