//! The sentences that the rules understand: one table of shapes, with the patterns of whole sentences (`grammar`).
//!
//! A problem is answered only if one of these patterns uses all of its tokens, and if all ways to read it mean the same. So
//! a word or sign that no figure respects (`not`, `above`, `≠`, `2024`) leads to no answer. A sentence belongs into the
//! table only if the figures of its row are exactly what it asks for.

use std::{collections::BTreeSet, sync::LazyLock};

use super::{grammar::Pattern, tokens::tokens};

/// A shape of sentences.
pub(super) struct Shape {
    /// The kind of figures that answer it: a key of the recipes for answers.
    pub(super) kind: &'static str,
    /// The figure that it asks for, if no word of the sentence says it.
    pub(super) figure: &'static str,
    /// The figures in words, for the manual.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test writes the manual"))]
    answer: &'static str,
    pub(super) patterns: &'static [&'static str],
}

/// The word that stands for the path of the table's file.
pub(super) const FILE: &str = "thisfile";

/// Parts of patterns.
const PARTS: [(&str, &str); 30] = [
    ("INFILE", "(in|of|from|for|on|using|with) [the] [file|table|dataset] thisfile"),
    ("THE", "[the|a|an|our]"),
    ("TELL", "(tell|show|give) me"),
    (
        "ASK",
        "[please] [(can|could|would) you [please] TELL|TELL|i (want|would like) to know|请问|请告诉我|请] [please] [,]",
    ),
    ("WHAT", "ASK [what IS|what ' s|calculate|compute|find|show|TELL|计算|求|求出]"),
    ("IS", "(is|was|are|were)"),
    ("HAS", "(has|have|had)"),
    ("DOES", "(does|do|did)"),
    ("SELECT", "[in|on|at|for] which"),
    ("VALUE", "THE (V [O] [ROW]|O V [ROW])"),
    ("IN", "(in|of|for|from|at)"),
    ("WHERE", "([of [all] THE ROW] (IN|with|among) VALUE|[of THE ROW] (where|with|for) [the] O (is|=) V)"),
    ("BY", "(by|per|of each|for each|in each|of every|for every|in every|grouped by)"),
    ("EXIST", "(are there|were there|do we have|did we have)"),
    ("COMPARE", "ASK (compare|comparison of)"),
    ("BRINGS", "(brings|bring|brought|sells|sell|sold|makes|make|made|generates|generated|has|have|had)"),
    (
        "AFFECTS",
        "(affect|affects|influence|influences|impact|impacts|drive|drives|decide|decides|determine|determines|explain|explains)",
    ),
    ("RELATION", "(correlation|relation|relationship|connection|association|link)"),
    ("RELATED", "(correlated|related|connected|associated)"),
    ("DEVELOP", "(develop|developed|evolve|evolved|change|changed)"),
    ("RISES", "(increases|decreases|rises|falls|grows|changes)"),
    ("PREDICT", "(predict|forecast|estimate)"),
    ("AHEAD", "(TOMORROW|[in|for|of] [the] next UNIT)"),
    ("BYUNIT", "((by|PER) UNIT [of D]|over time)"),
    ("LIST", "THE M [[, THE M] [, THE M] [,] and THE M]"),
    ("ZHOW", "[是 多少|有 多少|是 什么|多少|如何|怎样|怎么样]"),
    ("ZHAND", "(和|与|跟|以及)"),
    ("ZHEACH", "(各个|各|每个|每一个|每种|按|按照)"),
    ("ZHUNIT", "(PER|各|各个|按|按照) UNIT"),
    ("ZHREL", "(相关性|关系|关联|相关)"),
];

/// Words with a meaning: the slots that take them, the meaning and the phrases.
const MEANINGS: [(&str, &str, &str); 29] = [
    ("FIG AVG SUM MEAN", "mean", "mean|average|平均|平均值|平均数|均值"),
    ("FIG AVG SUM TOTAL", "total", "total|sum|总|总和|总计|合计"),
    ("FIG AVG", "median", "median|中位数|中值"),
    ("FIG", "maximum", "maximum|max|highest|largest|greatest|biggest|最大值|最大|最高"),
    ("FIG", "minimum", "minimum|min|lowest|smallest|least|最小值|最小|最低"),
    ("FIG", "deviation", "standard deviation|标准差"),
    ("FIG", "range", "range|范围"),
    ("HIGH", "high", "highest|largest|greatest|biggest|最高|最大"),
    ("HIGH", "low", "lowest|smallest|最低|最小"),
    ("MOST", "high", "most|最多"),
    ("MOST", "low", "least|fewest|最少"),
    ("MORE", "more", "more|higher|larger|greater|bigger|更高|更多|较高|更大"),
    ("MORE", "less", "less|lower|smaller|更低|更少|较低|更小"),
    ("UNIT", "hour", "hour|小时"),
    ("UNIT", "day", "day|天|日"),
    ("UNIT", "week", "week|周"),
    ("UNIT", "month", "month|月"),
    ("UNIT", "quarter", "quarter|季度"),
    ("UNIT", "year", "year|年"),
    ("DAILY", "hour", "hourly"),
    ("DAILY", "day", "daily"),
    ("DAILY", "week", "weekly"),
    ("DAILY", "month", "monthly|月度"),
    ("DAILY", "quarter", "quarterly"),
    ("DAILY", "year", "yearly|annual|年度"),
    ("PER", "each", "per|in each|for each|of each|in every|for every|of every|每|每个"),
    ("TOMORROW", "day", "tomorrow|明天|明日"),
    ("TOMORROW", "month", "下个月|下月|下一个月"),
    ("TOMORROW", "year", "明年|下一年"),
];

