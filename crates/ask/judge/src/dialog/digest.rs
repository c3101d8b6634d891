//! Makes room in a conversation: old messages are replaced by a digest that lists the calls and their results in short.
//!
//! The first message, with the task and its data, stays, and so do the latest messages. The digest is made without a
//! model, so that it costs nothing and says nothing that did not happen.

use interlock_model::{CallsTurn, ToolCall, Turn};

/// The fewest tokens that a conversation needs.
pub(super) const ROOM_TOKENS_MIN: u64 = 512;

/// The most characters of the digest.
const DIGEST_CHARS_MAX: usize = 6_000;

/// The most characters of one line of it.
const LINE_CHARS_MAX: usize = 160;

/// The most characters of a text in a conversation that still does not fit, halved until it does.
const TEXT_CHARS: [usize; 5] = [16_000, 8_000, 4_000, 2_000, 1_000];

/// Returns messages that fit, and true if they are unchanged.
pub(super) fn fit(turns: Vec<Turn>, room_tokens: u64) -> (Vec<Turn>, bool) {
    if tokens(&turns) <= room_tokens {
        return (turns, true);
    }
    let mut turns = shortened(turns, room_tokens / 2);
    for chars in TEXT_CHARS {
        if tokens(&turns) <= room_tokens {
            break;
        }
        turns.iter_mut().for_each(|turn| cut(turn, chars));
    }
    (turns, false)
}

fn tokens(turns: &[Turn]) -> u64 {
    turns.iter().map(Turn::tokens).sum()
}

/// Keeps the first message and the latest ones within the room, and puts a digest in place of the others.
fn shortened(turns: Vec<Turn>, room_tokens: u64) -> Vec<Turn> {
    let mut start = turns.len().saturating_sub(1);
    let mut used = 0;
    for at in (1..turns.len()).rev() {
        used += turns[at].tokens();
        if used > room_tokens && at + 1 < turns.len() {
            break;
        }
        // Results need the calls before them.
        if !matches!(turns[at], Turn::Results(_)) {
            start = at;
        }
    }
    while start > 1 && matches!(turns[start], Turn::Results(_)) {
        start -= 1;
    }
    if start <= 1 {
        return turns;
    }
    let digest = digest(&turns[1..start]);
    let mut kept = turns;
    let latest = kept.split_off(start);
    kept.truncate(1);
    kept.into_iter().chain([Turn::User(digest)]).chain(latest).collect()
}

fn digest(turns: &[Turn]) -> String {
    let mut lines = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        match turn {
            Turn::User(text) | Turn::Model(text) => lines.push(short(text)),
            Turn::Calls(CallsTurn { say, calls }) => {
                lines.extend(Some(short(say)).filter(|say| !say.is_empty()));
                lines.extend(calls.iter().map(|call| line(call, turns.get(at + 1))));
            }
            Turn::Results(_) => {}
        }
    }
    let text: String = lines.iter().map(|line| format!("- {line}\n")).collect();
    let skip = text.chars().count().saturating_sub(DIGEST_CHARS_MAX);
    let text: String = text.chars().skip(skip).collect();
    format!(
        "Older messages were left out to make room. In short, oldest first:\n{text}\
         Read a file again if you need its content."
    )
}

fn line(call: &ToolCall, next: Option<&Turn>) -> String {
    let result = match next {
        Some(Turn::Results(results)) => results.iter().find(|result| result.id == call.id),
        _ => None,
    };
    let how = result.map_or("no result", |result| if result.ok { "ok" } else { "failed" });
    format!("{} {} → {how}", call.name, short(&call.args.to_string()))
}

fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.chars().count() {
        0..=LINE_CHARS_MAX => text,
        _ => format!("{}…", text.chars().take(LINE_CHARS_MAX).collect::<String>()),
    }
}

/// Cuts the texts of a message; the beginning and the end stay.
fn cut(turn: &mut Turn, chars: usize) {
    let cut = |text: &mut String| {
        let count = text.chars().count();
        if count > chars {
            let head: String = text.chars().take(chars / 2).collect();
            let tail: String = text.chars().skip(count - chars / 2).collect();
            *text = format!("{head}\n[… {} characters left out …]\n{tail}", count - chars / 2 * 2);
        }
    };
    match turn {
        Turn::User(text) | Turn::Model(text) => cut(text),
        Turn::Calls(turn) => {
            cut(&mut turn.say);
            for call in &mut turn.calls {
                let fields = call.args.as_object_mut().into_iter().flat_map(|fields| fields.values_mut());
                for field in fields {
                    if let serde_json::Value::String(text) = field {
                        cut(text);
                    }
                }
            }
        }
        Turn::Results(results) => results.iter_mut().for_each(|result| cut(&mut result.text)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use interlock_model::ToolResult;

    fn exchange(number: usize) -> [Turn; 2] {
        let id = format!("c{number}");
        let call = ToolCall { id: id.clone(), name: "read_file".into(), args: json!({ "path": format!("f{number}") }) };
        let result = ToolResult { id, name: "read_file".into(), ok: true, text: "line\n".repeat(60) };
        [Turn::Calls(CallsTurn { say: String::new(), calls: vec![call] }), Turn::Results(vec![result])]
    }

    #[test]
    fn a_conversation_that_fits_is_unchanged() {
        let turns: Vec<Turn> = [Turn::User("task".into())].into_iter().chain(exchange(1)).collect();
        assert_eq!(fit(turns.clone(), 10_000), (turns, true));
    }

    #[test]
    fn old_exchanges_become_a_digest_and_results_keep_their_calls() {
        let turns: Vec<Turn> = [Turn::User("task".into())].into_iter().chain((1..=20).flat_map(exchange)).collect();
        let (fitted, is_whole) = fit(turns, 1_000);
        assert!(!is_whole && tokens(&fitted) <= 1_000, "{}", tokens(&fitted));
        assert_eq!(fitted[0], Turn::User("task".into()));
        let Turn::User(digest) = &fitted[1] else { panic!("{:?}", fitted[1]) };
        assert!(digest.contains("- read_file {\"path\":\"f1\"} → ok"), "{digest}");
        assert!(matches!(fitted[2], Turn::Calls(_)), "{:?}", fitted[2]);
        assert_eq!(fitted.last(), Some(&exchange(20)[1]));
    }

    #[test]
    fn one_result_that_is_too_long_is_cut() {
        let mut turns: Vec<Turn> = [Turn::User("task".into())].into_iter().chain(exchange(1)).collect();
        if let Turn::Results(results) = &mut turns[2] {
            results[0].text = "x".repeat(100_000);
        }
        let (fitted, _) = fit(turns, 4_000);
        assert!(tokens(&fitted) <= 4_000, "{}", tokens(&fitted));
    }
}
