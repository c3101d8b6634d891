//! A person at a terminal is asked for the input of a waiting run. The terminal is a real one, made by `script`.

use interlock_testkit_cli::{session::Session, terminal::Terminal};

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

/// The keys that end a line, move down, and leave.
const ENTER: &str = "\r";
const DOWN: &str = "\x1b[B";
const CONTROL_C: &str = "\x03";

/// Runs a command on a terminal, for a minute at most.
fn terminal(session: &Session, arguments: &str) -> Terminal {
    Terminal::new(env!("CARGO_BIN_EXE_interlock"), session, arguments)
}

fn project() -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home").display().to_string();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), folder.path()).with("INTERLOCK_HOME", home);
    session.write(".interlock/machines/tea/machine.yaml", TEA).unwrap();
    (folder, session)
}

/// The end of a prompt that waits for keys. Keys must be typed only after it is shown.
const PROMPT: &str = "to filter";

/// Chooses the item `below` lines under the one that the menu starts on.
fn choose(terminal: &mut Terminal, below: usize) {
    terminal.answer(PROMPT, &format!("{}{ENTER}", DOWN.repeat(below)));
}

/// Makes a project with an additional machine.
fn project_with(name: &str, machine: &str) -> (tempfile::TempDir, Session) {
    let (folder, session) = project();
    session.write(&format!(".interlock/machines/{name}/machine.yaml"), machine).unwrap();
    (folder, session)
}

/// Returns the JSON trace of a run, which contains the data of its events.
fn sent(session: &Session, run: &str) -> String {
    session.run(&format!("trace {run} --json")).unwrap().stdout
}

#[test]
fn a_person_at_a_terminal_is_asked_with_a_form() {
    let (_folder, session) = project();
    let mut terminal = terminal(&session, "run tea --name t1");
    choose(&mut terminal, 1);
    choose(&mut terminal, 2);
    terminal.answer("minutes", &format!("many{ENTER}"));
    terminal.answer("not a whole number", &format!("{}0{ENTER}", "\x7f".repeat(4)));
    terminal.answer("0 is less than the minimum of 1", &format!("\x7f5{ENTER}"));
    terminal.answer("why", &format!("strong{ENTER}"));
    terminal.answer("sure", &format!("y{ENTER}"));
    terminal.answer("5 more: strong", "");
    choose(&mut terminal, 1);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("t1  succeeded  drunk"), "{seen}");
    let trace = sent(&session, "t1");
    assert!(trace.contains(r#""data":{"minutes":5,"sure":true,"why":"strong"}"#), "{trace}");
}

#[test]
fn whoever_does_not_want_to_answer_now_is_told_how_to_later() {
    let (_folder, session) = project();
    let mut terminal = terminal(&session, "run tea --name t1");
    terminal.answer(PROMPT, CONTROL_C);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(4), "{seen}");
    assert!(seen.contains("interlock send t1 boiled"), "{seen}");
    assert_eq!(session.run("send t1 boiled").unwrap().code, Some(4));
}

#[test]
fn whoever_is_asked_sees_the_patch_that_is_asked_about() {
    let machine = "machine: review\nversion: 1\nsummary: Asks about a patch.\nevents: { yes: { from: user } }\n\
        context: { patch: \"--- a/x\\n+++ b/x\\n@@ -1 +1 @@\\n-old\\n+new\\n\" }\ninitial: asking\n\
        states:\n  asking: { on: { yes: done } }\n  done: { type: final, outcome: success }\n";
    let (_folder, session) = project_with("review", machine);
    let mut terminal = terminal(&session, "run review --name r1");
    terminal.answer("+new", "");
    choose(&mut terminal, 1);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
}