/// The shapes.
pub(super) static SHAPES: [Shape; 14] = [
    Shape {
        kind: "summary",
        figure: "",
        answer: "the figure of the column, of all rows or of those with one value",
        patterns: &[
            "WHAT THE FIG [of] THE N [[of|across|over] all [the] ROWS|of the ROWS|WHERE]",
            "WHAT THE MEAN [of] THE N (of (a|an|each|every)|per) ROW",
            "WHAT [V 的] N 的 FIG ZHOW",
            "WHAT [V] [的] FIG [的] N ZHOW",
        ],
    },
    Shape {
        kind: "summary",
        figure: "all",
        answer: "mean, median, deviation and range of the column",
        patterns: &[
            "ASK (describe|summarize|summarise|描述|概括) THE N",
            "WHAT THE (statistics|figures|summary) of THE N",
        ],
    },
    Shape {
        kind: "summary",
        figure: "rows",
        answer: "the number of rows",
        patterns: &[
            "ASK how many ROW EXIST [in total|altogether|in the (table|data|file|dataset)]",
            "ASK how many ROW does the (table|data|file|dataset) have",
            "WHAT THE [total] number of ROW [in the (table|data|file|dataset)]",
            "[请问] (一共|总共|表中) [有] 多少 [行|条 记录]",
        ],
    },
    Shape {
        kind: "summary",
        figure: "total",
        answer: "the total of the column, of the rows with one value",
        patterns: &[
            "ASK how (much|many) N (came|comes|come|is there|was there|EXIST) (in|from|for|at) VALUE",
            "ASK how much N [is there|was there] (in|from|for|at) VALUE",
            "ASK how many N (are|were) sold (in|at) VALUE",
        ],
    },
    Shape {
        kind: "groups",
        figure: "",
        answer: "the figure of each group; mean and total if none is named, and the difference of two groups with its standard error",
        patterns: &[
            "WHAT THE AVG [of] THE N BY G",
            "[COMPARE|WHAT] THE [SUM [of]] N BY G",
            "COMPARE THE [SUM [of]] N (across|between) [all] [the] [different] G",
            "WHAT THE N WHERE",
            "SELECT G HAS THE HIGH [AVG] N",
            "SELECT G IS THE [AVG [of]] N [the] HIGH",
            "COMPARE VALUE and VALUE [: | ,] (who|which|which one|which of them) (BRINGS|gets|is) THE MORE [SUM] N",
            "COMPARE VALUE and VALUE (by|in) THE [SUM] N",
            "COMPARE THE [SUM [of]] N (of|in|between|for) VALUE and VALUE",
            "ASK IS THE [SUM [of]] N MORE [(for|in|at|of|among)] VALUE than [(for|in|at|of|among)] VALUE",
            "ASK IS THE [SUM [of]] N IN VALUE MORE than [(that of|for|in|at|the [SUM] N (of|in|for|at|from))] VALUE",
            "ASK DOES VALUE have THE MORE [SUM] N than VALUE",
            "ASK DOES VALUE (differ from VALUE|and VALUE differ) in THE [SUM] N",
            "WHAT THE difference (in|of) THE [SUM] N between VALUE and VALUE",
            "ASK DOES THE N depend on THE G",
            "ASK [how] DOES THE G AFFECTS THE N",
            "ASK DOES THE N differ (by|between) G",
            "WHAT ZHEACH G [的] [AVG] [的] N ZHOW",
            "WHAT 比较 ZHEACH G 的 [SUM] N",
            "WHAT 哪个 G [的] [AVG] N HIGH",
            "N HIGH 的 G 是 (哪个|什么)",
            "WHAT (比较|对比) V ZHAND V 的 [SUM] N",
            "WHAT V ZHAND V 的 [SUM] N (差异|差别|的 差异|的 差别) ZHOW",
        ],
    },
    Shape {
        kind: "groups",
        figure: "total",
        answer: "the total of each group",
        patterns: &["ASK how (much|many) N [EXIST|is there|was there] BY G", "SELECT G BRINGS THE MOST N"],
    },
    Shape {
        kind: "groups",
        figure: "count",
        answer: "the number of rows of each group, or of one",
        patterns: &[
            "ASK how many ROW [EXIST] BY G",
            "ASK how many ROW (does each G have|(are|were) [there] in each G)",
            "WHAT THE number of ROW BY G",
            "ASK count THE ROW BY G",
            "SELECT G HAS THE (MOST|HIGH number of) ROW",
            "SELECT G is [the] MOST (common|frequent)",
            "ASK how often does each G (occur|appear)",
            "ASK how many ROW [(are|were) [there]|do we have|EXIST] (in|of|for|from|at|with|among) VALUE",
            "ASK how many ROW (are|were) V",
            "ASK how many V [O] ROW (EXIST|are in the (table|data|file|dataset))",
            "ASK how many ROW HAS [the] (V O|O V)",
            "WHAT ZHEACH G (有 多少 行|有 多少 条 记录|的 行数 ZHOW|的 记录 数 ZHOW)",
            "[请问] V [一共|总共] 有 多少 (行|条 记录)",
        ],
    },
    Shape {
        kind: "time",
        figure: "",
        answer: "the figure of each period, the highest and the lowest, the change and the slope with its standard error",
        patterns: &[
            "ASK how (does|did|do) THE [SUM] N DEVELOP [BYUNIT]",
            "ASK (is|was) there a trend (in|of) THE N [BYUNIT]",
            "ASK DOES THE N change over time",
            "WHAT THE DAILY [TOTAL] N",
            "WHAT THE SUM [of] THE N (by|PER) UNIT [of D]",
            "[COMPARE|WHAT] THE N BYUNIT",
            "SELECT UNIT IS THE [SUM [of]] N [the] HIGH",
            "SELECT UNIT HAS THE HIGH [SUM] N",
            "WHAT ZHUNIT [的] [SUM] [的] N [的] [趋势|变化|变化 趋势] ZHOW",
            "WHAT [在] (哪|哪个|哪一个|哪一) UNIT [的] [SUM] N HIGH",
        ],
    },
    Shape {
        kind: "time",
        figure: "total",
        answer: "the total of each period",
        patterns: &[
            "ASK how (much|many) N [EXIST|is there|was there] (by|PER) UNIT [of D]",
            "SELECT UNIT BRINGS THE MOST N",
        ],
    },
    Shape {
        kind: "time",
        figure: "count",
        answer: "the number of rows of each period; a period without rows has 0",
        patterns: &[
            "ASK how many ROW [EXIST] (by|PER) UNIT [of D]",
            "WHAT THE number of ROW (by|PER) UNIT [of D]",
            "SELECT UNIT (HAS|(were|are) there) THE (MOST|HIGH number of) ROW",
        ],
    },
    Shape {
        kind: "forecast",
        figure: "",
        answer: "simple forecasts of the next period, compared on the past",
        patterns: &[
            "ASK what will THE [TOTAL] N be AHEAD",
            "ASK PREDICT THE [TOTAL] N AHEAD",
            "ASK how (much|many) N (come|comes|will come|will there be|do we expect) AHEAD",
            "WHAT TOMORROW [的] N [预计] (是 多少|会 是 多少|多少|有 多少)",
            "WHAT 预测 TOMORROW [的] N",
        ],
    },
    Shape {
        kind: "relation",
        figure: "",
        answer: "correlation with its 95 % interval, share of the variation, slope",
        patterns: &[
            "ASK IS there [a|an|any] [strong|linear] RELATION between THE X and THE N",
            "WHAT THE [linear|pearson] correlation [coefficient] (between|of) THE X and THE N",
            "ASK IS THE X and THE N [linearly] RELATED",
            "ASK [how] IS THE N [linearly] RELATED (to|with) THE X",
            "ASK [how] DOES THE X AFFECTS THE N",
            "ASK [how] DOES THE N depend on THE X",
            "ASK how (does|do) THE N change when THE X RISES",
            "WHAT THE (effect|influence|impact) of THE X on THE N",
            "[请问] X ZHAND N [之间] [是否] (有|存在|有 没有|是否 有|是否 存在) ZHREL [吗]",
            "[请问] X ZHAND N [之间] 是否 相关",
            "[请问] X [对|如何|怎样] 影响 N [吗]",
        ],
    },
    Shape {
        kind: "drivers",
        figure: "",
        answer: "the columns by the share of the variation that each explains alone, and the share that chance reaches",
        patterns: &[
            "ASK what AFFECTS THE N [most|the most]",
            "ASK what does THE N depend on",
            "ASK which (factors|columns|variables|features) AFFECTS THE N [most|the most|most strongly]",
            "ASK what AFFECTS how (many|much) N [of FILE] [THE G [sells|buys|uses|has]]",
            "ASK what AFFECTS THE N that THE G (orders|sells|buys|uses|has)",
            "[请问] 什么 (影响|决定) N",
            "[请问] 哪些 因素 (影响|决定) N",
        ],
    },
    Shape {
        kind: "models",
        figure: "",
        answer: "simple models, compared on rows that they have not seen",
        patterns: &[
            "ASK PREDICT THE N (from|by|with|using|based on) LIST",
            "ASK which [simple] model (predicts|estimates) THE N [of (a|an|the) FILE] best",
        ],
    },
];

