//! Commands that help to write machines: explanations, new machines, scenarios, activities, completion, manual pages.

use expect_test::expect;

use super::scene::{check, check_in, project};

#[test]
fn explain_prints_the_page_of_a_code() {
    check("explain e0211", expect![[""]]);
    check("explain E0212", expect![[""]]);
}

#[test]
fn explain_lists_all_codes() {
    let (_folder, session) = project();
    let listed = session.run("explain").unwrap().stdout;
    assert!(listed.lines().count() > 80, "{listed}");
    assert!(listed.contains("E0101  the file is not YAML\n"), "{listed}");
}

#[test]
fn new_machine_is_proved_and_passes_its_scenarios() {
    let (_folder, session) = project();
    check_in(&session, "new ship", expect![[""]]);
    check_in(&session, "new ship", expect![[""]]);
    check_in(&session, "check ship", expect![[""]]);
    check_in(&session, "test", expect![[""]]);
}

#[test]
fn names_that_cannot_be_machines_are_refused() {
    check("new a/b", expect![[""]]);
    check("new coder", expect![[""]]);
}

#[test]
fn scenario_that_goes_another_way_fails() {
    let (_folder, session) = project();
    let scenarios = [
        ("expected", "steps: [{ expect: closed }, { send: push, expect: locked }]"),
        ("unhandled", "steps: [{ send: turn_key, expect: locked }, { send: push }]"),
        ("endless", "steps: [{ send: push, expect: [open] }]\noutcome: success"),
        ("passes", "summary: A door opens.\nsteps: [{ wait: 1h, expect: closed }, { send: push, expect: open }]"),
    ];
    for (name, text) in scenarios {
        session.write(&format!(".interlock/machines/door/tests/{name}.yaml"), text).unwrap();
    }
    check_in(&session, "test door", expect![[""]]);
}

#[test]
fn file_that_is_not_a_scenario_is_bad_input() {
    let (_folder, session) = project();
    session.write(".interlock/machines/door/tests/a.yaml", "steps: [{ sent: push }]").unwrap();
    check_in(&session, "test door", expect![[""]]);
}

#[test]
fn activity_is_described_with_its_arguments() {
    check("activities timer.wait", expect![[""]]);
    check("activities comand.run", expect![[""]]);
}

#[test]
fn machines_are_completed() {
    let (_folder, session) = project();
    let mut command = session.command("");
    command.env("_INTERLOCK_COMPLETE", "fish").args(["--", "interlock", "describe", "do"]);
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "door\tproject\n");
}

#[test]
fn runs_are_completed_without_creating_a_store() {
    let (folder, session) = project();
    let session = session.with("INTERLOCK_HOME", folder.path().join("store").display().to_string());
    let candidates = || {
        let mut command = session.command("");
        command.env("_INTERLOCK_COMPLETE", "fish").args(["--", "interlock", "show", "t"]);
        String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
    };
    assert_eq!(candidates(), "");
    assert!(!folder.path().join("store").exists(), "completion created a store");
    session.run("run door --name today").unwrap();
    assert_eq!(candidates(), "today\tdoor, waiting in closed\n");
}

#[test]
fn every_command_has_a_manual_page() {
    let (folder, session) = project();
    session.run("man --out pages").unwrap();
    let help = session.run("--help").unwrap().stdout;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty() && *name != "help").collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        assert!(folder.path().join(format!("pages/interlock-{name}.1")).is_file(), "{name}");
    }
    assert!(session.run("man kb search").unwrap().stdout.contains("interlock\\-kb\\-search"));
    check("man nothing", expect![[""]]);
}
