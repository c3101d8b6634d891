//! Compares the words of a model with the recorded facts.
//!
//! A claim is found by its words, sentence by sentence. That finds the usual ones, in English and Chinese, and no others: the
//! end of a turn never depends on it, except that a claim can make an end worse.

use std::sync::LazyLock;

use regex::Regex;

/// The facts that a claim can contradict.
#[derive(Clone, Copy, Debug, Default)]
pub struct Proven {
    /// Whether the turn changed a file.
    pub is_changed: bool,
    /// Whether a command that verifies the project ran, and all of them passed.
    pub has_passed: bool,
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

/// Words with which a person asks for a change, at the beginning of a request.
const ASKED: &str = r"(?ix) ^\W*(?:(?:please|can\s+you|could\s+you|would\s+you|now|then|and|also|just|let's)\W+)*
    (fix|implement|add|change|update|correct|repair|refactor|rename|remove|delete|create|resolve|replace|rewrite|modify|write|patch|make|
    convert|move|port|upgrade|bump|migrate|extend|support|handle|introduce|drop|extract|simplify|clean|use|turn|set|enable|disable|count)\b
    | ^\W*请?(?:帮我)?(?:修复|实现|添加|增加|修改|更新|删除|重构|重命名|创建|替换|改)";

/// Patterns that do not compile match nothing; a test compiles all of them.
fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

static PATTERNS: LazyLock<[Option<Regex>; 4]> = LazyLock::new(|| [CHANGED, PASSED, DENIED, ASKED].map(pattern));

fn has(at: usize, text: &str) -> bool {
    PATTERNS[at].as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Returns the first sentence in which a pattern matches and nothing denies it.
fn claim(at: usize, words: &str) -> Option<&str> {
    let sentences = words.split(['.', '!', '?', '\n', ';', '。', '！', '？', '；']).map(str::trim);
    sentences.into_iter().find(|sentence| has(at, sentence) && !has(2, sentence))
}

/// Returns the claims of a model that the facts contradict, each as a line for people.
pub fn contradictions(words: &str, proven: Proven) -> Vec<String> {
    const SHOWN_CHARS: usize = 120;
    let quoted = |sentence: &str| sentence.chars().take(SHOWN_CHARS).collect::<String>();
    let mut found = Vec::new();
    if let Some(said) = claim(0, words).filter(|_| !proven.is_changed) {
        found.push(format!("the model says \"{}\", and no file was changed", quoted(said)));
    }
    if let Some(said) = claim(1, words).filter(|_| !proven.has_passed) {
        found.push(format!("the model says \"{}\", and no check has passed on these files", quoted(said)));
    }
    found
}

/// Reports if a person asked for a change and the answer to this "question" claims one: then it was no question.
pub(crate) fn is_change_in_disguise(message: &str, answer: &str) -> bool {
    has(3, message) && (claim(0, answer).is_some() || claim(1, answer).is_some())
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
            assert_eq!(contradictions(words, NOTHING).len(), 1, "{words}");
        }
        for words in
            ["All tests pass now", "`make test` is green: every test passes", "测试全部通过", "the test suite passed"]
        {
            assert!(contradictions(words, NOTHING).iter().any(|line| line.contains("no check has passed")), "{words}");
        }
        assert_eq!(contradictions("Fixed. All tests pass.", NOTHING).len(), 2);
    }

    #[test]
    fn words_that_fit_the_facts_are_no_contradiction() {
        let proven = Proven { is_changed: true, has_passed: true };
        assert!(contradictions("Fixed. All tests pass.", proven).is_empty());
        for words in [
            "Nothing was changed.",
            "I could not fix it: the tests fail",
            "No test passes",
            "It prints 0.",
            "The tests were not run",
            "It should be fixed in count.sh",
            "测试没有通过",
        ] {
            assert!(contradictions(words, NOTHING).is_empty(), "{words}");
        }
    }

    #[test]
    fn a_question_that_was_a_change_is_found() {
        assert!(is_change_in_disguise("Please fix the failing test", "Fixed, all tests pass."));
        assert!(is_change_in_disguise("请修复测试", "已修复"));
        assert!(!is_change_in_disguise("what does the last commit do?", "It fixed the parser."));
        assert!(!is_change_in_disguise("Write a summary of count.sh", "It prints the number 0."));
    }
}