const RELEASE: &str = "\
machine: release
version: 1
summary: Asks whether to release.
context: { command: make release, plan: \"1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n10\\n11\\n12\\n13\\n14\\n15\\n16\\n17\\n18\\n19\\n20\\n21\\n22\\n23\\n24\\n25\\n26\\n27\\n28\\n29\\n30\\n31\\n32\\n33\\n34\\n35\\n36\\n37\\n38\\n39\\n40\\n41\\n42\\n43\\n44\\n45\\n46\\n47\\n48\\n49\\n50\\n51\\n52\\n53\\n54\\n55\\n56\\n57\\n58\\n59\\n60\\n61\\nlast\" }
events:
  confirm:
    from: user
    data: { required: [answer], properties: { answer: { type: string, enum: [\"yes\", \"no\"] } } }
  later: { from: user }
initial: asking
states:
  asking:
    summary: Release it to everybody?
    timeout: 2h
    shows: { command: \"${context.command}\", plan: \"${context.plan}\", nothing: \"${context.command == '' ? 'x' : ''}\" }
    on:
      confirm:
        - { guard: event.answer == 'yes', target: released }
        - { target: kept }
      later: asking
      timeout: kept
  released: { type: final, outcome: success }
  kept: { type: final, outcome: failure }
";

#[test]
fn the_form_shows_the_question_the_data_and_the_deadline() {
    let (_folder, session) = project_with("release", RELEASE);
    let mut terminal = terminal(&session, "run release --name r1");
    terminal.answer("asking: Release it to everybody?", "");
    terminal.answer("command: make release", "");
    terminal.answer("2 more lines; all of it: `interlock show r1`", "");
    terminal.answer("Deadline: `timeout.asking` fires at", "");
    terminal.answer("in 1h", "");
    // Pressing Enter at once chooses nothing, because one of the events ends the run.
    terminal.answer(PROMPT, ENTER);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(4), "{seen}");
    assert!(seen.contains("confirm (final: it may end the run)"), "{seen}");
    assert!(!seen.contains("last") && !seen.contains("nothing:"), "{seen}");
    let shown = session.run("show r1").unwrap().stdout;
    assert!(shown.contains("asking: Release it to everybody?") && shown.contains("\n  last\n"), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&session.run("show r1 --json").unwrap().stdout).unwrap();
    assert_eq!(json["offers"]["shown"][0], serde_json::json!({ "label": "command", "data": "make release" }));
    assert_eq!(json["offers"]["questions"][0]["text"], "Release it to everybody?");
    assert_eq!(json["offers"]["events"][0]["irreversible"], "it may end the run");
    assert_eq!(json["offers"]["events"][1]["irreversible"], serde_json::Value::Null);
}

#[test]
fn a_choice_without_a_default_is_never_preselected() {
    let (_folder, session) = project_with("release", RELEASE);
    let mut terminal = terminal(&session, "run release --name r1");
    choose(&mut terminal, 1);
    terminal.answer("(choose one)", "");
    choose(&mut terminal, 0);
    terminal.answer("choose one of the values", "");
    choose(&mut terminal, 2);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(1), "{seen}");
    assert!(sent(&session, "r1").contains(r#""data":{"answer":"no"}"#), "{seen}");
}

const NESTED: &str = "\
machine: nested
version: 1
summary: Takes nested data.
events:
  place:
    from: user
    data:
      type: object
      required: [where, tags]
      properties:
        where:
          type: object
          required: [row]
          properties: { row: { type: integer, minimum: 1 }, name: { type: string, pattern: '^[a-z]+$' } }
        tags: { type: array, minItems: 1, items: { type: string } }
initial: asking
states:
  asking: { tags: [idle], on: { place: asking } }
";

#[test]
fn nested_data_is_asked_for_field_by_field_and_item_by_item() {
    let (_folder, session) = project_with("nested", NESTED);
    let mut terminal = terminal(&session, "run nested --name n1");
    // Every event is harmless, so the menu starts on the first one.
    choose(&mut terminal, 0);
    choose(&mut terminal, 0);
    terminal.answer("where", "");
    choose(&mut terminal, 0);
    terminal.answer("where.row", &format!("0{ENTER}"));
    terminal.answer("0 is less than the minimum of 1", &format!("\x7f7{ENTER}"));
    terminal.answer("where.name", &format!("X{ENTER}"));
    terminal.answer("does not match", &format!("\x7fx{ENTER}"));
    terminal.answer("tags", "");
    choose(&mut terminal, 0);
    terminal.answer("tags[0]", ENTER);
    terminal.answer("has less than 1 item", "");
    terminal.answer("tags[0]", &format!("a{ENTER}"));
    terminal.answer("tags[1]", &format!("b{ENTER}"));
    terminal.answer("tags[2]", ENTER);
    terminal.answer("asking → asking", "");
    terminal.answer(PROMPT, CONTROL_C);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(4), "{seen}");
    let trace = sent(&session, "n1");
    assert!(trace.contains(r#""data":{"tags":["a","b"],"where":{"name":"x","row":7}}"#), "{trace}");
}

#[test]
fn nested_data_can_be_edited_as_text_and_bad_text_is_not_lost() {
    let (_folder, session) = project_with("nested", NESTED);
    let edit = "#!/bin/sh\nif [ -e once ]; then sed -i 's/^{broken/{/; s/\"row\": 1/\"row\": 9/' \"$1\"\n\
        else touch once; sed -i 's/^{/{broken/' \"$1\"; fi\n";
    session.write("edit.sh", edit).unwrap();
    let edit = session.folder().join("edit.sh");
    std::fs::set_permissions(edit, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut terminal = terminal(&session, "run nested --name n1");
    choose(&mut terminal, 0);
    choose(&mut terminal, 1);
    terminal.answer("not JSON", "");
    terminal.answer("Enter opens the editor again", ENTER);
    terminal.answer("asking → asking", "");
    terminal.answer(PROMPT, CONTROL_C);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(4), "{seen}");
    let trace = sent(&session, "n1");
    assert!(trace.contains(r#""row":9"#), "{trace}");
}

#[test]
fn escape_leads_back_to_the_menu_and_keeps_what_was_typed() {
    let (_folder, session) = project();
    let mut terminal = terminal(&session, "run tea --name t1");
    choose(&mut terminal, 1);
    choose(&mut terminal, 2);
    terminal.answer("minutes", &format!("5{ENTER}"));
    terminal.answer("why", "\x1b");
    choose(&mut terminal, 2);
    terminal.answer("minutes", ENTER);
    terminal.answer("why", &format!("strong{ENTER}"));
    terminal.answer("sure", ENTER);
    terminal.answer("5 more: strong", "");
    choose(&mut terminal, 1);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(sent(&session, "t1").contains(r#""data":{"minutes":5,"why":"strong"}"#), "{seen}");
}

#[test]
fn a_permission_is_granted_in_the_form_for_exactly_this_command() {
    let machine = include_str!("../../../../../examples/wait-for-grant/machine.yaml");
    let (_folder, session) = project_with("wait-for-grant", machine);
    let mut terminal = terminal(&session, "run wait-for-grant --name g1");
    terminal.answer("permissions: net.connect:true", "");
    terminal.answer("grant once, then grant_given: net.connect:true", "");
    choose(&mut terminal, 1);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    let trace = session.run("trace g1").unwrap().stdout;
    assert!(trace.contains("net.connect:true granted, once") && trace.contains("by the grant of record"), "{trace}");
}

const TALKATIVE: &str = "\
machine: talkative
version: 1
summary: Works until a message arrives.
events:
  say: { from: user, summary: Say something, data: { required: [text], properties: { text: { type: string, minLength: 1 } } } }
initial: working
states:
  working:
    invoke: { activity: command.run, with: { command: sleep 50 }, signals: [passed, failed] }
    timeout: 1m
    on: { say: { target: told, reason: \"they say ${event.text}\" }, passed: silent, failed: silent, error: silent, timeout: silent }
  told: { type: final, outcome: success }
  silent: { type: final, outcome: failure }
";

#[test]
fn a_message_can_be_typed_while_the_run_works() {
    let (_folder, session) = project_with("talkative", TALKATIVE);
    let mut terminal = terminal(&session, "run talkative --name t1");
    terminal.answer("Press Enter to write a message", ENTER);
    terminal.answer("Message (Enter sends it):", &format!("good morning{ENTER}"));
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("they say good morning"), "{seen}");
}

#[test]
fn a_word_that_stands_for_an_event_chooses_it() {
    let machine = "machine: plan\nversion: 1\nsummary: Asks.\nevents:\n  along: { from: user, summary: going on is ok yes }\n  \
        confirm: { from: user, summary: \"Go, Yes or OK: do it\" }\ninitial: a\nstates:\n  \
        a: { on: { confirm: b, along: wrong } }\n  b: { on: { confirm: c, along: wrong } }\n  c: { on: { confirm: done, along: wrong } }\n  \
        done: { type: final, outcome: success }\n  wrong: { type: final, outcome: failure }\n";
    let (_folder, session) = project_with("plan", machine);
    let mut terminal = terminal(&session, "run plan --name p1");
    // The form is drawn again for each key, so the state in its title tells one form from the next.
    for (title, word) in [("a takes", "Go"), ("b takes", "yes"), ("c takes", "OK")] {
        terminal.answer(title, &format!("{word}{ENTER}"));
    }
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
}
