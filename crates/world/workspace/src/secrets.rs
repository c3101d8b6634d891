//! Refuses commits whose added lines or messages contain a secret: those that Interlock makes, and those that a program has
//! made meanwhile. A commit is published sooner or later, and a published secret cannot be taken back. The refusal names
//! files and lines, never the value.

use interlock_redact::Redactor;

use crate::{Error, Result, git::Git};

/// The most places that a refusal names.
const NAMED_MAX: usize = 10;

/// The arguments with which `git` prints the added lines of every file, whatever its settings are.
const ADDED: [&str; 8] = [
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--text",
    "--unified=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

/// The setting with which paths are printed in the letters of their language.
const PLAIN_PATHS: &str = "core.quotePath=false";

/// The words of a refusal for a commit that Interlock makes.
const NOT_COMMITTED: &str = "it would publish a secret, so nothing was committed";

/// What to do about a secret in files, and about one in commits.
const REMOVE: &str = "Remove it there, or let git ignore the file";
const REWRITE: &str = "Make these commits anew without it; a later commit does not take it out of them";

/// Refuses a commit of `tree` on top of `before` if its added lines or its message contain a secret.
pub(crate) fn refuse(git: &Git, before: &str, tree: &str, message: &str, secrets: &Redactor) -> Result<()> {
    let mut places = said(message.as_bytes(), "the message", secrets);
    places.extend(added_between(git, before, tree, secrets)?);
    refuse_all(NOT_COMMITTED, REMOVE, places)
}

/// Refuses the message of a commit if it contains a secret.
pub(crate) fn refuse_message(message: &str, secrets: &Redactor) -> Result<()> {
    refuse_all(NOT_COMMITTED, REMOVE, said(message.as_bytes(), "the message", secrets))
}

/// Commits and tags that somebody else has made: everything that `tips` lead to and `known` do not.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewHistory {
    /// Hashes of commits, tags or other objects that were not there before.
    pub(crate) tips: Vec<String>,
    /// Hashes that were there before. Those whose objects are gone are ignored.
    pub(crate) known: Vec<String>,
}

impl NewHistory {
    /// Refuses the history if one of its commits added a line with a secret, or if the message of a commit or tag has
    /// one. `why` is the beginning of the refusal.
    pub(crate) fn refuse(&self, git: &Git, why: &str, secrets: &Redactor) -> Result<()> {
        let (mut places, mut commits) = (Vec::new(), Vec::new());
        for tip in self.tips.iter().filter(|tip| !self.known.contains(tip)) {
            let (found, commit) = NewHistory::look_at(git, tip, secrets)?;
            places.extend(found);
            commits.extend(commit);
        }
        if !commits.is_empty() {
            let revisions = commits.into_iter().chain(self.known.iter().map(|known| format!("^{known}")));
            let revisions = revisions.collect::<Vec<_>>().join("\n").into_bytes();
            let log = |words: &[&str]| {
                let words = [&["log", "--ignore-missing", "--stdin", "--no-show-signature"][..], words].concat();
                git.clone().setting(PLAIN_PATHS).run_with(&words, &revisions)
            };
            places.extend(said(&log(&["--no-patch", "--format=%an <%ae>%n%B"])?, "the messages", secrets));
            places.extend(added(&log(&[&["--format=", "-m", "--patch"][..], &ADDED].concat())?, secrets));
        }
        refuse_all(why, REWRITE, places)
    }

    /// Returns the places of secrets in a tip other than a commit, and the commit that it leads to, if any.
    fn look_at(git: &Git, tip: &str, secrets: &Redactor) -> Result<(Vec<String>, Option<String>)> {
        let (mut places, mut object) = (Vec::new(), tip.to_owned());
        for _ in 0..TAGS_NESTED_MAX {
            match git.line(&["cat-file", "-t", &object])?.as_str() {
                "tag" => {
                    let tag = git.run(&["cat-file", "tag", &object])?;
                    places.extend(said(&tag, "a tag", secrets));
                    let first = tag.split(|byte| *byte == b'\n').next().unwrap_or_default();
                    object = String::from_utf8_lossy(first.strip_prefix(b"object ").unwrap_or_default()).into_owned();
                }
                "commit" => return Ok((places, Some(object))),
                "tree" => {
                    let empty = git.run_with(&["mktree"], b"")?;
                    let empty = String::from_utf8_lossy(&empty).trim_end().to_owned();
                    places.extend(added_between(git, &empty, &object, secrets)?);
                    return Ok((places, None));
                }
                _ => {
                    places.extend(said(&git.run(&["cat-file", "blob", &object])?, "a file", secrets));
                    return Ok((places, None));
                }
            }
        }
        Err(Error::Commit(format!("{tip} is a tag that leads to more than {TAGS_NESTED_MAX} others")))
    }
}

