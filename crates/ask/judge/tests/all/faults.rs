//! Every kind of server fault, over real sockets.

use std::time::Duration;

use interlock_testkit_activity::model_server::{Dialect, End, ModelServer, Scripted};

use crate::trial::{Trial, bad, good};

/// Short enough for a test, long enough for a busy computer.
const SHORT: &str = "timeouts = { connect_s = 5, first_byte_s = 0.3, silence_s = 0.3, total_s = 20 }\nretries_max = 1";

/// Runs a judgement with one judge that gives these answers; returns the error message and the number of requests.
async fn fails(dialect: Dialect, answers: Vec<Scripted>) -> (String, usize) {
    let server = ModelServer::saying(answers);
    let trial = Trial::new().at(dialect, &server, SHORT);
    let ended = tokio::time::timeout(Duration::from_secs(60), trial.run()).await.expect("it hangs");
    let (code, message) = ended.error();
    assert_eq!(code, "MODEL_FAILURE", "{dialect:?}: {message}");
    assert!(message.ends_with("; rules: no rule applies"), "{message}");
    (message, server.asked().len())
}

#[tokio::test]
async fn refusal_is_not_retried() {
    for dialect in [Dialect::Anthropic, Dialect::Responses, Dialect::Chat] {
        let (message, asked) = fails(dialect, vec![dialect.refuses("I cannot help with that")]).await;
        assert!(message.contains("model: the model refuses: I cannot help with that"), "{dialect:?}: {message}");
        assert_eq!(asked, 1);
    }
}

#[tokio::test]
async fn truncated_answer_is_asked_for_again_even_if_it_parses() {
    for dialect in Dialect::ALL {
        let server = ModelServer::saying(vec![dialect.cut_off(&good()), dialect.says(&good())]);
        let trial = Trial::new().at(dialect, &server, SHORT);
        let ended = trial.run().await;
        assert_eq!(ended.name, "has_issue", "{dialect:?}: {:?}", ended.data);
        assert!(server.asked()[1].text().contains("was cut off because it is too long"), "{dialect:?}");
        let answers = &trial.judgement(&ended)["hearings"][0]["answers"];
        assert_eq!(answers[0]["problems"][0]["path"], "answer");
    }
}

#[tokio::test]
async fn empty_answer_is_asked_for_again_three_times() {
    for dialect in Dialect::ALL {
        let (message, asked) = fails(dialect, vec![dialect.says("")]).await;
        assert!(
            message.contains("4 answers were refused, the last because of answer: is empty"),
            "{dialect:?}: {message}"
        );
        assert_eq!(asked, 4);
    }
}

#[tokio::test]
async fn html_page_is_not_an_answer() {
    for dialect in Dialect::ALL {
        let (message, asked) = fails(dialect, vec![Scripted::page(200)]).await;
        let expected = "invalid answer: it is of the type `text/html`: <html><body><h1>502 Bad Gateway";
        assert!(message.contains(expected), "{dialect:?}: {message}");
        assert_eq!(asked, 1);
        let (message, asked) = fails(dialect, vec![Scripted::page(502)]).await;
        assert!(message.contains("status 502: <html><body><h1>502 Bad Gateway"), "{dialect:?}: {message}");
        assert_eq!(asked, 2, "a gateway may come back");
    }
}

#[tokio::test]
async fn stream_that_stops_midway_is_not_an_answer() {
    for dialect in Dialect::ALL {
        let whole = dialect.says(&good());
        for pieces in 0..whole.pieces.len() - 1 {
            if dialect == Dialect::Chat && pieces >= 3 {
                continue; // The finish reason has arrived: only the token count is missing.
            }
            for end in [End::Abrupt, End::Proper] {
                let (message, asked) = fails(dialect, vec![whole.clone().only(pieces, end)]).await;
                assert!(message.contains("the answer is incomplete"), "{dialect:?} {pieces}: {message}");
                assert_eq!(asked, 2, "it is retried");
            }
        }
    }
}

#[tokio::test]
async fn silence_ends_at_the_timeout() {
    for dialect in Dialect::ALL {
        let (message, asked) = fails(dialect, vec![dialect.says(&good()).only(1, End::Silent)]).await;
        assert!(message.contains("no further piece within 0.3 s"), "{dialect:?}: {message}");
        assert_eq!(asked, 1, "a silent server is not retried");
    }
    // A socket that takes the request and never answers.
    let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", mute.local_addr().unwrap());
    let settings = format!(
        "[judges.model]\nprovider = \"ollama\"\nmodel = \"m\"\nbase_url = \"{url}\"\n{SHORT}\n[chains]\ndefault = [\"model\"]"
    );
    let (_, message) = Trial::new().settings(&settings).run().await.error();
    assert!(message.contains("no beginning of an answer within 0.3 s"), "{message}");
}

#[tokio::test]
async fn endless_answer_is_cut_off() {
    let mut endless = Dialect::Chat.says(&good());
    let piece = endless.pieces[0].clone();
    let repeated = piece.repeat(1 + 9 * 1024 * 1024 / piece.len());
    endless.pieces = vec![repeated];
    let (message, asked) = fails(Dialect::Chat, vec![endless]).await;
    assert!(message.contains("the answer is longer than 8388608 bytes"), "{message}");
    assert_eq!(asked, 1);
    let trickle = Dialect::Ollama.says(&"x".repeat(2 * 1024 * 1024));
    let (message, _) = fails(Dialect::Ollama, vec![trickle]).await;
    assert!(message.contains("answer: is longer than 1048576 bytes"), "{message}");
}