/// The patterns of all shapes.
static PATTERNS: LazyLock<Vec<(&'static Shape, Vec<Pattern>)>> = LazyLock::new(|| {
    let whole = |text: &&str| Pattern::read(&format!("[INFILE [, | :]] {text} [INFILE]"));
    let read = |shape: &'static Shape| (shape, shape.patterns.iter().map(whole).collect());
    SHAPES.iter().map(read).collect()
});

/// The phrases of each meaning, in tokens.
type Phrases = Vec<(&'static str, Vec<String>)>;
static PHRASES: LazyLock<Vec<(&'static str, Phrases)>> = LazyLock::new(|| {
    let split = |phrases: &'static str| phrases.split('|').map(words_of);
    let read = |(slots, meaning, phrases): &(&'static str, &'static str, &'static str)| {
        (*slots, split(phrases).map(|words| (*meaning, words)).collect())
    };
    MEANINGS.iter().map(read).collect()
});

/// Every word that a pattern or a meaning knows.
static WORDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let meant = PHRASES.iter().flat_map(|(_, phrases)| phrases).flat_map(|(_, words)| words.clone());
    meant.chain(all().flat_map(|(_, pattern)| pattern.words())).collect()
});

fn words_of(phrase: &str) -> Vec<String> {
    tokens(phrase).into_iter().map(|token| token.folded).collect()
}

