//! Entries are stored once per round and are found again by any text that people type.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interlock_knowledge::{Came, FILE, Filter, Hit, Knowledge, Round};
use tempfile::TempDir;

/// The moment 2026-03-01T12:00:00Z.
const NOON: i64 = 1_772_366_400_000;

fn empty() -> (TempDir, Knowledge) {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = Knowledge::open(folder.path()).unwrap();
    (folder, knowledge)
}

fn round(run: &str, iteration: u64, title: &str, symptom: &str) -> Round {
    Round {
        run: run.to_owned(),
        iteration,
        at_ms: NOON,
        machine: "firmware".to_owned(),
        title: title.to_owned(),
        symptom: symptom.to_owned(),
        result: Some(Came::Fixed),
        product_line: "sensor".to_owned(),
        ..Round::default()
    }
}

fn titles(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.entry.title.as_str()).collect()
}

fn found(knowledge: &Knowledge, text: &str) -> Vec<String> {
    let hits = knowledge.search(text, &Filter::default(), 10).unwrap();
    hits.into_iter().map(|hit| hit.entry.title).collect()
}

#[test]
fn an_entry_has_an_id_of_its_day_and_is_shown_whole() {
    let (_folder, knowledge) = empty();
    let full = Round {
        cause: "off by one".to_owned(),
        patch: "-a\n+b".to_owned(),
        tags: vec!["uart".to_owned(), "uart".to_owned(), " ".to_owned()],
        files: vec!["src/ring.c".to_owned()],
        confidence: 7.0,
        evidence_refs: vec!["ab12".to_owned()],
        ..round("fix", 1, "ring overflows", "test_wrap fails")
    };
    assert_eq!(knowledge.record(&full).unwrap(), "ku_20260301_001");
    assert_eq!(knowledge.record(&round("fix", 2, "second", "")).unwrap(), "ku_20260301_002");
    let next_day = Round { at_ms: NOON + 86_400_000, ..round("fix", 3, "third", "") };
    assert_eq!(knowledge.record(&next_day).unwrap(), "ku_20260302_001");
    let entry = knowledge.show("ku_20260301_001").unwrap().unwrap();
    assert_eq!((entry.tags.as_slice(), entry.confidence, entry.result), (&["uart".to_owned()][..], 1.0, Came::Fixed));
    let json = serde_json::to_value(&entry).unwrap();
    assert_eq!((json["at"].as_str(), json["result"].as_str()), (Some("2026-03-01T12:00:00.000Z"), Some("fixed")));
    assert_eq!(knowledge.show("ku_none").unwrap(), None);
    assert_eq!(knowledge.all().unwrap().len(), 3);
}

#[test]
fn the_same_round_is_the_same_entry_and_its_last_text_is_found() {
    let (folder, knowledge) = empty();
    let first = knowledge.record(&round("fix", 1, "before", "apples")).unwrap();
    let again = Knowledge::open(folder.path()).unwrap().record(&round("fix", 1, "after", "pears")).unwrap();
    assert_eq!(first, again);
    assert_eq!(knowledge.all().unwrap().len(), 1);
    assert_eq!((found(&knowledge, "pears"), found(&knowledge, "apples").len()), (vec!["after".to_owned()], 0));
}

#[test]
fn what_fits_best_comes_first() {
    let (_folder, knowledge) = empty();
    knowledge.record(&round("a", 1, "timer wheel loses a tick", "test_tick fails after overflow")).unwrap();
    knowledge.record(&round("b", 1, "ring_pop returns the wrong byte", "the ring buffer overflows")).unwrap();
    knowledge.record(&round("c", 1, "UART overrun", "bytes are lost")).unwrap();
    assert_eq!(found(&knowledge, "ring buffer overflow")[0], "ring_pop returns the wrong byte");
    assert_eq!(found(&knowledge, "ring_pop"), ["ring_pop returns the wrong byte"]);
    assert_eq!(found(&knowledge, "ticks lost").len(), 2, "words are found in their other forms");
    let hits = knowledge.search("overrun", &Filter::default(), 10).unwrap();
    assert_eq!((hits[0].snippet.as_str(), hits[0].score > 0.0), ("UART [overrun]", true));
    assert_eq!(knowledge.search("ring OR uart timer", &Filter::default(), 2).unwrap().len(), 2);
}

#[test]
fn whatever_is_typed_is_only_words() {
    let (_folder, knowledge) = empty();
    knowledge.record(&round("a", 1, "AND NEAR NOT", "title:x \"quoted\" * ^ (a OR b) NEAR/2")).unwrap();
    let typed = [
        "",
        "\"",
        "\"\"\"",
        "'",
        "*",
        "a*",
        "^a",
        "(",
        ")",
        "NOT",
        "AND",
        "OR",
        "NEAR(a b, 2)",
        "title:x",
        "-a",
        "a AND",
        "+ -",
        "{a}:b",
        "\0",
        "%",
        "_",
        "___",
        "日本語",
        "a\"b",
        "; DROP TABLE entry; --",
        "é",
        "🦀",
        "…",
        "col : \"x\" + y",
    ];
    for text in typed {
        assert!(knowledge.search(text, &Filter::default(), 5).is_ok(), "{text:?}");
    }
    assert_eq!(found(&knowledge, "NOT").len(), 1);
    assert_eq!(found(&knowledge, "quoted near").len(), 1);
    assert!(knowledge.search(&"word ".repeat(100_000), &Filter::default(), 5).is_ok());
    let filter = Filter { product_line: Some("' OR 1=1 --".to_owned()), tags: vec!["'".to_owned()] };
    assert_eq!(knowledge.search("near", &filter, 5).unwrap(), []);
}

