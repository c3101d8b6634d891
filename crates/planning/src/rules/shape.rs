//! The shapes of questions that the rules can answer: one row for each, with the words that it uses.
//!
//! A shape answers a problem only if each word of the problem is a name of the table, a function word, or a word that the
//! shape uses, and if the shape uses each name. So a word that no figure respects (`normal`, `above`, `not`, `2024`)
//! leads to no answer, and never to the answer of another question. A word belongs into a row only if the figures of that
//! shape give what the word asks for.

use super::words::stem;

/// A shape of questions.
pub(super) struct Shape {
    /// The kind of figures that answer it: a key of the recipes for answers.
    pub(super) kind: &'static str,
    /// The words of which a problem must have one.
    pub(super) signs: &'static [&'static str],
    /// The other words that it uses.
    pub(super) words: &'static [&'static str],
}

/// Function words: they ask for nothing by themselves. Words that restrict, negate or move a question in time are none.
const FUNCTION: [&str; 67] = [
    "a",
    "an",
    "the",
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "do",
    "does",
    "did",
    "has",
    "have",
    "had",
    "of",
    "in",
    "on",
    "at",
    "for",
    "to",
    "from",
    "with",
    "and",
    "it",
    "its",
    "this",
    "that",
    "these",
    "there",
    "their",
    "our",
    "my",
    "we",
    "us",
    "me",
    "i",
    "you",
    "what",
    "how",
    "please",
    "can",
    "tell",
    "show",
    "give",
    "find",
    "compute",
    "calculate",
    "get",
    "let",
    "want",
    "know",
    "say",
    "question",
    "problem",
    "data",
    "dataset",
    "table",
    "file",
    "column",
    "variable",
    "field",
    "value",
    "s",
    "as",
    "d",
    "they",
];

/// Words for rows.
pub(super) const ROWS: [&str; 6] = ["row", "record", "entry", "observation", "line", "item"];

/// Words that ask for a mean, a total, or a number.
pub(super) const MEANS: [&str; 3] = ["mean", "average", "averaged"];
pub(super) const TOTALS: [&str; 4] = ["total", "sum", "altogether", "totals"];
pub(super) const COUNTS: [&str; 4] = ["many", "much", "number", "count"];

/// Words that ask which of several is extreme. They need a word of choice, else they ask for a value.
pub(super) const EXTREMES: [&str; 12] = [
    "highest", "lowest", "largest", "smallest", "biggest", "greatest", "most", "least", "maximal", "minimal", "common",
    "frequent",
];
pub(super) const CHOICES: [&str; 4] = ["which", "who", "when", "whose"];

/// Words that ask for a figure. A column with such a name must be quoted.
pub(super) const FIGURES: [&str; 24] = [
    "mean",
    "average",
    "median",
    "total",
    "sum",
    "maximum",
    "minimum",
    "max",
    "min",
    "range",
    "deviation",
    "number",
    "count",
    "many",
    "much",
    "highest",
    "lowest",
    "most",
    "least",
    "more",
    "less",
    "difference",
    "change",
    "trend",
];

/// Words for a change. The rules do not compare changes with each other.
pub(super) const CHANGES: [&str; 16] = [
    "change",
    "changes",
    "changed",
    "increase",
    "increases",
    "increased",
    "decrease",
    "decreases",
    "decreased",
    "grow",
    "grows",
    "grown",
    "rise",
    "rises",
    "fall",
    "falls",
];

/// Words that compare two of several.
pub(super) const COMPARISONS: [&str; 8] = ["higher", "lower", "larger", "smaller", "bigger", "greater", "more", "less"];

/// Words that ask for each of several.
pub(super) const EACH: [&str; 4] = ["each", "every", "per", "by"];

/// Verbs after which the column that depends on others is named.
pub(super) const CAUSES: [&str; 22] = [
    "affect",
    "affects",
    "affected",
    "influence",
    "influences",
    "influenced",
    "drive",
    "drives",
    "driver",
    "decide",
    "decides",
    "determine",
    "determines",
    "explain",
    "explains",
    "impact",
    "impacts",
    "depend",
    "depends",
    "dependent",
    "effect",
    "effects",
];

/// Words after which the column that is predicted is named.
pub(super) const PREDICTIONS: [&str; 7] =
    ["predict", "predicts", "prediction", "estimate", "estimates", "forecast", "model"];

/// Periods, and the adverbs that mean them.
pub(super) const PERIODS: [(&str, &str); 14] = [
    ("hour", "hour"),
    ("hourly", "hour"),
    ("day", "day"),
    ("daily", "day"),
    ("tomorrow", "day"),
    ("week", "week"),
    ("weekly", "week"),
    ("month", "month"),
    ("monthly", "month"),
    ("quarter", "quarter"),
    ("quarterly", "quarter"),
    ("year", "year"),
    ("yearly", "year"),
    ("annual", "year"),
];

/// Words with which a mean can be that of the rows of a period or that of the totals of periods.
pub(super) const ADVERBS: [&str; 10] =
    ["hourly", "daily", "weekly", "monthly", "quarterly", "yearly", "annual", "per", "each", "every"];

