//! Searches the knowledge of earlier runs by meaning, with a server on loopback.

use interlock_judge::settings::Settings;
use interlock_knowledge::{Filter, Knowledge, Round, SearchResult, Vectors, search};
use interlock_model::embeddings::Embedder;
use interlock_testkit_activity::model_server::{End, ModelServer, ReceivedRequest, Scripted};
use serde_json::{Value, json};

/// A vector with a dimension for memory, one for serial lines, and a constant.
fn vector(text: &str) -> Vec<f64> {
    let has = |words: &[&str]| f64::from(u8::from(words.iter().any(|word| text.contains(word))));
    vec![has(&["heap", "stack", "memory", "malloc"]), has(&["uart", "baud", "serial"]), 0.1]
}

fn answer(asked: &ReceivedRequest) -> Scripted {
    let texts = asked.body["input"].as_array().unwrap();
    // The order is arbitrary, because the index assigns each vector to its text.
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .rev()
        .map(|(index, text)| json!({ "index": index, "embedding": vector(text.as_str().unwrap()) }))
        .collect();
    Scripted::new(200, "application/json", json!({ "data": data }).to_string())
}

struct Scene {
    _folder: tempfile::TempDir,
    knowledge: Knowledge,
    embedder: Embedder,
}

fn scene(url: &str) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let settings = format!(
        "[embeddings]\nbase_url = \"{url}/v1\"\nmodel = \"mini\"\nheaders = {{ x-own = \"1\" }}\ntimeouts = {{ total_s = 5, first_byte_s = 0.5 }}\n"
    );
    std::fs::write(folder.path().join("judges.toml"), settings).unwrap();
    let settings = Settings::load(Some(folder.path()), folder.path()).unwrap();
    let knowledge = Knowledge::open(folder.path()).unwrap();
    for (run, title) in
        [("a", "the heap is used after it was freed"), ("b", "the stack overflows"), ("c", "wrong baud divisor")]
    {
        let round = Round { run: run.to_owned(), title: title.to_owned(), ..Round::default() };
        knowledge.record(&round).unwrap();
    }
    Scene { _folder: folder, knowledge, embedder: Embedder::new(settings.embeddings.as_ref().unwrap()) }
}

async fn found(scene: &Scene, text: &str) -> SearchResult {
    let make = async |texts: &[String]| scene.embedder.vectors(texts).await;
    let vectors = Vectors { model: scene.embedder.model(), make };
    search(&scene.knowledge, Some(vectors), text, &Filter::default(), 10).await.unwrap()
}

fn runs(found: &SearchResult) -> String {
    found.hits.iter().map(|hit| hit.entry.run.as_str()).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn meaning_is_found_and_vectors_are_created_once() {
    let server = ModelServer::start(|_, asked| answer(asked));
    let scene = scene(&server.url);
    let memory = found(&scene, "memory corruption").await;
    assert_eq!((runs(&memory).as_str(), memory.trouble), ("a b", None));
    let serial = found(&scene, "serial line prints rubbish").await;
    assert_eq!(runs(&serial), "c");
    let asked = server.asked();
    assert_eq!(asked[0].line, "POST /v1/embeddings HTTP/1.1");
    assert_eq!((asked[0].headers["x-own"].as_str(), &asked[0].body["model"]), ("1", &json!("mini")));
    let counts: Vec<usize> = asked.iter().map(|asked| asked.body["input"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [4, 1], "the second time only the question is new");
}

#[tokio::test]
async fn many_entries_are_sent_in_several_requests() {
    let server = ModelServer::start(|_, asked| answer(asked));
    let scene = scene(&server.url);
    for iteration in 0..70 {
        let round =
            Round { run: "many".to_owned(), iteration, title: format!("malloc {iteration}"), ..Round::default() };
        scene.knowledge.record(&round).unwrap();
    }
    assert_eq!(found(&scene, "memory").await.hits.len(), 10);
    let counts: Vec<usize> = server.asked().iter().map(|asked| asked.body["input"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [32, 32, 10]);
}

#[tokio::test]
async fn failing_server_falls_back_to_keywords_and_is_reported() {
    let json = |body: Value| Scripted::new(200, "application/json", body.to_string());
    let cases = [
        (Scripted::new(401, "application/json", "{\"error\":\"no key\"}"), "answered 401"),
        (Scripted::page(502), "answered 502"),
        (Scripted::new(200, "application/json", "{"), "is not JSON"),
        (json(json!({ "data": [] })), "not have one vector"),
        (json(json!({})), "no `data`"),
        (json(json!({ "data": [{ "index": 9, "embedding": [1.0] }] })), "for an unknown text"),
        (json(json!({ "data": [{ "index": 0, "embedding": ["x"] }] })), "an invalid vector"),
        (Scripted::new(200, "application/json", "").only(0, End::Abrupt), ""),
    ];
    for (scripted, said) in cases {
        let server = ModelServer::saying(vec![scripted]);
        let scene = scene(&server.url);
        let found = found(&scene, "stack").await;
        let trouble = found.trouble.clone().unwrap();
        assert!(trouble.contains(said), "{trouble}");
        assert_eq!(runs(&found), "b", "{trouble}");
    }
    let scene = scene("http://127.0.0.1:9");
    assert!(found(&scene, "stack").await.trouble.is_some());
}
