//! The files next to a document that it names: scripts and data.

use std::{collections::BTreeMap, path::Path};

/// The longest file that is read.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Returns the contents of the files that the text names with `src`, by the name it uses. Only plain names in the
/// document's directory are read; a file that cannot be read is left out.
pub(crate) fn files(text: &str, scxml: &Path) -> BTreeMap<String, String> {
    let folder = scxml.parent().unwrap_or(Path::new("."));
    let read = |source: &str| {
        let path = folder.join(plain_name(source)?);
        let is_small = std::fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= FILE_BYTES_MAX);
        let text = is_small.then(|| std::fs::read_to_string(&path).ok()).flatten()?;
        Some((source.to_owned(), text))
    };
    sources(text).filter_map(read).collect()
}

/// The values of all attributes called `src`.
fn sources(text: &str) -> impl Iterator<Item = &str> {
    text.split("src=").skip(1).filter_map(|rest| {
        let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''))?;
        rest[1..].split(quote).next()
    })
}

/// The name of a file in the same directory.
fn plain_name(source: &str) -> Option<&str> {
    let name = source.strip_prefix("file:").unwrap_or(source);
    let is_plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':', '\0']);
    is_plain.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_read() {
        let named: Vec<_> = sources(r#"<data src="file:a.txt"/><script src='b.js'/><data src=c/> src="#).collect();
        assert_eq!(named, ["file:a.txt", "b.js"]);
        let cases = [
            ("file:a.txt", Some("a.txt")),
            ("b.js", Some("b.js")),
            ("../b.js", None),
            ("file:///etc/passwd", None),
            ("..", None),
            ("", None),
            ("http://x", None),
        ];
        for (source, expected) in cases {
            assert_eq!(plain_name(source), expected, "{source}");
        }
    }
}
