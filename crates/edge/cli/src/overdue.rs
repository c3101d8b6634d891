//! Deadlines as text and JSON: the time until the next timer of a run fires, or since it is overdue.

use interlock_journal::moment;
use interlock_runtime::Live;
use serde_json::{Value as Json, json};

/// Formats a duration in its largest unit: `5s`, `3m`, `2h`, `4d`.
pub(crate) fn age(ms: i64) -> String {
    let seconds = ms.max(0) / 1_000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Formats a deadline: `in 5m`, or `overdue 5m`.
pub(crate) fn words(due_ms: i64, now_ms: i64) -> String {
    match due_ms > now_ms {
        true => format!("in {}", age(due_ms - now_ms)),
        false => format!("overdue {}", age(now_ms - due_ms)),
    }
}

/// Returns a sentence with the next deadline of a run; empty if it has none.
pub(crate) fn sentence(live: &Live, now_ms: i64) -> String {
    let Some((timer, due_ms)) = live.due(i64::MAX) else { return String::new() };
    let (event, at) = (live.raised_by(timer), moment::rfc3339(due_ms));
    match due_ms > now_ms {
        true => format!("Deadline: `{event}` fires at {at} ({}).\n", words(due_ms, now_ms)),
        false => format!(
            "Deadline: `{event}` was due at {at} ({}). It fires before any other event. Fire it now with `interlock resume --due`.\n",
            words(due_ms, now_ms)
        ),
    }
}

/// Formats a deadline as JSON.
pub(crate) fn json(due_ms: Option<i64>, now_ms: i64) -> Json {
    due_ms.map_or(Json::Null, |due_ms| json!({ "due": moment::rfc3339(due_ms), "overdue": due_ms <= now_ms }))
}

#[cfg(test)]
mod tests {
    use super::{age, words};

    #[test]
    fn ages_are_said_in_their_largest_unit() {
        let cases = [(-5, "0s"), (59_999, "59s"), (60_000, "1m"), (7_200_000, "2h"), (90_000_000, "1d")];
        for (ms, expected) in cases {
            assert_eq!(age(ms), expected);
        }
    }

    #[test]
    fn a_deadline_is_ahead_or_overdue() {
        assert_eq!(words(5_000, 1_000), "in 4s");
        assert_eq!(words(5_000, 5_000), "overdue 0s");
        assert_eq!(words(5_000, 125_000), "overdue 2m");
    }
}
