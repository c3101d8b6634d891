//! Moments as people and programs read them: RFC 3339, in UTC, to the millisecond.

use serde::Serializer;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Formats a moment: `2026-03-01T12:00:00.000Z`.
pub fn rfc3339(ms: i64) -> String {
    let (year, month, day) = date(ms.div_euclid(DAY_MS));
    format!("{year:04}-{month:02}-{day:02}T{}.{:03}Z", clock(ms), ms.rem_euclid(1_000))
}

/// Formats the time of day of a moment: `12:00:00`.
pub fn clock(ms: i64) -> String {
    let seconds = ms.rem_euclid(DAY_MS) / 1_000;
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
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

/// Returns the year, month and day of a day counted from 1970. Years begin in March here, so that the leap day is the
/// last day of its year; 400 years always have the same number of days.
fn date(days: i64) -> (i64, i64, i64) {
    const DAYS_IN_400_YEARS: i64 = 146_097;
    const FROM_MARCH_OF_YEAR_0: i64 = 719_468;
    let days = days + FROM_MARCH_OF_YEAR_0;
    let (era, day_of_era) = (days.div_euclid(DAYS_IN_400_YEARS), days.rem_euclid(DAYS_IN_400_YEARS));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year_of_era + next_year, month, day)
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
    fn every_day_follows_the_one_before() {
        let mut before = date(-1_000);
        for day in -999..60_000 {
            let now = date(day);
            let next = now == (before.0, before.1, before.2 + 1);
            let month = now == (before.0, before.1 + 1, 1) && before.2 >= 28;
            let year = now == (before.0 + 1, 1, 1) && (before.1, before.2) == (12, 31);
            assert!(next || month || year, "{before:?} {now:?}");
            before = now;
        }
    }
}
