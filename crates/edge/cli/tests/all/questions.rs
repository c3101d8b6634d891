//! A running attempt asks a person, who sees the question and answers it from other processes.
//!
//! The run belongs to this test's process, which replaces the activity `external` by one that asks. The commands see an
//! ordinary run of another process.

use std::sync::Arc;

use interlock_activity::{Activity, Attempt, EffectClass, Ending, Outcome, Question, Registry, Requests, Signal, Site};
use interlock_chart::{Value, library};
use interlock_journal::{By, Engine, Head, Phase};
use interlock_runtime::{AnyMachine, Config, News, NoSnapshots, Runtime, Start, SystemClock};
use interlock_sqlite::Journal;
use interlock_testkit_cli::{session::Session, terminal::Terminal};

struct Asker;

impl Activity for Asker {
    fn name(&self) -> &str {
        "external"
    }
    fn summary(&self) -> &str {
        "asks a person"
    }
    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }
    fn schema(&self) -> interlock_activity::Schema {
        interlock_activity::schema::any()
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }
    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("answered")] }
    }
    fn start(&self, attempt: Attempt) -> Ending {
        Box::pin(async move {
            let question = Question {
                run: Arc::clone(&attempt.run),
                activity: attempt.activity,
                number: attempt.number,
                event: "PERMIT".into(),
                id: "q1".into(),
                text: "May the agent run this command?".into(),
                shows: Value::map([("command", Value::from("rm -r build"))]),
                timeout_ms: 600_000,
            };
            Outcome::signal("answered", attempt.host.ask(question).await.unwrap_or_else(Value::empty))
        })
    }
}

const MACHINE: &str = r#"
machine: permit
version: 1
summary: Works, and asks a person on the way.
events:
  PERMIT:
    from: user
    summary: Allow or deny it
    data:
      type: object
      required: [id, decision]
      properties: { id: { type: string }, decision: { enum: [allow, deny] } }
initial: working
states:
  working:
    invoke: { activity: external, with: { program: "true" }, signals: [answered] }
    on:
      PERMIT: {}
      answered: { target: done, reason: "${event.decision}" }
  done: { type: final, outcome: success }
"#;

struct Scene {
    _folder: tempfile::TempDir,
    session: Session,
    runtime: Runtime,
    head: Head,
}

/// Starts a run named `r` in this process and returns when its question is recorded.
async fn scene() -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), folder.path());
    let session = session.with("INTERLOCK_HOME", home.display().to_string()).with("INTERLOCK_USER", "ada");
    session.write("permit.yaml", MACHINE).unwrap();
    let runtime = Runtime::new(Config {
        engine: Arc::new(Journal::open(&home).unwrap()) as Arc<dyn Engine>,
        registry: Registry::default().with(Asker),
        clock: Arc::new(SystemClock),
        snapshots: Arc::new(NoSnapshots),
        attempts_max: 4,
        live_folder: home.join("live"),
        redactor: Default::default(),
        prover: Arc::new(AnyMachine),
    });
    let keeper = runtime.clone();
    tokio::spawn(async move { keeper.keep(false).await });
    let mut news = runtime.news();
    let source = library::load("permit.yaml", folder.path()).unwrap();
    let start = Start {
        loaded: runtime.load(&source).unwrap(),
        input: Value::empty(),
        folder: folder.path().into(),
        by: By::user("ada"),
        parent: None,
        name: Some("r".into()),
        accepts_unproved: false,
    };
    let head = runtime.start(start).await.unwrap();
    let is_asked = |news: &News| matches!(news, News::Moved { moves, .. } if moves.iter().any(|it| it.event.as_deref() == Some("asked")));
    while !is_asked(&news.recv().await.unwrap()) {}
    Scene { _folder: folder, session, runtime, head }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_question_is_shown_and_answered_by_other_commands() {
    let scene = scene().await;
    let shown = scene.session.run("show r").unwrap().stdout;
    let commands = r#"    interlock send r PERMIT --data '{"id":"q1","decision":"allow"}'  # Allow or deny it
    interlock send r PERMIT --data '{"id":"q1","decision":"deny"}'  # Allow or deny it
"#;
    assert!(shown.contains("r asks in working: May the agent run this command?\ncommand: rm -r build\n"), "{shown}");
    assert!(shown.contains("To answer until ") && shown.contains(commands), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&scene.session.run("show r --json").unwrap().stdout).unwrap();
    let asked = &json["offers"]["asked"][0];
    assert_eq!((&asked["id"], &asked["shows"]["command"]), (&"q1".into(), &"rm -r build".into()), "{asked}");
    let wrong = scene.session.run(r#"send r PERMIT --data '{"id": "q2", "decision": "allow"}'"#).unwrap();
    assert_eq!(wrong.code, Some(2), "{wrong}");
    assert!(wrong.stderr.contains("no open question has the id `q2`; `PERMIT` can answer q1"), "{wrong}");
    let sent = scene.session.run(r#"send r PERMIT --data '{"id": "q1", "decision": "deny"}'"#).unwrap();
    assert_eq!(sent.code, Some(0), "{sent}");
    assert_eq!(scene.runtime.settled(&scene.head).await.unwrap().phase, Phase::Succeeded);
    let trace = scene.session.run("trace r").unwrap().stdout;
    assert!(trace.contains("external asks: May the agent run this command?"), "{trace}");
    assert!(trace.contains("PERMIT by user ada") && trace.contains("reason    deny"), "{trace}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_at_a_terminal_is_asked_while_the_attempt_runs() {
    let (enter, down) = ("\r", "\x1b[B");
    let scene = scene().await;
    let session = scene.session.clone();
    let ended = tokio::task::spawn_blocking(move || {
        let mut terminal = Terminal::new(env!("CARGO_BIN_EXE_interlock"), &session, "resume r");
        terminal.answer("May the agent run this command?", "");
        terminal.answer("to filter", enter);
        terminal.answer("to filter", &format!("{down}{enter}"));
        terminal.end()
    });
    let (code, seen) = ended.await.unwrap();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("working → done") && seen.contains("allow"), "{seen}");
}
