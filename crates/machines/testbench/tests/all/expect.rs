//! Dialogues over a stream.

use std::{fs, time::Duration};

use interlock_testbench::expect::{Expect, PatternMatch, Unmet};
use regex::bytes::Regex;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

const LONG: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(20);

fn patterns<const N: usize>(said: [&str; N]) -> Vec<Regex> {
    said.iter().map(|one| Regex::new(one).unwrap()).collect()
}

fn pair() -> (Expect<DuplexStream>, DuplexStream) {
    let (ours, theirs) = duplex(1 << 20);
    (Expect::new(ours), theirs)
}

#[tokio::test]
async fn earliest_match_in_the_text_wins() {
    let cases = [
        ("boot\nlogin: ", ["login: ", "boot"], (1, "boot", "")),
        ("boot\nlogin: ", ["login: ", "panic"], (0, "login: ", "boot\n")),
        ("abc", ["b", "bc"], (0, "b", "a")),
        ("\u{fffd}x=7;", ["=(?P<value>\\d);", "never"], (0, "=7;", "\u{fffd}x")),
    ];
    for (said, wanted, (which, text, before)) in cases {
        let (mut expect, mut device) = pair();
        device.write_all(said.as_bytes()).await.unwrap();
        let found = expect.wait_for(&patterns(wanted), LONG).await.unwrap();
        assert_eq!((found.which, &*found.text, &*found.before), (which, text, before), "{said:?} {wanted:?}");
    }
}

#[tokio::test]
async fn dialogue_consumes_text_step_by_step() {
    let (mut expect, mut device) = pair();
    let device = async move {
        let mut heard = [0; 3];
        device.write_all(b"name? na").await.unwrap();
        device.read_exact(&mut heard).await.unwrap();
        device.write_all(b"me? ").await.unwrap();
        device.write_all(&heard).await.unwrap();
    };
    let us = async {
        expect.wait_for(&patterns(["name\\? "]), LONG).await.unwrap();
        expect.send(b"ada").await.unwrap();
        expect.wait_for(&patterns(["name\\? "]), LONG).await.unwrap();
        expect.wait_for(&patterns(["(?P<who>a.a)$"]), LONG).await.unwrap()
    };
    let (found, ()) = tokio::join!(us, device);
    let groups = [("who".to_owned(), "ada".to_owned())].into();
    assert_eq!(found, PatternMatch { which: 0, text: "ada".into(), before: String::new(), groups });
}

#[tokio::test]
async fn missing_pattern_is_reported_with_the_received_text() {
    let (mut expect, mut device) = pair();
    device.write_all(b"not this").await.unwrap();
    let late = expect.wait_for(&patterns(["that"]), SHORT).await.unwrap_err();
    assert!(matches!(&late, Unmet::TimedOut { instead, .. } if instead == "not this"), "{late:?}");
    drop(device);
    let gone = expect.wait_for(&patterns(["that"]), LONG).await.unwrap_err();
    assert!(matches!(&gone, Unmet::Closed { instead } if instead == "not this"), "{gone:?}");
    assert!(expect.is_closed());
}

#[tokio::test]
async fn log_is_complete_and_memory_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("serial.log");
    let (expect, mut device) = pair();
    let mut expect = expect.logged(&log).unwrap();
    let said: Vec<u8> = (0..400_000_u32).map(|number| (number % 251) as u8).collect();
    let never = patterns(["never"]);
    let waiting = expect.wait_for(&never, LONG);
    let (unmet, ()) = tokio::join!(waiting, async {
        device.write_all(&said).await.unwrap();
        drop(device);
    });
    assert!(matches!(unmet, Err(Unmet::Closed { .. })));
    assert_eq!(fs::read(&log).unwrap(), said);
    assert_eq!(expect.heard(), 400_000);
    assert!(expect.rest().len() <= 64 * 1024, "{}", expect.rest().len());
}

#[tokio::test]
async fn counts_are_independent_of_awaited_patterns() {
    let (mut expect, mut device) = pair();
    let (boots, empty) = (expect.count(Regex::new("boot \\d").unwrap()), expect.count(Regex::new("z*").unwrap()));
    device.write_all(b"boot 1 boot 2 bo").await.unwrap();
    expect.wait_for(&patterns(["1 boot"]), LONG).await.unwrap();
    assert_eq!(expect.seen(boots), 2);
    device.write_all(b"ot 3").await.unwrap();
    drop(device);
    expect.drain(LONG).await;
    assert_eq!(expect.seen(boots), 3);
    assert!(expect.seen(empty) > 0);
}

#[tokio::test]
async fn dropped_wait_loses_no_input() {
    let (mut expect, mut device) = pair();
    device.write_all(b"half a ").await.unwrap();
    expect.wait_for(&patterns(["half a line"]), SHORT).await.unwrap_err();
    device.write_all(b"line").await.unwrap();
    assert_eq!(expect.wait_for(&patterns(["half a line"]), LONG).await.unwrap().text, "half a line");
}
