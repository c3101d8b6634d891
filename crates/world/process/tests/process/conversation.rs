//! Conversations: lines arrive both ways while the program runs, and nothing is left of it afterwards.

use std::{
    io,
    time::{Duration, Instant},
};

use interlock_process::{How, LINE_BYTES_MAX, run};
use interlock_sandbox::{Kind, Namespaces};
use interlock_testkit_activity::processes::is_alive;

use crate::trial::{GRACE, Trial, sandboxes};

const ECHO: &str = "while read -r line; do echo \"you said $line\"; done; echo bye >&2; exit 3";

#[tokio::test]
async fn lines_are_answered_while_the_program_runs() {
    for (sandbox, namespaces) in sandboxes().into_iter().chain([(Kind::None, Namespaces::Auto)]) {
        let mut trial = Trial::of(ECHO);
        (trial.plan.rules.sandbox, trial.plan.rules.namespaces) = (sandbox, namespaces);
        let mut talk = trial.open().await;
        for word in ["one", "two"] {
            talk.send(format!("{word}\n").as_bytes()).await.unwrap();
            assert_eq!(talk.line().await.unwrap().unwrap(), format!("you said {word}").into_bytes());
        }
        let mut ended = talk.close(GRACE).await.unwrap();
        assert_eq!(ended.how, How::Exited { code: 3, signal: None }, "{sandbox:?} {namespaces:?}");
        assert_eq!(ended.stderr.content().unwrap(), b"bye\n");
    }
}

#[tokio::test]
async fn both_directions_work_at_the_same_time() {
    let trial = Trial::of("cat");
    let mut talk = trial.open().await;
    let (input, output) = talk.split();
    let line = [&[b'x'; 1_024][..], b"\n"].concat();
    // More than both pipes hold, so that neither side can finish before the other one begins.
    let send = async {
        for _ in 0..1_000 {
            input.send(&line).await.unwrap();
        }
        input.close();
    };
    let receive = async {
        let mut lines = 0;
        while let Some(line) = output.line().await.unwrap() {
            assert_eq!(line.len(), 1_024);
            lines += 1;
        }
        lines
    };
    assert_eq!(tokio::join!(send, receive).1, 1_000);
    assert_eq!(talk.close(GRACE).await.unwrap().how, How::Exited { code: 0, signal: None });
}

#[tokio::test]
async fn a_program_that_dies_is_noticed_on_both_sides() {
    let trial = Trial::of("read -r line; printf half; kill -9 $$");
    let mut talk = trial.open().await;
    talk.send(b"go\n").await.unwrap();
    assert_eq!(talk.line().await.unwrap().unwrap(), b"half");
    assert_eq!(talk.line().await.unwrap(), None);
    assert_eq!(talk.line().await.unwrap(), None);
    let error = talk.send(&vec![b'x'; 1_024 * 1_024]).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    assert_eq!(talk.close(GRACE).await.unwrap().how, How::Exited { code: 137, signal: Some(9) });
}