/// The shapes, in the order in which they are tried.
pub(super) static SHAPES: [Shape; 7] = [
    Shape {
        kind: "forecast",
        signs: &["forecast", "tomorrow", "next"],
        words: &[
            "predict",
            "predicts",
            "prediction",
            "expect",
            "expected",
            "will",
            "many",
            "much",
            "number",
            "come",
            "hour",
            "day",
            "week",
            "month",
            "quarter",
            "year",
            "total",
        ],
    },
    Shape {
        kind: "time",
        signs: &[
            "trend",
            "develop",
            "develops",
            "development",
            "evolve",
            "evolves",
            "time",
            "hour",
            "hourly",
            "day",
            "daily",
            "week",
            "weekly",
            "month",
            "monthly",
            "quarter",
            "quarterly",
            "year",
            "yearly",
            "annual",
            "when",
        ],
        words: &[
            "mean",
            "average",
            "total",
            "sum",
            "by",
            "per",
            "each",
            "every",
            "over",
            "change",
            "changes",
            "changed",
            "increase",
            "increases",
            "increased",
            "decrease",
            "decreases",
            "decreased",
            "grow",
            "grows",
            "grown",
            "rise",
            "rises",
            "risen",
            "fall",
            "falls",
            "fallen",
            "which",
            "highest",
            "lowest",
            "largest",
            "smallest",
            "biggest",
            "greatest",
            "most",
            "least",
            "many",
            "much",
            "number",
            "count",
            "row",
            "record",
            "entry",
            "compare",
        ],
    },
    Shape {
        kind: "relation",
        signs: &[
            "correlation",
            "correlate",
            "correlates",
            "correlated",
            "relation",
            "relationship",
            "related",
            "relate",
            "relates",
            "connection",
            "connected",
            "association",
            "associated",
            "linked",
            "link",
            "affect",
            "affects",
            "influence",
            "influences",
            "impact",
            "impacts",
            "depend",
            "depends",
            "effect",
            "versus",
            "vs",
            "against",
            "change",
            "changes",
            "explain",
            "explains",
        ],
        words: &[
            "between",
            "linear",
            "linearly",
            "strong",
            "strongly",
            "weak",
            "positive",
            "negative",
            "coefficient",
            "pearson",
            "increase",
            "increases",
            "decrease",
            "decreases",
            "rise",
            "rises",
            "fall",
            "falls",
            "when",
            "strength",
            "all",
            "across",
            "row",
            "record",
        ],
    },
    Shape {
        kind: "groups",
        signs: &[
            "mean",
            "average",
            "total",
            "sum",
            "compare",
            "comparison",
            "compared",
            "differ",
            "differs",
            "difference",
            "highest",
            "lowest",
            "largest",
            "smallest",
            "biggest",
            "greatest",
            "most",
            "least",
            "higher",
            "lower",
            "larger",
            "smaller",
            "bigger",
            "greater",
            "more",
            "less",
            "per",
            "by",
            "each",
            "every",
            "many",
            "much",
            "number",
            "count",
            "common",
            "frequent",
            "often",
            "affect",
            "affects",
            "influence",
            "influences",
            "impact",
            "impacts",
            "depend",
            "depends",
            "effect",
            "versus",
            "vs",
        ],
        words: &[
            "which",
            "who",
            "than",
            "or",
            "between",
            "among",
            "sell",
            "sells",
            "sold",
            "bring",
            "brings",
            "come",
            "comes",
            "occur",
            "occurs",
            "appear",
            "appears",
            "row",
            "record",
            "entry",
            "observation",
            "line",
            "item",
            "group",
        ],
    },
    Shape {
        kind: "drivers",
        signs: &[
            "affect",
            "affects",
            "influence",
            "influences",
            "drive",
            "drives",
            "decide",
            "decides",
            "determine",
            "determines",
            "explain",
            "explains",
            "impact",
            "impacts",
            "depend",
            "depends",
        ],
        words: &[
            "which", "factor", "feature", "most", "strongly", "many", "much", "number", "sell", "sells", "sold", "row",
            "record", "item", "all", "across",
        ],
    },
    Shape {
        kind: "models",
        signs: &["predict", "predicts", "predicted", "prediction", "estimate", "estimates", "model"],
        words: &[
            "which", "using", "use", "based", "by", "simple", "best", "well", "good", "row", "record", "item", "all",
        ],
    },
    Shape {
        kind: "summary",
        signs: &[
            "mean",
            "average",
            "median",
            "total",
            "sum",
            "maximum",
            "minimum",
            "max",
            "min",
            "highest",
            "lowest",
            "largest",
            "smallest",
            "biggest",
            "greatest",
            "range",
            "deviation",
            "describe",
            "summarize",
            "summarise",
            "summary",
            "statistic",
            "statistics",
            "analyse",
            "analyze",
        ],
        words: &[
            "standard",
            "row",
            "record",
            "entry",
            "observation",
            "item",
            "figure",
            "basic",
            "descriptive",
            "all",
            "whole",
            "overall",
            "entire",
            "across",
        ],
    },
];

fn is_one_of(word: &str, some: &[&str]) -> bool {
    some.iter().any(|known| stem(known) == word)
}

/// Returns true if a word, as its stem, asks for nothing by itself.
pub(super) fn is_function(word: &str) -> bool {
    is_one_of(word, &FUNCTION)
}

/// Returns true if a word, as its stem, is one of a list.
pub(super) fn is_in(word: &str, some: &[&str]) -> bool {
    is_one_of(word, some)
}

/// Returns true if a shape uses a word, which is given as its stem.
pub(super) fn is_known(word: &str) -> bool {
    SHAPES.iter().any(|shape| shape.uses(word))
}

impl Shape {
    /// Returns true if the word, as its stem, shows that this shape can be meant.
    pub(super) fn is_sign(&self, word: &str) -> bool {
        is_one_of(word, self.signs)
    }

    /// Returns true if the figures of this shape respect the word, which is given as its stem.
    pub(super) fn uses(&self, word: &str) -> bool {
        self.is_sign(word) || is_one_of(word, self.words)
    }
}
