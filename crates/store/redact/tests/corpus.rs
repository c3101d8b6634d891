//! Tests of every secret and every look-alike in `corpus/`, and of the properties of redaction.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{io::Read, sync::Arc};

use interlock_redact::{Reader, Redactor, Stream, redact};
use proptest::prelude::*;

#[derive(serde::Deserialize)]
struct Corpus {
    case: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    name: String,
    text: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    gone: Vec<String>,
    #[serde(default)]
    stays: String,
}

fn secrets() -> Vec<Case> {
    toml::from_str::<Corpus>(include_str!("../corpus/secrets.toml")).unwrap().case
}

fn lookalikes() -> Vec<Case> {
    toml::from_str::<Corpus>(include_str!("../corpus/lookalikes.toml")).unwrap().case
}

/// Returns the error in the redacted text of a case, if any.
fn wrong(case: &Case, result: &str) -> Option<String> {
    let left = case.gone.iter().find(|gone| result.contains(gone.as_str()));
    let why = match left {
        Some(left) => format!("`{left}` is still there"),
        None if !result.contains(&format!("[redacted: {}]", case.kind)) => format!("no mark says {}", case.kind),
        None if !result.contains(&case.stays) => format!("`{}` is gone", case.stays),
        None => return None,
    };
    Some(format!("{}: {why}\n    {}\n    {result}", case.name, case.text))
}

fn assert_none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{} wrong:\n  {}", wrong.len(), wrong.join("\n  "));
}

#[test]
fn every_secret_is_removed_and_its_surroundings_stay() {
    let cases = secrets();
    assert!(cases.len() >= 100, "there are {} cases", cases.len());
    assert_none(cases.iter().filter_map(|case| wrong(case, &redact(&case.text))).collect());
}

#[test]
fn colours_do_not_hide_a_secret() {
    let secret = "ghp_QQcdefghijklmnopqrstuvwxyz0123456789";
    let cut = |at: usize| format!("{}\x1b[m\x1b[K{}", &secret[..at], &secret[at..]);
    let redactor = Redactor::new(["SyntheticValue77"]);
    for at in 1..secret.len() {
        let text = format!("\x1b[32mok\x1b[m\nsee \x1b[01;31m\x1b[K{} here\n\x1b[1mend\x1b[m\n", cut(at));
        let result = redactor.text(&text);
        assert!(result.contains("see [redacted: ") && result.contains("] here\n"), "{at}: {result:?}");
        assert!(result.starts_with("\x1b[32mok\x1b[m\n") && result.ends_with("\x1b[1mend\x1b[m\n"), "{result:?}");
        assert!(redactor.may_hold(&text));
    }
    let known = "a Synthetic\x1b[0mValue77 b";
    assert_eq!(redactor.text(known), "a [redacted: known secret] b");
    assert!(redactor.may_hold(known));
    let link = format!("\x1b]8;;https://user:{secret}@host/\x1b\\text\x1b]8;;\x1b\\");
    assert!(!redactor.text(&link).contains("QQcdef"));
    let harmless = "\x1b[31mred\x1b[m and \x1b[1mbold\x1b[m\n";
    assert_eq!(redactor.text(harmless), harmless);
}

#[test]
fn every_look_alike_stays() {
    let cases = lookalikes();
    let changed = cases.iter().filter(|case| redact(&case.text) != case.text);
    assert_none(changed.map(|case| format!("{}\n    {}\n    {}", case.name, case.text, redact(&case.text))).collect());
}

#[test]
fn redaction_is_idempotent() {
    let again = |case: &Case| {
        let once = redact(&case.text).into_owned();
        let twice = redact(&once).into_owned();
        (once != twice).then(|| format!("{}\n    {once}\n    {twice}", case.name))
    };
    assert_none(secrets().iter().filter_map(again).collect());
}

