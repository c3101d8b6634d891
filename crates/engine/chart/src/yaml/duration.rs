//! Durations: `500ms`, `90s`, `20m`, `2h`, `7d`.

use super::limits::DURATION_MS_MAX;

/// The units, largest first.
const UNITS: &[(&str, u64)] = &[("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Examples of durations for messages.
pub(crate) const EXAMPLES: &str = "durations look like `500ms`, `90s`, `20m`, `2h`, `7d`";

/// Parses a duration to milliseconds. Returns `None` if the text is not a duration or exceeds ten years.
pub fn parse(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let factor = UNITS.iter().find(|(name, _)| *name == unit)?.1;
    number.parse::<u64>().ok()?.checked_mul(factor).filter(|ms| *ms <= DURATION_MS_MAX)
}

/// Formats a duration in its largest exact unit.
pub(crate) fn write(ms: u64) -> String {
    let fitting = UNITS.iter().find(|(_, factor)| ms > 0 && ms.is_multiple_of(*factor));
    fitting.map_or_else(|| format!("{ms}ms"), |(name, factor)| format!("{}{name}", ms / factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_round_trip() {
        for (text, ms) in [("500ms", 500), ("90s", 90_000), ("20m", 1_200_000), ("2h", 7_200_000), ("7d", 604_800_000)]
        {
            assert_eq!(parse(text), Some(ms));
            assert_eq!(write(ms), text);
        }
        assert_eq!(write(0), "0ms");
        for text in ["", "5", "s", "5 s", "1.5s", "-5s", "5w", "5S", "4000d", "99999999999999999999s"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