#[tokio::test]
async fn retry_waits_as_long_as_the_server_requests() {
    for dialect in Dialect::ALL {
        let busy = |value: &str| dialect.fails(429, "rate_limit_error", "slow down").with("retry-after", value);
        // The test clock stands at 1970 and moves only during a sleep, so the date is seven seconds ahead.
        for (value, slept) in [("2", 2_000), ("Thu, 01 Jan 1970 00:00:07 GMT", 7_000), ("nonsense", 500)] {
            let server = ModelServer::saying(vec![busy(value), dialect.says(&good())]);
            let trial = Trial::new().at(dialect, &server, "");
            assert_eq!(trial.run().await.name, "has_issue", "{dialect:?}");
            assert_eq!(*trial.host.slept_ms.lock().unwrap(), [slept], "{dialect:?} {value}");
        }
        let server = ModelServer::saying(vec![busy("3600")]);
        let trial = Trial::new().at(dialect, &server, "");
        let (_, message) = trial.run().await.error();
        assert!(message.contains("status 429"), "{message}");
        assert_eq!((server.asked().len(), trial.host.slept_ms.lock().unwrap().len()), (1, 0), "an hour is too long");
    }
}

#[tokio::test]
async fn overloaded_server_is_retried_a_limited_number_of_times() {
    for status in [500, 502, 503, 504, 529] {
        let dialect = Dialect::Anthropic;
        let server = ModelServer::saying(vec![dialect.fails(status, "overloaded_error", "Overloaded")]);
        let trial = Trial::new().at(dialect, &server, "retries_max = 3");
        let (_, message) = trial.run().await.error();
        assert!(message.contains(&format!("status {status}: overloaded_error: Overloaded")), "{message}");
        assert_eq!(*trial.host.slept_ms.lock().unwrap(), [500, 1_000, 2_000]);
    }
    for dialect in Dialect::ALL {
        let server = ModelServer::saying(vec![dialect.breaks_off("Overloaded"), dialect.says(&good())]);
        let trial = Trial::new().at(dialect, &server, "");
        let ended = trial.run().await;
        assert_eq!(ended.name, "has_issue", "{dialect:?}: {:?}", ended.data);
        let fault = trial.judgement(&ended)["hearings"][0]["tries"][0]["fault"].as_str().unwrap().to_owned();
        assert!(
            fault.starts_with("the server closed the connection:") && fault.ends_with("Overloaded"),
            "{dialect:?}: {fault}"
        );
    }
}

#[tokio::test]
async fn permanent_error_is_not_retried() {
    for status in [401, 403] {
        let (message, asked) = fails(
            Dialect::Anthropic,
            vec![Dialect::Anthropic.fails(status, "authentication_error", "invalid x-api-key")],
        )
        .await;
        assert!(message.contains(&format!("status {status}: authentication_error: invalid x-api-key")), "{message}");
        assert_eq!(asked, 1);
    }
}

#[tokio::test]
async fn malformed_protocol_is_distinguished_from_a_malformed_answer() {
    for dialect in Dialect::ALL {
        let mut broken = dialect.says(&good());
        let piece = String::from_utf8(broken.pieces[1].clone()).unwrap();
        broken.pieces[1] = piece.replacen('{', "{{", 1).into_bytes();
        let (message, _) = fails(dialect, vec![broken]).await;
        assert!(message.contains("invalid answer: a piece is malformed"), "{dialect:?}: {message}");
        let (message, asked) = fails(dialect, vec![dialect.says("{\"reason\": oops}")]).await;
        assert!(message.contains("answer: is not the JSON that was asked for"), "{dialect:?}: {message}");
        assert_eq!(asked, 4);
        for (media, body) in
            [("application/json", "{\"choices\": [}"), ("application/json", "{}"), ("text/plain", "{}"), ("", "{}")]
        {
            let (message, _) = fails(dialect, vec![Scripted::new(200, media, body)]).await;
            assert!(message.contains("invalid answer"), "{dialect:?} {media} {body}: {message}");
        }
    }
}

#[tokio::test]
async fn unreachable_server_is_retried_and_named() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let settings = format!(
        "[judges.model]\nprovider = \"openai-chat\"\nmodel = \"m\"\nbase_url = \"http://{closed}\"\nretries_max = 2\n[chains]\ndefault = [\"model\"]"
    );
    let trial = Trial::new().settings(&settings);
    let (code, message) = trial.run().await.error();
    assert_eq!(code, "MODEL_FAILURE");
    assert!(message.contains("could not be reached"), "{message}");
    assert_eq!(trial.host.slept_ms.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn cancelled_judgement_stops_at_once() {
    let server = ModelServer::saying(vec![Dialect::Chat.says(&bad()).only(1, End::Silent)]);
    let trial = Trial::new().at(Dialect::Chat, &server, "");
    let running = tokio::spawn({
        let (judge, attempt) = (trial.judge(), trial.attempt.clone());
        async move { interlock_activity::Activity::start(&judge, attempt).await }
    });
    while server.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    trial.canceller.cancel();
    let ended = crate::trial::EndedAttempt::new(running.await.unwrap());
    assert_eq!(ended.error().0, "CANCELLED");
}
