//! Tests of the budget of a run.

use interlock_testkit_activity::model_server::{Dialect, ModelServer};

use crate::trial::{Trial, bad, good, judge};

fn trial(server: &ModelServer, budget: &str, more: &str) -> Trial {
    let judge = judge("model", Dialect::Chat, server, more);
    Trial::new().settings(&format!("{judge}[chains]\ndefault = [\"model\", \"rules\"]\n[budget]\n{budget}"))
}

#[tokio::test]
async fn token_budget_stops_the_run_also_after_a_restart() {
    let server = ModelServer::saying(vec![Dialect::Chat.says(&good())]);
    let trial = trial(&server, "tokens_per_run = 4000", "");
    let (mut judged, mut stopped) = (0, 0);
    for _ in 0..60 {
        // A new process each time, which knows only the data on disk.
        let ended = trial.run().await;
        match ended.name.as_str() {
            "has_issue" => judged += 1,
            _ => {
                let (code, message) = ended.error();
                assert_eq!(code, "BUDGET");
                assert!(message.starts_with("the run's budget for models: "), "{message}");
                stopped += 1;
            }
        }
        assert!(stopped == 0 || judged > 1, "it stopped before it had spent anything");
    }
    assert!(stopped > 0, "it never stopped");
    assert_eq!(server.asked().len(), judged, "nothing is asked beyond the budget");
    let spent = judged * 120;
    assert!(spent <= 4000, "{spent}");
}

#[tokio::test]
async fn last_answers_are_limited_by_the_remaining_budget() {
    let server = ModelServer::saying(vec![Dialect::Chat.says(&good())]);
    let trial = trial(&server, "tokens_per_run = 2600", "");
    for _ in 0..20 {
        trial.run().await;
    }
    let most: Vec<u64> = server.asked().iter().map(|asked| asked.body["max_tokens"].as_u64().unwrap()).collect();
    assert!(most.windows(2).all(|two| two[1] < two[0]), "{most:?}");
}

#[tokio::test]
async fn cost_budget_counts_repairs_too() {
    let server = ModelServer::saying(vec![Dialect::Chat.says(&bad())]);
    let price = "price = { input_per_million = 1000, output_per_million = 5000 }\nreply_tokens_max = 100";
    let trial = trial(&server, "cost_per_run = 1.5", price);
    let (code, message) = trial.run().await.error();
    assert_eq!(code, "BUDGET");
    assert!(message.contains("of 1.5 are spent"), "{message}");
    let asked = server.asked().len();
    assert!(
        (1..4).contains(&asked),
        "{asked}: each costs 0.2 by its own account, and about one by ours before it is asked"
    );
}

#[tokio::test]
async fn each_run_has_a_separate_budget() {
    let server = ModelServer::saying(vec![Dialect::Chat.says(&good())]);
    let mut trial = trial(&server, "tokens_per_run = 1800", "");
    while trial.run().await.name != "error" {}
    trial.attempt.run = "run-2".into();
    assert_eq!(trial.run().await.name, "has_issue");
}

#[tokio::test]
async fn usage_is_counted_without_a_budget() {
    let server = ModelServer::saying(vec![Dialect::Chat.says(&good())]);
    let trial = Trial::new().at(Dialect::Chat, &server, "");
    trial.run().await;
    trial.run().await;
    let ledger = interlock_judge::spent::Ledger::new(Some(trial.home.path().to_owned()));
    let spent = ledger.spent("run-1").unwrap();
    assert_eq!((spent.requests, spent.tokens), (2, 240));
}
