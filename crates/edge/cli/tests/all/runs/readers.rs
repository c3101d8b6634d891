//! Readers that go away: the command keeps its exit code, or says with 141 that nobody read its result.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use interlock_testkit_cli::session::Session;

use super::scene::{brewed, run};

/// The commands that serve others until they are stopped.
const SERVERS: [&str; 4] = ["serve", "mcp", "acp", "notebook-server"];

/// Calls of every command, with their real exit codes. They leave the project as it is, or refuse to change it.
const CALLS: [(&str, i32); 57] = [
    ("machines", 0),
    ("describe tea", 0),
    ("describe nobody", 2),
    ("check tea", 0),
    ("check broken.yaml", 1),
    ("check nowhere.yaml", 2),
    ("draw tea --format mermaid", 0),
    ("draw nobody", 2),
    ("import nothing.scxml", 2),
    ("import chart.scxml", 0),
    ("conform cases", 1),
    ("schema", 0),
    ("run tea", 2),
    ("run broken.yaml", 2),
    ("runs", 0),
    ("show t1", 0),
    ("show t9", 2),
    ("trace t1", 0),
    ("diff t1", 0),
    ("trace t9", 2),
    ("watch t1", 4),
    ("watch t9", 2),
    ("report t1", 0),
    ("report t9", 2),
    ("send t1 stronger", 2),
    ("send t1 fly", 2),
    ("abort t9", 2),
    ("pause t9", 2),
    ("resume t9", 2),
    ("context t1", 2),
    ("grant t9 shell.exec:ls", 2),
    ("replay t1", 0),
    ("replay t1 --at 99", 2),
    ("fork t1 --at 99", 2),
    ("map", 0),
    ("snapshots t1", 0),
    ("apply t1", 2),
    ("undo t1", 0),
    ("undo t9", 2),
    ("verify", 0),
    ("verify t9", 2),
    ("anchor --public-key", 0),
    ("evidence t1", 0),
    ("evidence 0123456789ab", 2),
    ("sql 'select name from run'", 0),
    ("sql 'drop table run'", 2),
    ("gc", 0),
    ("agents", 0),
    ("activities", 0),
    ("resources", 0),
    ("kb search words", 0),
    ("init brian", 2),
    ("new tea", 2),
    ("test tea", 2),
    ("explain E0201", 0),
    ("doctor", 0),
    ("coder --resume t9", 2),
];

/// The commands whose own page or script is printed.
const PAGES: [(&str, i32); 6] =
    [("completions bash", 0), ("man", 0), ("token list", 0), ("--help", 0), ("--version", 0), ("nonsense", 2)];

/// Runs a command whose output streams have lost their readers before it writes.
fn unread(session: &Session, call: &str, streams: [bool; 2]) -> Option<i32> {
    let end = |is_read: bool| match is_read {
        true => Stdio::null(),
        // The reading end is dropped here.
        false => Stdio::from(std::io::pipe().unwrap().1),
    };
    let [stdout, stderr] = streams;
    session.command(call).stdout(end(stdout)).stderr(end(stderr)).status().unwrap().code()
}

fn project() -> (tempfile::TempDir, Session) {
    let (folder, session) = brewed();
    let tea = std::fs::read_to_string(folder.path().join(".interlock/machines/tea/machine.yaml")).unwrap();
    let property = "properties:\n  - never: drunk\n    because: nobody drinks\n";
    session.write("broken.yaml", &format!("{tea}{property}")).unwrap();
    let scxml = r#"<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" initial="a"><state id="a"/></scxml>"#;
    session.write("chart.scxml", scxml).unwrap();
    session.write("cases/one.scxml", scxml).unwrap();
    let wrong = r#"{ "initialConfiguration": ["b"], "events": [] }"#;
    session.write("cases/one.json", wrong).unwrap();
    let home = folder.path().join("nobody").display().to_string();
    let session = session.with("HOME", home.clone()).with("XDG_CONFIG_HOME", home);
    (folder, session)
}

#[test]
fn no_command_reports_success_because_nobody_reads_it() {
    let (_folder, session) = project();
    let all = CALLS.iter().chain(&PAGES);
    for (call, code) in all.clone() {
        assert_eq!(run(&session, call).code, Some(*code), "{call}: {}", run(&session, call));
    }
    for (call, code) in all {
        for (json, streams) in [("", [false, true]), ("", [true, false]), (" --json", [false, false])] {
            let found = unread(&session, &format!("{call}{json}"), streams);
            assert_eq!(found, Some(*code), "{call}{json}, stdout and stderr read: {streams:?}");
        }
    }
}

#[test]
fn every_command_is_called_without_a_reader() {
    let (_folder, session) = project();
    let help = run(&session, "man").stdout;
    let pages = help.lines().filter_map(|line| line.strip_prefix("interlock\\-")?.split('(').next());
    let known: BTreeSet<String> = pages.map(|name| name.replace('\\', "")).filter(|name| name != "help").collect();
    let called = CALLS.iter().chain(&PAGES).filter_map(|(call, _)| call.split(' ').next());
    let called: BTreeSet<String> =
        called.chain(SERVERS).filter(|name| known.contains(*name)).map(str::to_owned).collect();
    assert!(known.len() > 40, "{known:?}");
    assert_eq!(known, called);
}

#[test]
fn a_first_line_for_head_is_followed_by_the_real_exit_code() {
    let (_folder, session) = project();
    let mut check = session.command("check broken.yaml").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut first = String::new();
    // The rest is not read, as by `head -1`.
    BufReader::with_capacity(1, check.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!((first.as_str(), check.wait().unwrap().code()), ("✗ tea: not proved\n", Some(1)));
}

#[test]
fn a_run_that_nobody_follows_goes_on_to_its_end() {
    let (_folder, session) = project();
    let long = "machine: long\nversion: 1\ninitial: a\non: { error: bad }\nstates:\n  a:\n    invoke: { activity: command.run, with: { command: 'exit 3' }, signals: [passed, failed] }\n    on: { passed: good, failed: bad }\n  good: { type: final, outcome: success }\n  bad: { type: final, outcome: failure, data: { why: it failed } }\n";
    session.write("long.yaml", long).unwrap();
    assert_eq!(unread(&session, "run long.yaml --name l1", [false, false]), Some(1));
    let failed = run(&session, "send t1 drink");
    assert_eq!((failed.code, run(&session, "show l1").stdout.lines().next()), (Some(0), Some("l1: failed in bad")));
}

#[test]
fn watching_ends_when_nobody_reads_it() {
    let (_folder, session) = project();
    let slow = "machine: slow\nversion: 1\ninitial: a\non: { error: bad }\nstates:\n  a: { timeout: 1h, on: { timeout: bad } }\n  bad: { type: final, outcome: failure }\n";
    session.write("slow.yaml", slow).unwrap();
    let mut held =
        session.command("run slow.yaml --name s1").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(held.stderr.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "run s1");
    assert_eq!(unread(&session, "watch s1", [false, true]), Some(141));
    held.kill().unwrap();
    held.wait().unwrap();
}

#[test]
fn a_client_of_mcp_that_goes_away_is_no_failure() {
    let (_folder, session) = project();
    session.write("asked.json", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    let asked = std::fs::File::open(session.folder().join("asked.json")).unwrap();
    let closed = Stdio::from(std::io::pipe().unwrap().1);
    let ended = session.command("mcp").stdin(asked).stdout(closed).stderr(Stdio::null()).status().unwrap();
    assert_eq!(ended.code(), Some(141));
}
