//! A person at a terminal is asked what a run waits for. The terminal is a real one, made by `script`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::{
    io::{Read as _, Write as _},
    process::{Child, Command, Stdio},
};

use interlock_testkit_cli::session::Session;

const TEA: &str = "\
machine: tea
version: 1
summary: Makes tea, and asks how strong.
events:
  drink: { from: user, summary: Drink it }
  stronger:
    from: user
    summary: Brew it longer
    data:
      type: object
      required: [minutes, why]
      properties: { minutes: { type: integer, minimum: 1 }, why: { type: string }, sure: { type: boolean } }
initial: heating
states:
  heating:
    invoke: { activity: kettle.boil, manual: true, signals: [boiled] }
    on: { boiled: brewed, error: cold }
  brewed:
    on:
      stronger: { target: brewed, limit: 2, reason: \"${event.minutes} more: ${event.why}\" }
      drink: drunk
  drunk: { type: final, outcome: success }
  cold: { type: final, outcome: failure }
";

/// The keys that end a line, go down, and leave.
const ENTER: &str = "\r";
const DOWN: &str = "\x1b[B";
const CONTROL_C: &str = "\x03";

struct Terminal {
    child: Child,
    seen: String,
}

impl Terminal {
    /// A command on a terminal, for a minute at most.
    fn new(session: &Session, arguments: &str) -> Self {
        let inner = format!("stty cols 100 rows 40; exec {} {arguments}", env!("CARGO_BIN_EXE_interlock"));
        let mut command = Command::new("timeout");
        command.args(["60", "script", "-qefc", &inner, "/dev/null"]).current_dir(session.folder());
        command.env("TERM", "xterm").env("INTERLOCK_HOME", session.folder().join("home"));
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        Terminal { child, seen: String::new() }
    }

    /// Waits until the terminal shows something new, then types.
    fn answer(&mut self, shown: &str, keys: &str) {
        let mut bytes = Vec::new();
        while !bytes.ends_with(shown.as_bytes()) {
            let mut next = [0; 1];
            let read = self.child.stdout.as_mut().unwrap().read(&mut next).unwrap();
            assert_eq!(read, 1, "`{shown}` was not shown after\n{}{}", self.seen, String::from_utf8_lossy(&bytes));
            bytes.extend(next);
        }
        self.seen.push_str(&String::from_utf8_lossy(&bytes));
        self.child.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    fn end(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.child.stdout.as_mut().unwrap().read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), self.seen + &rest)
    }
}

fn project() -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home").display().to_string();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), folder.path()).with("INTERLOCK_HOME", home);
    session.write(".interlock/machines/tea/machine.yaml", TEA).unwrap();
    (folder, session)
}

/// What a prompt for keys ends with, so that whoever types does so when it listens.
const PROMPT: &str = "to filter";

#[test]
fn a_person_at_a_terminal_is_asked_with_a_form() {
    let (_folder, session) = project();
    let mut terminal = Terminal::new(&session, "run tea --name t1");
    terminal.answer(PROMPT, ENTER);
    terminal.answer(PROMPT, &format!("{DOWN}{ENTER}"));
    terminal.answer("minutes", &format!("many{ENTER}"));
    terminal.answer("not JSON", &format!("{}5{ENTER}", "\x7f".repeat(4)));
    terminal.answer("why", &format!("strong{ENTER}"));
    terminal.answer("sure", &format!("y{ENTER}"));
    terminal.answer("5 more: strong", "");
    terminal.answer(PROMPT, ENTER);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("t1  succeeded  drunk"), "{seen}");
    let trace = session.run("trace t1 --json").unwrap().stdout;
    assert!(trace.contains(r#""data":{"minutes":5,"sure":true,"why":"strong"}"#), "{trace}");
}

#[test]
fn whoever_does_not_want_to_answer_now_is_told_how_to_later() {
    let (_folder, session) = project();
    let mut terminal = Terminal::new(&session, "run tea --name t1");
    terminal.answer(PROMPT, CONTROL_C);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(4), "{seen}");
    assert!(seen.contains("interlock send t1 boiled"), "{seen}");
    assert_eq!(session.run("send t1 boiled").unwrap().code, Some(4));
}

#[test]
fn whoever_is_asked_sees_the_patch_that_is_asked_about() {
    let (_folder, session) = project();
    let machine = "machine: review\nversion: 1\nsummary: Asks about a patch.\nevents: { yes: { from: user } }\n\
        context: { patch: \"--- a/x\\n+++ b/x\\n@@ -1 +1 @@\\n-old\\n+new\\n\" }\ninitial: asking\n\
        states:\n  asking: { on: { yes: done } }\n  done: { type: final, outcome: success }\n";
    session.write(".interlock/machines/review/machine.yaml", machine).unwrap();
    let mut terminal = Terminal::new(&session, "run review --name r1");
    terminal.answer("+new", "");
    terminal.answer(PROMPT, ENTER);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
}
