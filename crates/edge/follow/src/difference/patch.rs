//! Reads patches as text. Lines within a hunk are counted by the hunk's head, so that no content looks like a head.

use std::path::PathBuf;

use super::ChangedFile;

/// The end of a patch that was cut: `# 804342 more bytes are not shown`.
const CUT: (&str, &str) = ("# ", " more bytes are not shown");

/// One file of a patch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) file: ChangedFile,
    pub(super) text: String,
}

/// The lines that the present hunk still has: removed or unchanged, added or unchanged.
type Left = (u64, u64);

/// Splits a patch into its files. Also returns the number of bytes that whoever stored it left out.
pub(super) fn sections(text: &str) -> (Vec<Section>, u64) {
    let (mut all, mut left, mut missing): (Vec<Section>, Left, u64) = (Vec::new(), (0, 0), 0);
    let mut has_hunks = false;
    for line in text.split_inclusive('\n') {
        if left == (0, 0) {
            let is_plain_head = line.starts_with("--- ") && all.last().is_none_or(|_| has_hunks);
            if line.starts_with("diff --git ") || is_plain_head {
                all.push(Section { file: file(), text: String::new() });
                has_hunks = false;
            }
            missing += cut(line).unwrap_or(0);
        }
        let Some(section) = all.last_mut() else { continue };
        section.text.push_str(line);
        match left {
            (0, 0) => match hunk(line) {
                Some(begun) => (left, has_hunks) = (begun, true),
                None => section.head(line),
            },
            _ => left = section.count(line, left),
        }
    }
    (all, missing)
}

fn file() -> ChangedFile {
    let (path, name) = (String::new(), PathBuf::new());
    ChangedFile { path, how: "changed", added: Some(0), removed: Some(0), note: None, run: None, seq: 0, name }
}

impl Section {
    /// Reads a line before the first hunk of a file, or between two hunks.
    fn head(&mut self, line: &str) {
        let line = line.trim_end_matches('\n');
        let file = &mut self.file;
        if let Some(names) = line.strip_prefix("diff --git a/") {
            // Both names are the same, because renames are written as two files.
            file.path = names.get(..names.len().saturating_sub(3) / 2).unwrap_or(names).to_owned();
        } else if line.starts_with("new file") || line == "--- /dev/null" {
            file.how = "added";
        } else if line.starts_with("deleted file") || line == "+++ /dev/null" {
            file.how = "removed";
        } else if line.starts_with("GIT binary patch")
            || line.starts_with("Binary files")
            || line.starts_with("# binary")
        {
            (file.added, file.removed, file.note) = (None, None, Some("binary".to_owned()));
        }
        let named = line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- ")).filter(|name| *name != "/dev/null");
        if let Some(name) = named {
            let name = name.split('\t').next().unwrap_or(name);
            file.path = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name).to_owned();
        }
        file.name = PathBuf::from(&file.path);
    }

    /// Counts a line of a hunk, and returns the lines that the hunk still has.
    fn count(&mut self, line: &str, (old, new): Left) -> Left {
        let more = |count: &mut Option<u64>| *count = count.map(|count| count + 1);
        match line.as_bytes().first() {
            Some(b'-') => {
                more(&mut self.file.removed);
                (old.saturating_sub(1), new)
            }
            Some(b'+') => {
                more(&mut self.file.added);
                (old, new.saturating_sub(1))
            }
            Some(b'\\') => (old, new),
            _ => (old.saturating_sub(1), new.saturating_sub(1)),
        }
    }
}

/// Reads `@@ -12,3 +12,4 @@`.
fn hunk(line: &str) -> Option<Left> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(old)?, count(new)?))
}

fn cut(line: &str) -> Option<u64> {
    line.trim_end().strip_prefix(CUT.0)?.strip_suffix(CUT.1)?.parse().ok()
}

/// Returns a patch as text, with a note in place of the content of binary files.
pub(super) fn textual(patch: &[u8]) -> String {
    let patch = String::from_utf8_lossy(patch);
    let mut text = String::with_capacity(patch.len());
    let mut is_binary = false;
    for line in patch.split_inclusive('\n') {
        if line.starts_with("diff --git ") {
            is_binary = false;
        }
        // A line of content begins with a blank or a sign, so it is none of these heads.
        if line.starts_with("GIT binary patch") {
            is_binary = true;
            text.push_str("Binary files differ\n");
        }
        if !is_binary {
            text.push_str(line);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_that_looks_like_a_head_is_counted_as_content() {
        let text = "diff --git a/my list b/my list\n--- a/my list\n+++ b/my list\n@@ -1,3 +1,3 @@\n--- a/fake\n+++ b/fake\n-x\n+y\n same\n\
                    diff --git a/new b/new\nnew file mode 100644\n";
        let (found, missing) = sections(text);
        let told: Vec<_> =
            found.iter().map(|one| (one.file.path.as_str(), one.file.how, one.file.added, one.file.removed)).collect();
        assert_eq!(told, [("my list", "changed", Some(2), Some(2)), ("new", "added", Some(0), Some(0))]);
        assert_eq!((found.iter().map(|one| one.text.as_str()).collect::<String>().as_str(), missing), (text, 0));
    }

    #[test]
    fn a_patch_that_was_cut_says_how_much_is_missing() {
        let (found, missing) = sections("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n# 804342 more bytes are not shown\n");
        assert_eq!((found.len(), found[0].file.added, missing), (1, Some(1), 804_342));
    }

    #[test]
    fn the_content_of_binary_files_is_left_out() {
        let binary = "diff --git a/x b/x\nGIT binary patch\nliteral 3\nKcmZ\n\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n";
        let expected = "diff --git a/x b/x\nBinary files differ\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n";
        assert_eq!(textual(binary.as_bytes()), expected);
    }
}
