//! The Chinese words that the rules know, each with the English words that the rules use in its place.
//!
//! Chinese sentences have no spaces: a run of Chinese letters is split at the longest known words, which are these and
//! the names and values of the table. Letters between known words are a word of their own, which no rule uses.

/// Chinese words with their English meaning; an empty meaning is a function word.
const WORDS: [(&str, &str); 142] = [
    ("平均值", "mean"),
    ("平均数", "mean"),
    ("平均", "mean"),
    ("均值", "mean"),
    ("中位数", "median"),
    ("中值", "median"),
    ("总和", "total"),
    ("总计", "total"),
    ("合计", "total"),
    ("总量", "total"),
    ("总", "total"),
    ("最大值", "maximum"),
    ("最小值", "minimum"),
    ("最大", "largest"),
    ("最小", "smallest"),
    ("最高", "highest"),
    ("最低", "lowest"),
    ("最多", "most"),
    ("最少", "least"),
    ("更高", "higher"),
    ("更低", "lower"),
    ("更多", "more"),
    ("更少", "less"),
    ("较高", "higher"),
    ("较低", "lower"),
    ("范围", "range"),
    ("标准差", "deviation"),
    ("描述", "describe"),
    ("概括", "summarize"),
    ("统计量", "statistics"),
    ("统计", "statistics"),
    ("相关性", "correlation"),
    ("相关系数", "correlation"),
    ("相关", "correlated"),
    ("关联", "correlation"),
    ("关系", "relation"),
    ("线性", "linear"),
    ("之间", "between"),
    ("比较", "compare"),
    ("对比", "compare"),
    ("差异", "difference"),
    ("差别", "difference"),
    ("影响", "affect"),
    ("决定", "decide"),
    ("取决于", "depend"),
    ("因素", "factor"),
    ("预测", "predict"),
    ("预计", "forecast"),
    ("预报", "forecast"),
    ("模型", "model"),
    ("明天", "tomorrow"),
    ("明日", "tomorrow"),
    ("下一个", "next"),
    ("下个月", "next month"),
    ("下月", "next month"),
    ("下一月", "next month"),
    ("下周", "next week"),
    ("下一周", "next week"),
    ("下个季度", "next quarter"),
    ("下季度", "next quarter"),
    ("明年", "next year"),
    ("下一年", "next year"),
    ("下一天", "next day"),
    ("趋势", "trend"),
    ("随时间", "over time"),
    ("发展", "develop"),
    ("变化", "change"),
    ("每小时", "hourly"),
    ("每天", "daily"),
    ("每日", "daily"),
    ("每周", "weekly"),
    ("每个月", "monthly"),
    ("每月", "monthly"),
    ("每季度", "quarterly"),
    ("每个季度", "quarterly"),
    ("每年", "yearly"),
    ("各月", "monthly"),
    ("各年", "yearly"),
    ("按小时", "hourly"),
    ("按天", "daily"),
    ("按日", "daily"),
    ("按周", "weekly"),
    ("按月", "monthly"),
    ("按季度", "quarterly"),
    ("按年", "yearly"),
    ("月度", "monthly"),
    ("年度", "yearly"),
    ("哪个月", "which month"),
    ("哪一月", "which month"),
    ("哪一年", "which year"),
    ("哪年", "which year"),
    ("哪一天", "which day"),
    ("哪天", "which day"),
    ("每个", "each"),
    ("每种", "each"),
    ("每一个", "each"),
    ("各个", "each"),
    ("每", "each"),
    ("各", "each"),
    ("按照", "by"),
    ("按", "by"),
    ("哪个", "which"),
    ("哪一个", "which"),
    ("哪种", "which"),
    ("哪些", "which"),
    ("谁", "who"),
    ("有多少", "how many"),
    ("多少个", "how many"),
    ("多少行", "how many row"),
    ("行数", "number of rows"),
    ("记录数", "number of rows"),
    ("多少", "what"),
    ("什么", "what"),
    ("如何", "how"),
    ("怎样", "how"),
    ("怎么", "how"),
    ("是否", "is"),
    ("记录", "row"),
    ("行", "row"),
    ("请问", ""),
    ("请", ""),
    ("计算", ""),
    ("求出", ""),
    ("求", ""),
    ("告诉我", ""),
    ("给出", ""),
    ("数据", ""),
    ("表格", ""),
    ("表中", ""),
    ("列", ""),
    ("存在", ""),
    ("以及", "and"),
    ("和", "and"),
    ("与", "and"),
    ("跟", "and"),
    ("的", ""),
    ("是", ""),
    ("吗", ""),
    ("呢", ""),
    ("有", ""),
    ("在", ""),
    ("对", ""),
];

/// Returns true if a letter is Chinese.
pub(super) fn is_chinese(one: char) -> bool {
    matches!(one, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// A piece of a run of Chinese letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A name of the table, or letters that nobody knows.
    Text(String),
    /// A known word, and its meaning.
    Known(String, &'static str),
}

/// Splits a run of Chinese letters at the longest names and known words.
pub(super) fn split(run: &str, names: &[String]) -> Vec<Piece> {
    let (mut pieces, mut rest, mut unknown) = (Vec::new(), run, String::new());
    while let Some(first) = rest.chars().next() {
        let name = names.iter().filter(|name| rest.starts_with(name.as_str())).max_by_key(|name| name.len());
        let known = WORDS.iter().filter(|(word, _)| rest.starts_with(word)).max_by_key(|(word, _)| word.len());
        let found = match (name, known) {
            (Some(name), Some((word, meaning))) if word.len() > name.len() => {
                Some(Piece::Known((*word).to_owned(), meaning))
            }
            (Some(name), _) => Some(Piece::Text(name.clone())),
            (None, Some((word, meaning))) => Some(Piece::Known((*word).to_owned(), meaning)),
            (None, None) => None,
        };
        let length = match &found {
            Some(Piece::Text(text) | Piece::Known(text, _)) => text.len(),
            None => {
                unknown.push(first);
                first.len_utf8()
            }
        };
        if let Some(piece) = found {
            pieces.extend(Some(std::mem::take(&mut unknown)).filter(|text| !text.is_empty()).map(Piece::Text));
            pieces.push(piece);
        }
        rest = &rest[length..];
    }
    pieces.extend(Some(unknown).filter(|text| !text.is_empty()).map(Piece::Text));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_split_at_the_longest_words() {
        let names = ["地区".to_owned(), "销售额".to_owned(), "总销售额".to_owned()];
        let shown = |run: &str| {
            let pieces = split(run, &names).into_iter();
            let pieces = pieces.map(|piece| match piece {
                Piece::Text(text) => text,
                Piece::Known(_, meaning) => format!("<{meaning}>"),
            });
            pieces.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown("各地区的平均销售额是多少"), "<each> 地区 <> <mean> 销售额 <> <what>");
        assert_eq!(shown("总销售额"), "总销售额");
        assert_eq!(shown("异常的销售额"), "异常 <> 销售额");
        let mut words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), WORDS.len(), "every word is listed once");
    }
}
