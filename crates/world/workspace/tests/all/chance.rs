//! Deterministic pseudo-random numbers, and text made from them.

/// A pseudo-random number generator with its state.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % below as u64) as usize
    }

    pub(crate) fn is(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    pub(crate) fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }

    /// Returns random text. Many lines are equal, some are empty, some end with white space, some are not UTF-8.
    /// Sometimes the last line feed is missing.
    pub(crate) fn text(&mut self) -> Vec<u8> {
        const LINES: [&[u8]; 9] =
            [b"", b"}", b"    x = 1;", b"if (a) {", b"\treturn b;  ", b"end", b"-- dash", b"+++ plus", b"caf\xe9"];
        let ending: &[u8] = if self.is(4) { b"\r\n" } else { b"\n" };
        let mut text = Vec::new();
        for number in 0..self.below(40) {
            text.extend_from_slice(LINES[self.below(LINES.len())]);
            if self.is(3) {
                text.extend_from_slice(number.to_string().as_bytes());
            }
            text.extend_from_slice(ending);
        }
        if self.is(4) {
            text.extend_from_slice(b"no line feed");
        }
        text
    }

    /// Returns the text with a few lines changed, removed and added.
    pub(crate) fn edited(&mut self, text: &[u8]) -> Vec<u8> {
        let mut edited = Vec::new();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            match self.below(14) {
                0 => {}
                1 => edited.extend_from_slice(b"changed\n"),
                2 => edited.extend_from_slice(&[line, b"added\n"].concat()),
                _ => edited.extend_from_slice(line),
            }
        }
        edited
    }
}
