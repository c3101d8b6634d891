//! Refuses commits whose added lines contain a secret. A commit is published sooner or later, and a published secret cannot be
//! taken back. The refusal names files and lines, never the value.

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

/// Refuses a commit of `tree` on top of `before` if its added lines or its message contain a secret.
pub(crate) fn refuse(git: &Git, before: &str, tree: &str, message: &str, secrets: &Redactor) -> Result<()> {
    let words = [&["diff"][..], &ADDED, &["--end-of-options", before, tree]].concat();
    let difference = git.clone().setting(PLAIN_PATHS).run(&words)?;
    let said = message.lines().enumerate().filter_map(|(at, line)| {
        let kind = secrets.secret_in(line.as_bytes())?;
        Some(format!("line {} of the message ({kind})", at + 1))
    });
    refuse_all("it would publish a secret, so nothing was committed", said.chain(added(&difference, secrets)).collect())
}

/// Refuses a range of commits if one of them added a line with a secret.
pub(crate) fn refuse_range(git: &Git, range: &str, secrets: &Redactor) -> Result<()> {
    let words = [&["log", "--format=", "-m", "--patch"][..], &ADDED, &["--end-of-options", range]].concat();
    refuse_all(
        "a commit has a secret, so nothing was applied",
        added(&git.clone().setting(PLAIN_PATHS).run(&words)?, secrets),
    )
}

fn refuse_all(why: &str, mut places: Vec<String>) -> Result<()> {
    places.dedup();
    if places.is_empty() {
        return Ok(());
    }
    let more = places.len().saturating_sub(NAMED_MAX);
    places.truncate(NAMED_MAX);
    if more > 0 {
        places.push(format!("{more} more"));
    }
    Err(Error::Commit(format!("{why}: {}. Remove it there, or let git ignore the file", places.join(", "))))
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
