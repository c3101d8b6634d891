//! Finds out by rules if a request may ask for a change, whatever a model calls it.
//!
//! A plain question asks what, why or how, or asks for words: explain, list, summarize. Everything else may be a request
//! for a change, and does not end as an answered question.

use std::sync::LazyLock;

use regex::Regex;

/// Verbs with which a person asks for a change.
const CHANGE: &str = r"(?:fix|repair|implement|add|change|update|correct|refactor|rename|remove|delete|create|resolve|replace|rewrite|modify|write|patch|make|convert|move|port|upgrade|bump|migrate|extend|support|handle|introduce|drop|extract|simplify|clean|use|turn|set|enable|disable|edit|adjust|improve|append|insert|install|revert|undo|build|generate|commit|increase|decrease|let|ensure|get)\b";

/// Words before a request that say nothing about it.
const POLITE: &str = r"(?:please|kindly|can\s+you|could\s+you|would\s+you|will\s+you|would\s+you\s+mind|now|then|and|also|just|let's|ok(?:ay)?|so|hi|hello|hey|i\s+want\s+you\s+to|i\s+need\s+you\s+to|i(?:'d|\s+would)\s+like(?:\s+you)?\s+to|go\s+ahead\s+and|but|first|next|finally)";

/// Beginnings of a question or of a request for words.
const QUESTION: &str = r"(?:what(?:'s)?|why|how|which|who|whose|where|when|is|are|am|does|do|did|was|were|has|have|had|can|could|should|would|will|may|explain|describe|show|list|tell|summari[sz]e|find|read|look|give\s+me|analy[sz]e|review|compare|check|count|print|say|answer|help\s+me\s+understand|walk\s+me|outline|(?:write|make|create|prepare|draw\s+up)\s+(?:me\s+)?(?:(?:a|an|the|short|brief|quick|detailed|one-line)\s+)*(?:summary|overview|explanation|description|list|comparison|review|report))(?:[\s,:]|$)|(?:wie|warum|wieso|wer|wo|wann|welche\w*|qu[eé]|c[oó]mo|por\s+qu[eé]|comment|pourquoi|quel\w*)\b";

const CHANGE_ZH: &str = "(?:修复|修改|修正|修好|改成|改为|改掉|更改|改进|改|添加|增加|加上|加入|删除|删掉|去掉|移除|实现|重构|重命名|创建|新建|替换|更新|优化|编写|生成|提交|升级|迁移|写)";
const QUESTION_ZH: &str =
    "什么|为什么|为何|怎么|如何|哪|谁|多少|几个|吗|呢|是否|解释|说明|介绍|描述|列出|总结|告诉|看看|查看";

struct Forms {
    change: Regex,
    also: Regex,
    anywhere: Regex,
    question: Regex,
    greeting: Regex,
    chinese: Regex,
    change_zh: Regex,
    question_zh: Regex,
    begins_zh: Regex,
    verb_zh: Regex,
}

static FORMS: LazyLock<Option<Forms>> = LazyLock::new(|| {
    let new = |text: String| Regex::new(&text).ok();
    Some(Forms {
        change: new(format!(r"(?i)^\W*(?:{POLITE}\W+)*{CHANGE}|\bplease\W+(?:\w+\W+)?{CHANGE}"))?,
        also: new(format!(
            r"(?i)(?:\band|\bthen|[,…])\W+(?:please\W+|then\W+)?{CHANGE}\s+(?:it|them|that|this|the|these|all|so)\b"
        ))?,
        anywhere: new(format!(r"(?i)\b{CHANGE}|\b(?:should|must|needs?|ought|has\s+to|have\s+to)\b"))?,
        question: new(format!(r"(?i)^\W*(?:{POLITE}\W+)*(?:{QUESTION})"))?,
        greeting: new(r"(?i)^\W*(?:hi|hello|hey|thanks?|thank\s+you|ok(?:ay)?|你好|谢谢)?\W*$".to_owned())?,
        chinese: new(r"\p{Han}".to_owned())?,
        change_zh: new(format!(
            "(?:请|帮我|帮忙|麻烦|给我|能不能|能否|可以|可否)[^，。什怎如哪解说]{{0,8}}?{CHANGE_ZH}|把[^。]*(?:改|换|删|修|加|写|变|移|提)|(?:并|然后|再|顺便|同时|，)(?:请|把)?{CHANGE_ZH}"
        ))?,
        question_zh: new(QUESTION_ZH.to_owned())?,
        begins_zh: new("^\\W*(?:请问|为什么|为何|怎么|如何|什么)".to_owned())?,
        verb_zh: new(CHANGE_ZH.to_owned())?,
    })
});

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Change,
    Question,
    Unsure,
}