#[test]
fn stream_result_does_not_depend_on_the_cuts() {
    let redactor = Arc::new(Redactor::default());
    let mut failures = Vec::new();
    for case in secrets().iter().chain(&lookalikes()) {
        let text = format!("{}\n", case.text);
        let whole = redactor.bytes(text.as_bytes()).into_owned();
        for size in [1, 2, 7, 16, 61] {
            let mut stream = Stream::new(Arc::clone(&redactor));
            let mut out: Vec<u8> = text.as_bytes().chunks(size).flat_map(|piece| stream.push(piece)).collect();
            out.extend(stream.finish());
            if out != whole {
                failures.push(format!("{} by {size}: {}", case.name, String::from_utf8_lossy(&out)));
            }
        }
    }
    assert_none(failures);
}

#[test]
fn reader_gives_the_same_result_as_the_whole_text() {
    let text: String = secrets().iter().map(|case| format!("{}\n", case.text)).collect::<String>().repeat(20);
    let redactor = Arc::new(Redactor::default());
    let mut read = String::new();
    Reader::new(text.as_bytes(), Arc::clone(&redactor)).read_to_string(&mut read).unwrap();
    assert_eq!(read, redactor.text(&text));
}

#[test]
fn secret_in_an_endless_line_is_found() {
    let redactor = Arc::new(Redactor::default());
    let token = format!("ghp_{}", "FAKE0fake1".repeat(4));
    let text = format!("{} {token} {}", "word ".repeat(30_000), "more ".repeat(30_000));
    let mut stream = Stream::new(redactor);
    let mut out: Vec<u8> = text.as_bytes().chunks(1000).flat_map(|piece| stream.push(piece)).collect();
    out.extend(stream.finish());
    let out = String::from_utf8(out).unwrap();
    assert!(!out.contains("FAKE0fake1"));
    assert!(out.contains("[redacted: github token]"));
}

