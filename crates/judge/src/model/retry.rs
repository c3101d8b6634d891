//! What is worth trying again, and when.

use std::{collections::BTreeMap, time::Duration};

use super::Fault;

/// The first wait where the server names none; it doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// Whether it may pass by itself.
pub(super) fn may_pass(fault: &Fault) -> bool {
    match fault {
        Fault::Unreachable(_) | Fault::BrokenOff(_) | Fault::Stopped(_) => true,
        Fault::Timeout { what, .. } => *what == "connection",
        // 529 is how Anthropic says that it has too much to do.
        Fault::Status { status, .. } => matches!(status, 408 | 409 | 425 | 429 | 500 | 502 | 503 | 504 | 529),
        Fault::NotUnderstood(_) | Fault::TooLong(_) | Fault::Refusal(_) | Fault::Local(_) => false,
    }
}

/// Whether the server refuses what it was asked in this form, so that another form may do.
pub(super) fn is_form_refused(fault: &Fault) -> bool {
    matches!(fault, Fault::Status { status: 400 | 404 | 405 | 415 | 422 | 501, .. })
}

/// How long to wait before the next try; none where the server wants more patience than is allowed.
pub(super) fn wait(fault: &Fault, tries: u32, most: Duration) -> Option<Duration> {
    match fault {
        Fault::Status { retry_after_ms: Some(ms), .. } => Some(Duration::from_millis(*ms)).filter(|wait| *wait <= most),
        _ => Some(FIRST_WAIT.saturating_mul(1 << tries.min(16)).min(most)),
    }
}

/// What the server says about when to come back: milliseconds, seconds or a date.
pub(super) fn after_ms(headers: &BTreeMap<String, String>, now_ms: i64) -> Option<u64> {
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

/// Milliseconds since 1970 of a date as HTTP has it: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn date_ms(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, rest) = text.trim().split_once(", ")?;
    let mut parts = rest.split(' ');
    let day: i64 = parts.next()?.parse().ok()?;
    let month = parts.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as i64 + 1;
    let year: i64 = parts.next()?.parse().ok()?;
    let clock: Vec<i64> = parts.next()?.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let ([hour, minute, second], Some("GMT")) = (clock.as_slice(), parts.next()) else { return None };
    // Years that begin in March have their leap day last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    (1969..10_000).contains(&year).then_some((days * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_say_when_to_come_back_in_three_ways() {
        let now_ms = 784_111_777_000; // Sun, 06 Nov 1994 08:49:37 GMT
        let cases = [
            ("retry-after", "7", Some(7_000)),
            ("retry-after", "0.5", Some(500)),
            ("retry-after-ms", "120", Some(120)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT", Some(10_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT", Some(0)),
            ("retry-after", "Tue, 29 Feb 2000 00:00:00 GMT", Some(951_782_400_000 - 784_111_777_000)),
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
    fn waits_grow_and_end() {
        let busy = |retry_after_ms| Fault::Status { status: 429, said: String::new(), retry_after_ms };
        let most = Duration::from_secs(3);
        let waits: Vec<_> = (0..4).map(|tries| wait(&busy(None), tries, most).unwrap().as_millis()).collect();
        assert_eq!(waits, [500, 1_000, 2_000, 3_000]);
        assert_eq!(wait(&busy(Some(2_500)), 0, most), Some(Duration::from_millis(2_500)));
        assert_eq!(wait(&busy(Some(3_001)), 0, most), None);
    }
}