/// The most tags that lead to each other.
const TAGS_NESTED_MAX: usize = 10;

/// Returns the places of secrets among the lines that differ between two trees or commits.
fn added_between(git: &Git, before: &str, after: &str, secrets: &Redactor) -> Result<Vec<String>> {
    let words = [&["diff"][..], &ADDED, &["--end-of-options", before, after]].concat();
    Ok(added(&git.clone().setting(PLAIN_PATHS).run(&words)?, secrets))
}

/// Returns the places of secrets in a text.
fn said(text: &[u8], of: &str, secrets: &Redactor) -> Vec<String> {
    let lines = text.split(|byte| *byte == b'\n').enumerate();
    lines.filter_map(|(at, line)| Some(format!("line {} of {of} ({})", at + 1, kind(line, secrets)?))).collect()
}

fn refuse_all(why: &str, advice: &str, mut places: Vec<String>) -> Result<()> {
    places.dedup();
    if places.is_empty() {
        return Ok(());
    }
    let more = places.len().saturating_sub(NAMED_MAX);
    places.truncate(NAMED_MAX);
    if more > 0 {
        places.push(format!("{more} more"));
    }
    Err(Error::Commit(format!("{why}: {}. {advice}", places.join(", "))))
}

/// Returns the places of secrets in a difference without context lines.
fn added(difference: &[u8], secrets: &Redactor) -> Vec<String> {
    let (mut found, mut path) = (Vec::new(), String::new());
    // The numbers of removed and added lines that follow, and the number of the next added line.
    let (mut removed, mut new, mut at) = (0_u64, 0_u64, 0_u64);
    for line in difference.split(|byte| *byte == b'\n') {
        match line.first() {
            Some(b'-') if removed > 0 => removed -= 1,
            Some(b'+') if new > 0 => {
                if let Some(kind) = kind(&line[1..], secrets) {
                    found.push(format!("{path}:{at} ({kind})"));
                }
                (new, at) = (new - 1, at + 1);
            }
            Some(b'+') => {
                let name = String::from_utf8_lossy(line.strip_prefix(b"+++ ").unwrap_or_default()).into_owned();
                let name = name.trim_end_matches('\t').trim_matches('"');
                path = secrets.text(name.strip_prefix("b/").unwrap_or(name)).into_owned();
            }
            Some(b'@') => (removed, at, new) = hunk(line).unwrap_or_default(),
            Some(b'd') if line.starts_with(b"diff --git ") && secrets.has_known(line) => {
                found.push("the name of a file (known secret)".to_owned());
            }
            _ => {}
        }
    }
    found
}

/// Returns the kind of the secret in an added line. In a line of a binary file only known values count, because random
/// bytes can have the form of anything.
fn kind(line: &[u8], secrets: &Redactor) -> Option<&'static str> {
    match line.contains(&0) {
        true => secrets.has_known(line).then_some("known secret"),
        false => secrets.secret_in(line),
    }
}

/// Reads `@@ -12,3 +12,4 @@`: the number of removed lines, the first added line, and the number of added lines.
fn hunk(line: &[u8]) -> Option<(u64, u64, u64)> {
    let text = std::str::from_utf8(line.get(..line.len().min(80))?).ok().or_else(|| {
        let end = line.iter().skip(2).position(|byte| *byte == b'@')?;
        std::str::from_utf8(&line[..end + 2]).ok()
    })?;
    let mut words = text.split(' ').skip(1);
    let range = |word: &str| {
        let (start, count) = word.split_once(',').unwrap_or((word, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let (_, removed): (u64, u64) = range(words.next()?.strip_prefix('-')?)?;
    let (at, new): (u64, u64) = range(words.next()?.strip_prefix('+')?)?;
    Some((removed, at, new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_lines_are_found_by_their_numbers_and_not_by_their_signs() {
        let token = format!("ghp_FAKE0fake1FAKE2fake3{}", "FAKE4fake5FAKE6fake7FAKE8");
        let difference = format!(
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,1 +1,2 @@ fn é\n---- {token}\n+++ b/{token}\n+plain\n@@ -9,0 +12 @@\n+known-value-1\n"
        );
        let secrets = Redactor::new(["known-value-1"]);
        assert_eq!(added(difference.as_bytes(), &secrets), ["x:1 (github token)", "x:12 (known secret)"]);
    }
}