/// Returns every shape with its patterns.
pub(super) fn all() -> impl Iterator<Item = (&'static Shape, &'static Pattern)> {
    PATTERNS.iter().flat_map(|(shape, patterns)| patterns.iter().map(move |pattern| (*shape, pattern)))
}

/// Returns the text of a part of patterns.
pub(super) fn part(name: &str) -> Option<&'static str> {
    PARTS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Returns the meanings that a slot takes, with their words; nothing if it is a slot for names.
pub(super) fn meanings(slot: &str) -> Vec<&'static (&'static str, Vec<String>)> {
    let takes = |slots: &str| slots.split(' ').any(|one| one == slot);
    PHRASES.iter().filter(|(slots, _)| takes(slots)).flat_map(|(_, phrases)| phrases).collect()
}

/// Returns true if a word asks for a figure. A column with such a name must be quoted.
pub(super) fn is_figure(word: &str) -> bool {
    meanings("FIG")
        .into_iter()
        .chain(meanings("MOST"))
        .chain(meanings("MORE"))
        .any(|(_, words)| words.iter().any(|one| one == word))
        || matches!(word, "number" | "count" | "many" | "much" | "difference" | "change" | "trend")
}

/// Returns true if some pattern has a word.
pub(super) fn is_word(word: &str) -> bool {
    WORDS.contains(word)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    /// Returns the table of the sentences for the manual.
    fn told() -> String {
        let shapes = SHAPES.iter().map(|shape| format!("{}:\n  {}\n", shape.answer, shape.patterns.join("\n  ")));
        let parts = PARTS.iter().map(|(name, text)| format!("  {name} = {text}\n"));
        let meanings = MEANINGS.iter().map(|(slots, meaning, words)| format!("  {slots} = {words} ({meaning})\n"));
        let all: String =
            shapes.chain(["parts:\n".to_owned()]).chain(parts).chain(["words:\n".to_owned()]).chain(meanings).collect();
        format!("```text\n{all}```\n")
    }

    #[test]
    fn the_manual_lists_every_sentence() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/notebook.md");
        let manual = fs::read_to_string(&path).unwrap();
        let (before, rest) = manual.split_once("<!-- sentences -->\n").unwrap();
        let (known, after) = rest.split_once("<!-- end of sentences -->").unwrap();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            let renewed = format!("{before}<!-- sentences -->\n{}<!-- end of sentences -->{after}", told());
            return fs::write(path, renewed).unwrap();
        }
        assert_eq!(known, told(), "renew docs/notebook.md with UPDATE_DOCS=1");
    }

    #[test]
    fn every_slot_is_known() {
        let names = ["N", "M", "X", "G", "O", "V", "D", "ROW", "ROWS", "FILE"];
        for slot in all().flat_map(|(_, pattern)| pattern.slots()) {
            assert!(names.contains(&slot.as_str()) || !meanings(&slot).is_empty(), "{slot}");
        }
    }
}
