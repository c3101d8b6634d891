//! Kills every machine at every possible moment.

use std::{path::Path, sync::Arc};

use interlock_chart::library;
use interlock_testkit_runs::{Stage, lively, survey};

fn survives(machine: &str) {
    let source = library::load(machine, Path::new("/")).unwrap();
    let stage = Arc::new(Stage::new(&source));
    let survey = survey(&stage, lively(&stage));
    println!("{machine}: {} records, {} deaths, {} attempts cut off", survey.records, survey.deaths, survey.cut_off);
    assert!(survey.records > 15, "the run is too short to say anything: {} records", survey.records);
    // The firmware machine writes only once, at its end; the tests of the command line kill it there.
    assert!(survey.cut_off > 0 || machine == "firmware", "no attempt was cut off that may have written");
    assert!(survey.deaths > 2 * survey.records, "{} deaths", survey.deaths);
    let shown: Vec<&String> = survey.problems.iter().take(5).collect();
    assert!(survey.problems.is_empty(), "{} problems: {shown:#?}", survey.problems.len());
}

#[test]
fn firmware_goes_on_as_if_nothing_had_happened() {
    survives("firmware");
}

#[test]
fn coder_goes_on_as_if_nothing_had_happened() {
    survives("coder");
}

#[test]
fn prd_goes_on_as_if_nothing_had_happened() {
    survives("prd");
}

#[test]
fn brain_goes_on_as_if_nothing_had_happened() {
    survives("brain");
}

#[test]
fn notebook_goes_on_as_if_nothing_had_happened() {
    survives("notebook");
}
