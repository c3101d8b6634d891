//! Measures text and fits it into a given width.
//!
//! The font that will draw a picture is unknown during the layout, so widths are estimated from a table of a common
//! sans serif, slightly too wide. The module does not interpret the text.

/// Widths of ASCII from the space to `~`, in thousandths of the font size.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];

/// The factor by which most fonts are at most wider than the table.
const SAFETY: f64 = 1.07;

/// The weight of the font.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The default weight.
    Regular,
    /// The weight of state names.
    Bold,
}

/// Returns the estimated width of one line of text.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let thousandths: f64 = text.chars().map(char_width).sum();
    let heavier = if weight == Weight::Bold { 1.07 } else { 1.0 };
    thousandths * size * heavier * SAFETY / 1000.0
}

fn char_width(letter: char) -> f64 {
    let code = letter as u32;
    match code {
        0x20..=0x7e => f64::from(WIDTHS[(code - 0x20) as usize]),
        0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0.0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 => {
            1000.0
        }
        0x1f000..=0x1faff => 1300.0,
        0x20000.. => 1000.0,
        0x2000.. => 900.0,
        _ => 620.0,
    }
}

/// Returns the text, or as much of its beginning as fits with an ellipsis.
pub(crate) fn shorten(text: &str, size: f64, weight: Weight, room: f64) -> String {
    if width(text, size, weight) <= room {
        return text.to_owned();
    }
    let room = room - width("…", size, weight);
    let mut kept = String::new();
    let mut used = 0.0;
    for letter in text.chars() {
        used += width(letter.encode_utf8(&mut [0; 4]), size, weight);
        if used > room {
            break;
        }
        kept.push(letter);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Breaks the text between words into at most `lines_max` lines. If there is more text, the last line is shortened.
pub(crate) fn wrap(text: &str, size: f64, room: f64, lines_max: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if lines_fit(line, word, size, room) => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
        if lines.len() > lines_max {
            break;
        }
    }
    if lines.len() > lines_max {
        lines.truncate(lines_max);
        if let Some(last) = lines.last_mut() {
            last.push_str(" …");
        }
    }
    lines.iter().map(|line| shorten(line, size, Weight::Regular, room)).collect()
}

fn lines_fit(line: &str, word: &str, size: f64, room: f64) -> bool {
    width(line, size, Weight::Regular) + width(" ", size, Weight::Regular) + width(word, size, Weight::Regular) <= room
}

/// Escapes text for XML: special characters become entities, control characters become spaces.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push('\n'),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortened_text_fits_and_ends_with_an_ellipsis() {
        for room in [20.0, 40.0, 77.0] {
            let short = shorten("context.decision.status == 'blocked'", 12.0, Weight::Regular, room);
            assert!(short.ends_with('…'), "{short}");
            assert!(width(&short, 12.0, Weight::Regular) <= room, "{short} in {room}");
        }
        assert_eq!(shorten("ok", 12.0, Weight::Bold, 60.0), "ok");
    }

    #[test]
    fn wrapped_lines_fit_and_the_last_one_is_shortened() {
        let lines = wrap("Change code until its tests pass, five times at most.", 12.0, 110.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with('…'), "{lines:?}");
        assert!(lines.iter().all(|line| width(line, 12.0, Weight::Regular) <= 110.0));
    }

    #[test]
    fn escaped_text_is_safe_in_elements_and_attributes() {
        assert_eq!(escape("a<b && \"c\"\u{1}"), "a&lt;b &amp;&amp; &quot;c&quot; ");
    }
}
