//! Compares the words of a model with the recorded facts.
//!
//! A claim is found by its words, sentence by sentence. That finds the usual ones, in English and Chinese, and no others: a
//! claim can make the end of a turn worse, and never better. `said.rs` looks at the details.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value as Json;

use crate::{asking::sentences, said};

/// The facts that a claim can contradict.
#[derive(Clone, Copy, Debug, Default)]
struct Proven {
    /// True if the turn changed a file.
    is_changed: bool,
    /// Whether a command that verifies the project ran, and all of them passed.
    has_passed: bool,
}

/// Words that say that something was changed.
const CHANGED: &str = r"(?ix) \b(fixed|implemented|added|changed|updated|corrected|repaired|refactored|renamed|removed|deleted|created|
    resolved|replaced|rewrote|rewritten|modified|written|patched|done|finished)\b
    | 已?修复|已经?(?:完成|添加|修改|更新|实现|删除|创建|解决)|(?:完成|添加|修改|更新|实现|解决)了";

/// Words that say that checks passed.
const PASSED: &str = r"(?ix) \b(tests?|suite|checks?|build|verification|lint\w*|ci)\b [^.!?\n]{0,60} \b(pass(?:es|ed|ing)?|succeed(?:s|ed)?|green|clean|ok)\b
    | \b(pass(?:es|ed|ing)?|green)\b [^.!?\n]{0,20} \b(tests?|checks?|suite)\b | \bverified\b
    | 测试[^。！？\n]{0,12}通过|通过了?[^。！？\n]{0,8}测试|验证(?:已)?通过";

/// Words that turn a claim into its opposite, or into a wish.
const DENIED: &str = r"(?ix) \b(not|no|nothing|never|none|cannot|can't|couldn't|didn't|don't|doesn't|wasn't|weren't|isn't|aren't|without|fail\w*|
    unable|unverified|should|would|could|must|need\w*|until|unless|if|once|before|to\s+be)\b | 没有|未|无法|不能|失败|应该|需要|如果";

/// Words with which an answer to a question says that something was changed in this turn. Others tell what was done before.
const CHANGED_NOW: &str = r"(?ix) \b(?:i|we) (?:'ve|\s+have)? \s+ (?:(?:now|just|also|already)\s+)* (?:fixed|implemented|added|changed|updated|corrected|
    repaired|refactored|renamed|removed|deleted|created|resolved|replaced|rewrote|modified|wrote|patched|made)\b
    | \b(?:has|have)\s+(?:now\s+|just\s+)?been\s+(?:fixed|implemented|added|changed|updated|corrected|repaired|renamed|removed|deleted|created|modified|written)\b
    | ^\W*(?:(?:it|this|that|everything|all)\s+(?:is|was)\s+)?(?:now\s+)?(?:fixed|done|finished|implemented|repaired)\b
    | \bnow\s+(?:prints|returns|passes|works|counts|outputs|shows)\b | \b(?:prints|returns|passes|works|counts|outputs|shows)\b[^.]*\bnow\W*$
    | 已经?(?:修复|改好|修好|改完|完成|添加|修改|更新|实现|删除|创建|解决)|(?:改好|修好|改完|修复|添加|修改|更新|实现)了";

/// Words of an answer that place a change before this turn.
const BEFORE: &str = r"(?i)\b(?:commit|version|release|last|previous(?:ly)?|earlier|ago|history|author)\b";

/// Patterns that do not compile match nothing; a test compiles all of them.
fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

static PATTERNS: LazyLock<[Option<Regex>; 5]> =
    LazyLock::new(|| [CHANGED, PASSED, DENIED, CHANGED_NOW, BEFORE].map(pattern));

fn has(at: usize, text: &str) -> bool {
    PATTERNS[at].as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Returns the first sentence in which a pattern matches and nothing denies it.
fn claim(at: usize, words: &str) -> Option<&str> {
    sentences(words).find(|sentence| has(at, sentence) && !has(2, sentence))
}

/// Returns the claims of a model that the facts contradict, each as a line for people. `is_question` says that the turn only
/// read: its answer may tell what others have done.
pub(crate) fn contradictions(words: &str, facts: &Json, is_question: bool) -> Vec<String> {
    let is_changed = facts["files"].as_array().is_some_and(|files| !files.is_empty());
    let mut found = general(words, Proven { is_changed, has_passed: facts["verified"] == true }, is_question);
    if !is_question {
        found.extend(said::contradictions(words, facts));
    }
    found
}

fn general(words: &str, proven: Proven, is_question: bool) -> Vec<String> {
    const SHOWN_CHARS: usize = 120;
    let quoted = |sentence: &str| sentence.chars().take(SHOWN_CHARS).collect::<String>();
    let mut found = Vec::new();
    let changed = match is_question {
        true => claim(3, words).filter(|sentence| !has(4, sentence)),
        false => claim(0, words),
    };
    if let Some(said) = changed.filter(|_| !proven.is_changed) {
        found.push(format!("the model says \"{}\", and no file was changed", quoted(said)));
    }
    if let Some(said) = claim(1, words).filter(|_| !proven.has_passed) {
        found.push(format!("the model says \"{}\", and no check has passed on these files", quoted(said)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Proven = Proven { is_changed: false, has_passed: false };

    #[test]
    fn every_pattern_is_valid() {
        assert!(PATTERNS.iter().all(Option::is_some));
    }

    #[test]
    fn claims_without_facts_are_found() {
        for words in
            ["Fixed!", "I have updated count.sh.", "All done", "已修复该问题", "Nothing else. The bug is resolved"]
        {
            assert_eq!(general(words, NOTHING, false).len(), 1, "{words}");
        }
        for words in
            ["All tests pass now", "`make test` is green: every test passes", "测试全部通过", "the test suite passed"]
        {
            assert!(general(words, NOTHING, false).iter().any(|line| line.contains("no check has passed")), "{words}");
        }
        assert_eq!(general("Fixed. All tests pass.", NOTHING, false).len(), 2);
    }

    #[test]
    fn words_that_fit_the_facts_are_no_contradiction() {
        let proven = Proven { is_changed: true, has_passed: true };
        assert!(general("Fixed. All tests pass.", proven, false).is_empty());
        for words in [
            "Nothing was changed.",
            "I could not fix it: the tests fail",
            "No test passes",
            "It prints 0.",
            "The tests were not run",
            "It should be fixed in count.sh",
            "测试没有通过",
        ] {
            assert!(general(words, NOTHING, false).is_empty(), "{words}");
        }
    }

    #[test]
    fn an_answer_may_tell_what_others_did() {
        for words in ["It fixed the parser.", "count.sh was written in shell.", "It passes if count.sh prints 2."] {
            assert!(general(words, NOTHING, true).is_empty(), "{words}");
        }
        for words in [
            "已经改好了，测试全部通过",
            "count.sh prints 7 now.",
            "I have updated count.sh",
            "Fixed.",
            "It has been fixed.",
        ] {
            assert!(!general(words, NOTHING, true).is_empty(), "{words}");
        }
    }
}
