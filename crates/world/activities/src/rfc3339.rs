//! Parses times in the format of RFC 3339.

use jiff::Timestamp;

/// Returns the milliseconds since 1970 of a time like `2030-01-31T12:00:00.250+01:00`. A leap second counts as the second
/// before it.
pub(crate) fn parse_ms(text: &str) -> Option<i64> {
    is_strict(text).then(|| text.parse::<Timestamp>().ok())?.map(Timestamp::as_millisecond)
}

/// Reports whether a text has the shape of RFC 3339. The parser also accepts other forms of ISO 8601, such as a time
/// without seconds.
fn is_strict(text: &str) -> bool {
    let Some((start, rest)) = text.split_at_checked("2030-01-31T12:00:00".len()) else { return false };
    let shape = |(byte, pattern): (u8, u8)| match pattern {
        b'0' => byte.is_ascii_digit(),
        b'T' => b"Tt ".contains(&byte),
        _ => byte == pattern,
    };
    let zone =
        rest.strip_prefix('.').map_or(rest, |rest| rest.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    start.bytes().zip("0000-00-00T00:00:00".bytes()).all(shape)
        && (matches!(zone, "Z" | "z") || zone.len() == "+01:00".len() && zone.starts_with(['+', '-']))
}

#[cfg(test)]
mod tests {
    use super::parse_ms;

    #[test]
    fn times_are_read_as_written() {
        let cases = [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2000-02-29T12:00:00z", Some(951_825_600_000)),
            ("2026-11-15 07:40:44.5+01:00", Some(1_794_724_844_500)),
            ("1969-12-31T23:59:59.999Z", Some(-1)),
            ("2016-12-31T23:59:60Z", Some(1_483_228_799_000)),
            ("2030-01-31T12:00:00-00:30", Some(1_896_093_000_000)),
            ("2023-02-29T00:00:00Z", None),
            ("2023-13-01T00:00:00Z", None),
            ("2023-01-01T24:00:00Z", None),
            ("2023-01-01T00:00:00", None),
            ("2023-01-01T00:00:00.Z", None),
            ("2023-01-01T00:00:00+1:00", None),
            ("2023-01-01", None),
            ("2023-01-01T00:00Z", None),
            ("20230101T000000Z", None),
            ("2023-01-01T00:00:00+01", None),
            ("2023-01-01T00:00:00Z[UTC]", None),
            ("+023-01-01T00:00:00Z", None),
            ("tomorrow", None),
            ("äääääääääääää", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_ms(text), expected, "{text}");
        }
    }
}
