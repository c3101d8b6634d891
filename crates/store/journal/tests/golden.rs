//! The stored bytes of records and evidence. They must never change: journals of older versions have them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use expect_test::expect;
use interlock_chart::{Value, model::Raiser};
use interlock_journal::{By, Entry, EvidenceStore, Hash, Unchained};

fn entries() -> [Entry; 3] {
    let ada = By::user("ada");
    assert_eq!(ada.kind, Raiser::User);
    let data = Value::map([("n", Value::Int(1))]);
    [
        Entry::Event { event: "go".into(), data, by: ada.clone(), id: Some("once".into()) },
        Entry::Note { text: "a note".into(), data: Value::empty() },
        Entry::Note { text: "x".repeat(20_000), data: Value::empty() },
    ]
}

#[test]
fn records_have_the_bytes_they_always_had() {
    let home = tempfile::tempdir().unwrap();
    let store = EvidenceStore::open(home.path().join("evidence")).unwrap();
    let (mut lines, mut before) = (String::new(), Hash::NONE);
    for (entry, seq) in entries().iter().zip(1..) {
        let record = Unchained::kept(1_700_000_000_000 + seq, entry, &store).unwrap();
        let record = record.chained("golden", u64::try_from(seq).unwrap(), &before);
        lines += &format!("{} {} {}\n  {}\n", record.seq, record.kind, record.payload, record.hash);
        assert_eq!(record.entry(&store).unwrap(), *entry);
        before = record.hash;
    }
    expect![[r#"
        1 2 {"event":"go","data":{"n":1},"by":{"kind":"user","name":"ada"},"id":"once"}
          e3d54168baf91e173ff5b9e53bb04d99bfdc875cb7a0b7344999d82102b1730f
        2 8 {"text":"a note"}
          72f0c8e0a0f42e47c35b4aeed52e91d921c7bf59f97c09bf6a472f5a34523906
        3 136 {"payload":"cdf2f2c69126e8e2bc716e8661fd595b257feef6c48cced72ad86f2922591a69"}
          e2f0051e64b279f1629a9620e9b607bdc443ed629a9ce4abfa640a75ee68bfea
    "#]]
    .assert_eq(&lines);
}

#[test]
fn evidence_has_the_hash_and_the_file_it_always_had() {
    let home = tempfile::tempdir().unwrap();
    let store = EvidenceStore::open(home.path().to_owned()).unwrap();
    let kept = store.put("log", "text/plain", "line\n".repeat(1_000).as_bytes()).unwrap();
    let file = store.path(&kept.hash).unwrap();
    let name = file.strip_prefix(home.path()).unwrap().display().to_string();
    let stored = Hash::of(&std::fs::read(&file).unwrap());
    expect![[r#"
        118f44c712f12aeb6ede6fbe803fcb2d1733b51d1c38d9c955c30d532f0cd5c7 text/plain 5000
        11/8f44c712f12aeb6ede6fbe803fcb2d1733b51d1c38d9c955c30d532f0cd5c7.zst
        16d64e43be7aeeb24733fb383094434088dd2717fdc99c051c651bcd6b48344c
    "#]]
    .assert_eq(&format!("{} {} {}\n{name}\n{stored}\n", kept.hash, kept.media, kept.bytes));
}
