//! Retry policy: which failures are retried, and after which delay.

use std::{
    collections::BTreeMap,
    time::{Duration, UNIX_EPOCH},
};

use crate::Fault;

/// The first delay if the server names none; it doubles with every retry.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// Reports if the fault is transient, so that a retry may succeed.
pub(crate) fn may_pass(fault: &Fault) -> bool {
    match fault {
        Fault::Unreachable(_) | Fault::BrokenOff(_) | Fault::Stopped(_) => true,
        Fault::Timeout { what, .. } => *what == "connection",
        // Anthropic uses 529 to report an overload.
        Fault::Status { status, .. } => matches!(status, 408 | 409 | 425 | 429 | 500 | 502 | 503 | 504 | 529),
        Fault::Overflow(_) | Fault::NotUnderstood(_) | Fault::TooLong(_) | Fault::Refusal(_) | Fault::Local(_) => false,
    }
}

/// Returns the delay before the next retry; `None` if the server asks for more than the allowed maximum.
pub(crate) fn wait(fault: &Fault, tries: u32, most: Duration) -> Option<Duration> {
    match fault {
        Fault::Status { retry_after_ms: Some(ms), .. } => Some(Duration::from_millis(*ms)).filter(|wait| *wait <= most),
        _ => Some(FIRST_WAIT.saturating_mul(1 << tries.min(16)).min(most)),
    }
}

/// Reads the retry delay that the server names: milliseconds, seconds or a date.
pub(crate) fn after_ms(headers: &BTreeMap<String, String>, now_ms: i64) -> Option<u64> {
    let number = |name: &str| headers.get(name)?.trim().parse::<f64>().ok().filter(|number| *number >= 0.0);
    if let Some(ms) = number("retry-after-ms") {
        return Some(ms as u64);
    }
    if let Some(seconds) = number("retry-after") {
        return Some((seconds * 1000.0) as u64);
    }
    let at_ms = date_ms(headers.get("retry-after")?)?;
    Some(u64::try_from(at_ms - now_ms).unwrap_or_default())
}

/// Parses an HTTP date such as `Sun, 06 Nov 1994 08:49:37 GMT` to milliseconds since 1970.
fn date_ms(text: &str) -> Option<i64> {
    let since = httpdate::parse_http_date(text.trim()).ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_delay_is_read_in_three_forms() {
        let now_ms = 784_111_777_000; // Sun, 06 Nov 1994 08:49:37 GMT
        let cases = [
            ("retry-after", "7", Some(7_000)),
            ("retry-after", "0.5", Some(500)),
            ("retry-after-ms", "120", Some(120)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT", Some(10_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT", Some(0)),
            ("retry-after", "Tue, 29 Feb 2000 00:00:00 GMT", Some(951_782_400_000 - 784_111_777_000)),
            ("retry-after", "Sunday, 06-Nov-94 08:49:47 GMT", Some(10_000)),
            ("retry-after", "-1", None),
            ("retry-after", "soon", None),
            ("retry-after", "Sun, 06 Xxx 1994 08:49:47 GMT", None),
            ("retry-after", "", None),
            ("x", "7", None),
        ];
        for (name, value, expected) in cases {
            let headers = BTreeMap::from([(name.to_owned(), value.to_owned())]);
            assert_eq!(after_ms(&headers, now_ms), expected, "{name}: {value}");
        }
    }

    #[test]
    fn delays_double_up_to_the_maximum() {
        let busy = |retry_after_ms| Fault::Status { status: 429, said: String::new(), retry_after_ms };
        let most = Duration::from_secs(3);
        let waits: Vec<_> = (0..4).map(|tries| wait(&busy(None), tries, most).unwrap().as_millis()).collect();
        assert_eq!(waits, [500, 1_000, 2_000, 3_000]);
        assert_eq!(wait(&busy(Some(2_500)), 0, most), Some(Duration::from_millis(2_500)));
        assert_eq!(wait(&busy(Some(3_001)), 0, most), None);
    }
}