#[test]
fn hidden_characters_and_full_width_do_not_hide_a_secret() {
    let token = "ghp_QQcdefghijklmnopqrstuvwxyz0123456789";
    let cut = |by: &str| format!("see {}{by}{} here\n", &token[..20], &token[20..]);
    for by in ["\u{200b}", "\u{200d}", "\u{2060}", "\u{feff}", "\u{ad}"] {
        assert_eq!(redact(&cut(by)), "see [redacted: github token] here\n", "{by:?}");
    }
    for text in [
        "password：hunter2xyz",
        "密码：hunter2xyz",
        "密码: hunter2xyz",
        "数据库密码=hunter2xyz",
        "пароль: hunter2xyz",
        "ＡＰＩ＿ＫＥＹ＝FAKE0fake1FAKE2fake3FAKE4",
    ] {
        assert!(redact(text).contains("[redacted: "), "{text}: {}", redact(text));
    }
    for text in ["密码是什么？请告诉我：好的", "密码：请输入", "你好，世界：一切正常。", "a\u{200b}b"]
    {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn hashes_webhooks_and_encoded_logins_are_found() {
    let hex = "0123456789abcdef".repeat(4);
    for text in [
        "user:$apr1$abcdefgh$0123456789abcdefghijkl".to_owned(),
        "root:$1$abcdefgh$0123456789abcdefghijkl:0".to_owned(),
        format!("root:$5$abcdefgh${}:0", &"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"[..43]),
        format!("patAbCdEfGhIjKlMn.{hex}"),
        "Authorization: SSWS 00QQabcdefghijklmnopqrstuvwxyz0123456789AB".to_owned(),
        format!("dt0s16.ABCDEFGH.{}", &"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".repeat(2)),
        "https://x.webhook.office.com/webhookb2/1-2@3/IncomingWebhook/0123456789abcdef0123456789abcdef/01234567-89ab-cdef-0123-456789abcdef".to_owned(),
        r#"{"auths":{"ghcr.io":{"auth":"YWRhOmh1bnRlcjJ4eXo="}}}"#.to_owned(),
        r#"{"db":{"pw":"hunter2xyz"}}"#.to_owned(),
    ] {
        assert!(redact(&text).contains("[redacted: "), "{text}");
    }
    for text in [
        "path/to/patch.patient pattern",
        "auth: true",
        r#""auth": "basic""#,
        r#""auth": "required""#,
        "price is $1$2 or $5$",
        "const pw = require('playwright')",
        "pw: ${PW}",
        "sha512-9c5b1d0e2f3a4b5c6d7e8f90",
        "2f1acc6c3a606b082e5eef5e54414ffb",
        "550e8400-e29b-41d4-a716-446655440000",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn lock_files_pages_and_sources_have_no_mark() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let files = [
        "Cargo.lock",
        "README.zh-CN.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "Makefile",
        "crates/store/redact/src/escapes.rs",
    ];
    for file in files {
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        let changed = redact(&text);
        let line = text.lines().zip(changed.lines()).find(|(before, after)| before != after);
        assert_eq!(line, None, "{file}");
    }
    // Numbers of commits, checksums and names that look like anything.
    let random = (0..2_000_u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x0123_4567_89ab_cdef);
    let text: String = random
        .map(|n| format!("{n:016x}{n:016x}{:08x} {n:08x}-1234-4abc-8def-{n:012x} sha256:{n:032x}{n:032x}\n", n as u32))
        .collect();
    assert_eq!(redact(&text), text);
}

#[test]
fn known_values_are_found_in_every_notation() {
    let redactor = Redactor::new(["correct horse/battery", "tiny"]);
    let text = "a correct horse/battery, correct%20horse%2Fbattery, Y29ycmVjdCBob3JzZS9iYXR0ZXJ5 and tiny things";
    let expected = "a [redacted: known secret], [redacted: known secret], [redacted: known secret] and tiny things";
    assert_eq!(redactor.text(text), expected);
    let named = redactor.text("password: \"correct horse/battery\" rest").into_owned();
    assert_eq!(named, "password: \"[redacted: known secret]\" rest");
}

#[test]
fn json_is_judged_by_its_field_names() {
    let mut value = serde_json::json!({
        "password": "two words 8", "count": 3, "tree": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "argv": ["deploy", "--token", "FAKE0fake1FAKE2", "--region", "eu"],
        "env": [{"name": "DB_PASSWORD", "value": "FAKEfake8"}, {"name": "HOME", "value": "/home/ada"}],
        "headers": {"Authorization": "Bearer FAKE0fake1FAKE2fake3", "accept": "*/*"},
        "log": "PASSWORD=FAKEfake8 ok",
    });
    assert!(Redactor::default().json(&mut value));
    let expected = serde_json::json!({
        "password": "[redacted: password]", "count": 3, "tree": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "argv": ["deploy", "--token", "[redacted: token]", "--region", "eu"],
        "env": [{"name": "DB_PASSWORD", "value": "[redacted: password]"}, {"name": "HOME", "value": "/home/ada"}],
        "headers": {"Authorization": "Bearer [redacted: authorization]", "accept": "*/*"},
        "log": "PASSWORD=[redacted: password] ok",
    });
    assert_eq!(value, expected);
    assert!(!Redactor::default().json(&mut value), "the second time changes nothing");
}

/// Texts made of pieces of the corpus, so that all kinds of evidence are combined.
fn pieces() -> impl Strategy<Value = String> {
    let all: Vec<String> = secrets().into_iter().chain(lookalikes()).map(|case| case.text).collect();
    let piece = (prop::sample::select(all), 0..200_usize, 0..200_usize).prop_map(|(text, skip, take)| {
        text.chars().skip(skip % text.chars().count().max(1)).take(take).collect::<String>()
    });
    let between = prop::sample::select(vec!["", " ", "\n", "=", ": ", "\"", "'", "ä", "\\", "@", "://", "--", "&"]);
    prop::collection::vec((piece, between), 1..6)
        .prop_map(|parts| parts.into_iter().map(|(piece, between)| piece + between).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_causes_a_failure_and_redaction_is_idempotent(text in pieces()) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once).into_owned(), once);
    }

    #[test]
    fn no_bytes_cause_a_failure(bytes in prop::collection::vec(any::<u8>(), 0..300), text in pieces()) {
        let redactor = Arc::new(Redactor::new(["known value"]));
        let all = [bytes.as_slice(), text.as_bytes(), bytes.as_slice()].concat();
        let _ = redactor.bytes(&all);
        let mut stream = Stream::new(redactor);
        all.chunks(13).for_each(|piece| drop(stream.push(piece)));
        stream.finish();
        let _ = Redactor::default().json(&mut serde_json::json!({ "password": text.clone(), "Authorization": text }));
    }
}