#[tokio::test]
async fn cancelling_ends_the_program_and_its_children() {
    let trial = Trial::of("trap '' TERM; setsid sh -c 'echo $$ > pid; exec sleep 1000' & echo ready; sleep 1000; wait");
    let mut talk = trial.open().await;
    assert_eq!(talk.line().await.unwrap().unwrap(), b"ready");
    let pid = trial.line_of("pid").await;
    assert!(is_alive(&trial.folder, &pid));
    let begun = Instant::now();
    trial.canceller.cancel();
    assert_eq!(talk.line().await.unwrap(), None);
    assert_eq!(talk.close(GRACE).await.unwrap().how, How::Cancelled);
    assert!(!is_alive(&trial.folder, &pid));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_program_that_ignores_the_end_of_its_input_is_stopped() {
    let trial = Trial::of("echo ready; while :; do sleep 0.1; done");
    let mut talk = trial.open().await;
    assert_eq!(talk.line().await.unwrap().unwrap(), b"ready");
    let ended = talk.close(Duration::from_millis(50)).await.unwrap();
    assert_eq!(ended.how, How::Exited { code: 143, signal: Some(15) });
}

#[tokio::test]
async fn a_timeout_ends_the_conversation_although_nobody_reads() {
    let mut trial = Trial::of("yes");
    trial.plan.timeout = Some(Duration::from_millis(300));
    let talk = trial.open().await;
    assert_eq!(talk.close(GRACE).await.unwrap().how, How::TimedOut);
}

#[tokio::test]
async fn a_line_that_is_too_long_is_skipped() {
    let size = LINE_BYTES_MAX + 1;
    let trial =
        Trial::of(&format!("head -c {LINE_BYTES_MAX} /dev/zero; echo; head -c {size} /dev/zero; echo; echo next"));
    let mut talk = trial.open().await;
    assert_eq!(talk.line().await.unwrap().unwrap().len(), LINE_BYTES_MAX);
    assert_eq!(talk.line().await.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    assert_eq!(talk.line().await.unwrap().unwrap(), b"next");
    assert_eq!(talk.line().await.unwrap(), None);
    talk.close(GRACE).await.unwrap();
}

#[tokio::test]
async fn a_daemon_that_is_left_behind_is_gone() {
    let trial =
        Trial::of("setsid sh -c 'echo $$ > pid; exec sleep 1000' & until [ -s pid ]; do sleep 0.01; done; echo done");
    let mut talk = trial.open().await;
    assert_eq!(talk.line().await.unwrap().unwrap(), b"done");
    // The daemon holds the standard output open, and still the output ends.
    assert_eq!(talk.line().await.unwrap(), None);
    talk.close(GRACE).await.unwrap();
    assert!(!is_alive(&trial.folder, &trial.line_of("pid").await));
}

#[tokio::test]
async fn a_dropped_conversation_ends_its_program() {
    let trial = Trial::of("echo $$ > pid; exec sleep 1000");
    let talk = trial.open().await;
    let pid = trial.line_of("pid").await;
    drop(talk);
    let deadline = Instant::now() + Duration::from_secs(10);
    while is_alive(&trial.folder, &pid) {
        assert!(Instant::now() < deadline, "the program still runs");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_refused_program_has_no_output_and_a_reason() {
    let mut trial = Trial::of("true");
    trial.plan.words = vec!["/nowhere/program".into()];
    let mut talk = trial.open().await;
    assert_eq!(talk.line().await.unwrap(), None);
    let outcome = talk.close(GRACE).await.unwrap_err();
    assert!(format!("{outcome:?}").contains("it could not be started"), "{outcome:?}");
}

#[tokio::test]
async fn a_program_that_is_run_reads_its_input_from_a_file() {
    let mut trial = Trial::of("cat");
    trial.plan.stdin = b"from a file".into();
    let mut ended = run(&trial.attempt, &trial.plan).await.unwrap();
    assert_eq!(ended.stdout.content().unwrap(), b"from a file");
}

#[tokio::test]
async fn an_interrupt_reaches_the_program_and_it_goes_on() {
    for (sandbox, namespaces) in sandboxes().into_iter().chain([(Kind::None, Namespaces::Auto)]) {
        let program = "import sys, time\ntry:\n print('ready', flush=True)\n time.sleep(600)\n\
                       except KeyboardInterrupt:\n print('caught', flush=True)\n input()\n sys.exit(7)";
        let mut trial = Trial::of(&format!("exec python3 -c \"{program}\""));
        (trial.plan.rules.sandbox, trial.plan.rules.namespaces) = (sandbox, namespaces);
        let mut talk = trial.open().await;
        assert_eq!(talk.line().await.unwrap().unwrap(), b"ready");
        talk.control().interrupt().unwrap();
        assert_eq!(talk.line().await.unwrap().unwrap(), b"caught", "{sandbox:?} {namespaces:?}");
        talk.send(b"\n").await.unwrap();
        assert_eq!(talk.close(GRACE).await.unwrap().how, How::Exited { code: 7, signal: None });
    }
}
