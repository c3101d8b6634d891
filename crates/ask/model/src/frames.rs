//! Splits a byte stream into the pieces of a protocol: server-sent events, or lines of JSON.

/// The framing of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events: `data:` lines up to an empty line.
    Events,
    /// Lines of JSON: one value per line.
    Lines,
}

/// A decoder that buffers bytes until they form a whole piece.
#[derive(Debug)]
pub(crate) struct Frames {
    framing: Framing,
    bytes: Vec<u8>,
    /// The data of the current event so far.
    data: Option<String>,
}

impl Frames {
    pub(crate) fn new(framing: Framing) -> Self {
        Frames { framing, bytes: Vec::new(), data: None }
    }

    /// Appends bytes, and returns the pieces that they complete.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        self.bytes.extend_from_slice(bytes);
        let mut pieces = Vec::new();
        let mut from = 0;
        while let Some(length) = self.bytes[from..].iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(&self.bytes[from..from + length]).into_owned();
            from += length + 1;
            pieces.extend(self.line(line.trim_end_matches('\r')));
        }
        self.bytes.drain(..from);
        pieces
    }

    /// Returns the remaining piece when the stream has ended: the last line needs no line end.
    pub(crate) fn rest(mut self) -> Option<String> {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.bytes)).into_owned();
        let last = self.line(line.trim_end_matches('\r'));
        last.or(self.data)
    }

    fn line(&mut self, line: &str) -> Option<String> {
        match self.framing {
            Framing::Lines => Some(line.trim().to_owned()).filter(|line| !line.is_empty()),
            Framing::Events if line.is_empty() => self.data.take(),
            Framing::Events => {
                if let Some(data) = line.strip_prefix("data:") {
                    let data = data.strip_prefix(' ').unwrap_or(data);
                    match &mut self.data {
                        Some(known) => *known = format!("{known}\n{data}"),
                        None => self.data = Some(data.to_owned()),
                    }
                }
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(framing: Framing, text: &str, size: usize) -> Vec<String> {
        let mut frames = Frames::new(framing);
        let mut pieces: Vec<String> = text.as_bytes().chunks(size).flat_map(|chunk| frames.take(chunk)).collect();
        pieces.extend(frames.rest());
        pieces
    }

    #[test]
    fn pieces_do_not_depend_on_how_the_bytes_arrive() {
        let cases = [
            (
                Framing::Events,
                "event: a\ndata: {\"x\": \"ä\"}\n\n: ping\n\ndata: [DONE]\n\n",
                vec!["{\"x\": \"ä\"}", "[DONE]"],
            ),
            (Framing::Events, "data:1\r\ndata: 2\r\n\r\ndata: 3", vec!["1\n2", "3"]),
            (Framing::Events, "id: 7\nretry: 1\n\n", vec![]),
            (Framing::Lines, "{\"a\":1}\n\n{\"b\":\"ö\"}\r\n{\"c\"", vec!["{\"a\":1}", "{\"b\":\"ö\"}", "{\"c\""]),
        ];
        for (framing, text, expected) in cases {
            for size in 1..=text.len() {
                assert_eq!(cut(framing, text, size), expected, "{text:?} by {size}");
            }
        }
    }
}
