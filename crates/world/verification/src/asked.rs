//! The files that a request asks for by name: those to write, and those to delete.
//!
//! Only the direct forms are found, in English and Chinese: "write docs/help.md", "add a section to README.md", "the manual
//! (docs/manual.md)" behind such a verb, "delete base.txt", "新建 docs/help.md". A file that a request only mentions is
//! none of them.

use std::{path::Path, sync::LazyLock};

use regex::Regex;

/// A path: with an ending that files have, or below a directory.
pub const PATH: &str = r"[\w@.+-]+(?:/[\w@.+-]+)*\.(?:md|markdown|rst|adoc|txt|text|py|pyi|rs|js|jsx|mjs|cjs|ts|tsx|go|c|h|cc|cpp|hpp|java|kt|swift|rb|php|pl|lua|dart|cs|sh|bash|zsh|sql|html?|css|scss|svg|png|json|toml|ya?ml|ini|cfg|conf|env|xml|csv|tsv|lock|mk|cmake|proto|tf|bat|ps1|ipynb|tex|patch)\b";

/// The files that a request asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskedFiles {
    /// Files that are to be written.
    pub written: Vec<String>,
    /// Files that are to be deleted.
    pub deleted: Vec<String>,
}

struct Forms {
    written: Regex,
    deleted: Regex,
    denied: Regex,
    path: Regex,
}

static FORMS: LazyLock<Option<Forms>> = LazyLock::new(|| {
    let list = format!(
        "[(\"'`]*{PATH}[)\"'`]*(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+|\\s*、\\s*|\\s*和\\s*)[\"'`]*{PATH}[\"'`]*)*"
    );
    let written = format!(
        "(?i)(?:\\b(?:write|create|add|generate|produce|draft|document|save|put|append|insert)\\b|写入|写|编写|创建|新建|添加|增加|生成|补充)\
         (?:(?:\\s+[\\w'-]+){{0,6}}?\\s+(?:to|in|into|as|at|called|named)|(?:\\s+(?:the|a|an|new|file|files|short|test|empty|one|simple|missing|[a-z]+\\s+\\(|\\w+\\s+file|\\w+\\s+page)){{0,4}}?|\
         \\s+(?:[\\w'-]+\\s+){{1,6}}?[(]|[^。，,.]{{0,6}}?)\\s*(?P<list>{list})"
    );
    let deleted = format!(
        "(?i)(?:\\b(?:delete|remove|drop)\\b|删除|删掉|移除)(?:\\s+(?:the|file|files|old|obsolete|unused)){{0,3}}\\s*(?P<list>{list})"
    );
    Some(Forms {
        written: Regex::new(&written).ok()?,
        deleted: Regex::new(&deleted).ok()?,
        denied: Regex::new(r"(?i)\b(?:not|never|don't|do not|without|how)\b[^.,;]*$|(?:不要|别|勿|怎么|如何)[^。，]*$")
            .ok()?,
        path: Regex::new(PATH).ok()?,
    })
});

/// Returns the files that a request asks for by name.
pub fn asked_files(request: &str) -> AskedFiles {
    let mut asked = AskedFiles::default();
    let Some(forms) = &*FORMS else { return asked };
    for line in request.lines() {
        for (form, into) in [(&forms.written, &mut asked.written), (&forms.deleted, &mut asked.deleted)] {
            for found in form.captures_iter(line) {
                let (whole, list) = (found.get(0).map_or(0, |whole| whole.start()), found.name("list"));
                let list = list.map_or("", |list| list.as_str());
                if !forms.denied.is_match(&line[..whole]) {
                    into.extend(
                        forms.path.find_iter(list).map(|path| path.as_str().trim_start_matches("./").to_owned()),
                    );
                }
            }
        }
    }
    for files in [&mut asked.written, &mut asked.deleted] {
        files.sort();
        files.dedup();
    }
    asked
}

impl AskedFiles {
    /// Returns true if the request names no file.
    pub fn is_empty(&self) -> bool {
        self.written.is_empty() && self.deleted.is_empty()
    }

    /// Returns what is missing, each as a clause, if a change has written and deleted these paths.
    pub fn missing<'p>(
        &self,
        written: impl Iterator<Item = &'p Path> + Clone,
        deleted: impl Iterator<Item = &'p Path> + Clone,
    ) -> Vec<String> {
        let lacks = |asked: &&String, mut paths: Box<dyn Iterator<Item = &'p Path> + '_>| {
            !paths.any(|path| is_same_file(path, asked))
        };
        let made = self.written.iter().filter(|asked| lacks(asked, Box::new(written.clone())));
        let gone = self.deleted.iter().filter(|asked| lacks(asked, Box::new(deleted.clone())));
        made.map(|path| format!("`{path}` was to be written, and the change does not write it"))
            .chain(gone.map(|path| format!("`{path}` was to be deleted, and the change does not delete it")))
            .collect()
    }
}

/// Returns true if people's words for a file can mean this path: the path itself, or its last parts.
pub fn is_same_file(path: &Path, words: &str) -> bool {
    let words = Path::new(words.trim_start_matches("./"));
    path.ends_with(words) || words.ends_with(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_to_write_and_to_delete_are_found() {
        for (request, written, deleted) in [
            ("Write docs/help.md", &["docs/help.md"][..], &[][..]),
            ("Write the manual (docs/manual.md)", &["docs/manual.md"], &[]),
            (
                "Please add a section about blanks to README.md, and create `a.py` and b.py.",
                &["README.md", "a.py", "b.py"],
                &[],
            ),
            ("delete base.txt", &[], &["base.txt"]),
            ("新建 docs/help.md，删除 base.txt", &["docs/help.md"], &["base.txt"]),
            ("请写一个 docs/help.md", &["docs/help.md"], &[]),
            ("Fix count.sh as docs/bug.md says", &[], &[]),
            ("Write a summary of count.sh", &[], &[]),
            ("Do not write docs/help.md", &[], &[]),
            ("Add support for blanks", &[], &[]),
        ] {
            let asked = asked_files(request);
            assert_eq!(
                (&asked.written[..], &asked.deleted[..]),
                (
                    &written.iter().map(ToString::to_string).collect::<Vec<_>>()[..],
                    &deleted.iter().map(ToString::to_string).collect::<Vec<_>>()[..]
                ),
                "{request}"
            );
        }
    }

    #[test]
    fn what_a_change_lacks_is_told() {
        let asked = asked_files("Write help.md and delete base.txt");
        let paths = [Path::new("docs/help.md")];
        let missing = asked.missing(paths.iter().copied(), std::iter::empty());
        assert_eq!(missing, ["`base.txt` was to be deleted, and the change does not delete it"]);
    }
}
