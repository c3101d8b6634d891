//! Parses times in the format of RFC 3339.

/// Returns the milliseconds since 1970 of a time like `2030-01-31T12:00:00.250+01:00`.
pub(crate) fn parse_ms(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (clock, rest) = rest.split_at_checked(8)?;
    let [year, month, day] = numbers(date, b'-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(clock, b':', [2, 2, 2])?;
    let (fraction_ms, zone) = fraction_ms(rest)?;
    let is_valid = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    // A leap second counts as the first moment of the next minute.
    if !is_valid || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some((seconds - zone_seconds(zone)?) * 1_000 + fraction_ms)
}

fn numbers(text: &str, between: u8, digits: [usize; 3]) -> Option<[i64; 3]> {
    let mut parts = text.split(char::from(between));
    let mut number = |digits| parts.next().filter(|part| part.len() == digits).and_then(whole);
    let numbers = [number(digits[0])?, number(digits[1])?, number(digits[2])?];
    parts.next().is_none().then_some(numbers)
}

fn whole(text: &str) -> Option<i64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Returns the milliseconds of an optional fraction such as `.25`, and the rest of the text.
fn fraction_ms(text: &str) -> Option<(i64, &str)> {
    let Some(rest) = text.strip_prefix('.') else { return Some((0, text)) };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (fraction, zone) = rest.split_at(digits);
    (digits > 0).then_some(())?;
    let padded: String = fraction.chars().chain("000".chars()).take(3).collect();
    Some((whole(&padded)?, zone))
}

fn zone_seconds(zone: &str) -> Option<i64> {
    if zone == "Z" || zone == "z" {
        return Some(0);
    }
    let (sign, rest) = match zone.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':').filter(|_| rest.len() == 5)?;
    let (hours, minutes) = (whole(hours)?, whole(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days since 1970. Years are counted from March, so that the leap day is the last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468
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
            ("2016-12-31T23:59:60Z", Some(1_483_228_800_000)),
            ("2030-01-31T12:00:00-00:30", Some(1_896_093_000_000)),
            ("2023-02-29T00:00:00Z", None),
            ("2023-13-01T00:00:00Z", None),
            ("2023-01-01T24:00:00Z", None),
            ("2023-01-01T00:00:00", None),
            ("2023-01-01T00:00:00.Z", None),
            ("2023-01-01T00:00:00+1:00", None),
            ("2023-01-01", None),
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