#[test]
fn a_search_is_narrowed_by_product_line_and_by_all_of_its_tags() {
    let (_folder, knowledge) = empty();
    let tagged = |run: &str, line: &str, tags: &[&str]| Round {
        product_line: line.to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..round(run, 1, run, "overflow")
    };
    knowledge.record(&tagged("a", "sensor", &["uart", "dma"])).unwrap();
    knowledge.record(&tagged("b", "sensor", &["uart"])).unwrap();
    knowledge.record(&tagged("c", "gateway", &["uart", "dma"])).unwrap();
    let look = |text: &str, line: Option<&str>, tags: &[&str]| {
        let filter =
            Filter { product_line: line.map(str::to_owned), tags: tags.iter().map(|tag| (*tag).to_owned()).collect() };
        let mut names: Vec<String> =
            titles(&knowledge.search(text, &filter, 10).unwrap()).into_iter().map(str::to_owned).collect();
        names.sort();
        names.join(" ")
    };
    assert_eq!(look("overflow", Some("sensor"), &[]), "a b");
    assert_eq!(look("overflow", None, &["uart", "dma"]), "a c");
    assert_eq!(look("overflow", Some("gateway"), &["dma"]), "c");
    assert_eq!(look("", None, &["dma"]), "a c", "without a word the newest are found");
    assert_eq!(look("nothing", None, &["dma"]), "");
}

#[test]
fn meaning_finds_what_words_do_not_and_both_together_come_first() {
    let (_folder, knowledge) = empty();
    for (run, title) in
        [("a", "stack grows into the heap"), ("b", "heap is used after it was freed"), ("c", "wrong baud rate")]
    {
        knowledge.record(&round(run, 1, title, title)).unwrap();
    }
    let vectors = [("a", [1.0, 0.1, 0.0]), ("b", [0.9, 0.3, 0.0]), ("c", [0.0, 0.0, 1.0])];
    for entry in knowledge.without_vector("m", 10).unwrap() {
        let (_, vector) = vectors.iter().find(|(run, _)| *run == entry.run).unwrap();
        assert!(knowledge.keep_vector(&entry, "m", vector).unwrap());
    }
    assert_eq!(knowledge.without_vector("m", 10).unwrap(), []);
    assert_eq!(knowledge.without_vector("other", 2).unwrap().len(), 2);
    let near = |text: &str, vector: &[f32]| {
        let hits = knowledge.search_meaning(text, ("m", vector), &Filter::default(), 10).unwrap();
        hits.into_iter().map(|hit| hit.entry.run).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(near("memory corruption", &[1.0, 0.0, 0.0]), "a b");
    assert_eq!(near("freed", &[1.0, 0.0, 0.0]), "b a");
    assert_eq!(near("baud", &[1.0, 0.0, 0.0]), "a c b");
    assert_eq!(near("baud", &[1.0, 0.0]), "c", "a vector of another length says nothing");
    assert_eq!(near("baud", &[0.0, 0.0, 0.0]), "c");
}

#[test]
fn a_vector_of_an_entry_that_has_changed_is_not_kept() {
    let (_folder, knowledge) = empty();
    knowledge.record(&round("a", 1, "before", "")).unwrap();
    let before = knowledge.all().unwrap().remove(0);
    assert!(knowledge.keep_vector(&before, "m", &[1.0]).unwrap());
    knowledge.record(&round("a", 1, "after", "")).unwrap();
    assert_eq!(knowledge.without_vector("m", 10).unwrap().len(), 1, "the old vector is gone");
    assert!(!knowledge.keep_vector(&before, "m", &[1.0]).unwrap());
}

#[test]
fn several_at_once_have_an_id_each() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for run in 0..16 {
            let path = folder.path();
            scope.spawn(move || {
                let knowledge = Knowledge::open(path).unwrap();
                for iteration in 0..5 {
                    knowledge.record(&round(&format!("r{run}"), iteration, "x", "y")).unwrap();
                }
            });
        }
    });
    let mut ids: Vec<String> =
        Knowledge::open(folder.path()).unwrap().all().unwrap().into_iter().map(|entry| entry.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), ids.last().map(String::as_str)), (80, Some("ku_20260301_080")));
}

#[test]
fn a_file_that_is_none_of_ours_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(FILE), "not a database, but long enough to be looked at as if it were one")
        .unwrap();
    assert!(Knowledge::open(folder.path()).unwrap_err().to_string().contains("could not be opened"));
}