/// Reports if a request may ask for a change.
pub(crate) fn may_ask_for_change(message: &str) -> bool {
    let Some(forms) = &*FORMS else { return true };
    let readings: Vec<Reading> = sentences(message)
        .filter(|sentence| !forms.greeting.is_match(sentence))
        .map(|sentence| forms.read(sentence))
        .collect();
    readings.contains(&Reading::Change) || !readings.is_empty() && !readings.contains(&Reading::Question)
}

/// Splits a text into sentences. A point within a name ends none.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    static END: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[.!?;]+(?:\s+|$)|[。！？；\n]+").ok());
    let parts: Vec<&str> = END.as_ref().map_or_else(|| vec![text], |end| end.split(text).collect());
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty())
}

impl Forms {
    fn read(&self, sentence: &str) -> Reading {
        if self.chinese.is_match(sentence) {
            return match () {
                () if self.begins_zh.is_match(sentence) => Reading::Question,
                () if self.change_zh.is_match(sentence) => Reading::Change,
                () if self.question_zh.is_match(sentence) => Reading::Question,
                () if self.verb_zh.is_match(sentence) => Reading::Change,
                () => Reading::Unsure,
            };
        }
        let asks_for_words = self.question.is_match(sentence);
        match () {
            () if self.also.is_match(sentence) => Reading::Change,
            // "Write a summary" asks for words; "could you make" does not.
            () if asks_for_words && !self.change.is_match(sentence) => Reading::Question,
            () if asks_for_words && self.is_for_words(sentence) => Reading::Question,
            () if self.change.is_match(sentence) || self.anywhere.is_match(sentence) => Reading::Change,
            () => Reading::Unsure,
        }
    }

    fn is_for_words(&self, sentence: &str) -> bool {
        static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
            Regex::new(r"(?i)\b(?:write|make|create|prepare|draw\s+up)\s+(?:me\s+)?(?:(?:a|an|the|short|brief|quick|detailed|one-line)\s+)*(?:summary|overview|explanation|description|list|comparison|review|report)\b").ok()
        });
        let names_file = !interlock_verification::asked_files(sentence).is_empty();
        WORDS.as_ref().is_some_and(|words| words.is_match(sentence)) && !names_file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_for_changes_are_no_questions() {
        for request in [
            "请把 count.sh 改成打印参数个数",
            "能帮我修复测试吗？",
            "解释一下原因，然后修复它",
            "The test fails. Please find out why and repair it.",
            "The test fails. Please … repair it",
            "Could you make count.sh print 7?",
            "Can you please rename a.py?",
            "What is wrong with count.sh? Fix it.",
            "Why does it fail, and fix the test",
            "count.sh should print 7",
            "fix how the arguments are counted",
            "Write a summary to docs/a.md",
            "Bitte ändere count.sh",
            "the tests fail",
        ] {
            assert!(may_ask_for_change(request), "{request}");
        }
        for request in [
            "What does count.sh do?",
            "what does the last commit do?",
            "Why does the test fail?",
            "Could you explain how add works?",
            "Please summarize count.sh",
            "Hello! How do I add an argument?",
            "Write a summary of count.sh",
            "Is there a way to change the number?",
            "I am new here. What does make test do?",
            "count.sh 是做什么的？",
            "怎么修改 count.sh？",
            "请解释 count.sh",
            "Was macht count.sh?",
            "",
        ] {
            assert!(!may_ask_for_change(request), "{request}");
        }
    }
}
