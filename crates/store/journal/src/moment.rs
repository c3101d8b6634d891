//! Moments as people and programs read them: RFC 3339, in UTC, to the millisecond.

use jiff::Timestamp;
use serde::Serializer;

/// Formats a moment: `2026-03-01T12:00:00.000Z`. A moment outside the years -9999 to 9999 becomes the nearest one inside.
pub fn rfc3339(ms: i64) -> String {
    format!("{:.3}", timestamp(ms))
}

/// Formats the time of day of a moment: `12:00:00`.
pub fn clock(ms: i64) -> String {
    timestamp(ms).strftime("%H:%M:%S").to_string()
}

fn timestamp(ms: i64) -> Timestamp {
    let nearest = if ms < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(ms).unwrap_or(nearest)
}

/// Serializes a moment in milliseconds as text, for serde.
pub fn serialize<S: Serializer>(ms: &i64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&rfc3339(*ms))
}

/// Serializes a moment that may be unknown, for serde.
pub fn serialize_known<S: Serializer>(ms: &Option<i64>, to: S) -> Result<S::Ok, S::Error> {
    match ms {
        Some(ms) => serialize(ms, to),
        None => to.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_as_the_calendar_says() {
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (1_709_251_200_000, "2024-03-01T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (1_792_050_044_123, "2026-10-15T07:40:44.123Z"),
        ];
        for (ms, expected) in cases {
            assert_eq!(rfc3339(ms), expected);
        }
    }

    #[test]
    fn moments_outside_the_calendar_become_the_nearest_inside() {
        assert_eq!(rfc3339(i64::MAX), "9999-12-30T22:00:00.999Z");
        assert_eq!(rfc3339(i64::MIN), "-009999-01-02T01:59:59.000Z");
        assert_eq!((clock(-1), clock(i64::MAX)), ("23:59:59".to_owned(), "22:00:00".to_owned()));
    }
}
