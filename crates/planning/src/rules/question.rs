//! Finds out what a problem asks of a table: the columns and groups that its words name, and the kind of figures that
//! answer it. Words are compared without plural endings; nothing else of a language is understood.

use std::collections::BTreeMap;

use serde_json::json;

/// Verbs after which the column that depends on others is named.
const CAUSES: [&str; 7] = ["affect", "influenc", "driv", "decid", "determin", "explain", "impact"];
const PREDICTIONS: [&str; 3] = ["predict", "forecast", "estimat"];

/// Words about the future, about time, about models and about relations.
const FUTURE: [&str; 4] = ["forecast", "tomorrow", "next", "future"];
const TIME: [&str; 7] = ["trend", "time", "season", "development", "develop", "since", "history"];
const MODELS: [&str; 4] = ["predict", "prediction", "model", "estimate"];
const RELATIONS: [&str; 4] = ["correlat", "relat", "connect", "depend"];

/// Periods, and the adverbs that mean them.
const PERIODS: [(&str, &str); 13] = [
    ("hour", "hour"),
    ("hourly", "hour"),
    ("day", "day"),
    ("daily", "day"),
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

/// The shortest part of a name that stands for the whole name.
const PART_CHARS_MIN: usize = 4;

/// The content of a column, as the recipe `columns` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    Date,
    Group,
    Other,
}

/// A column of the table.
#[derive(Clone, Debug)]
struct Column {
    name: String,
    kind: Kind,
    /// The values of a group.
    values: Vec<String>,
}

/// The columns of a table.
#[derive(Clone, Debug)]
pub(super) struct Columns(Vec<Column>);

impl Columns {
    /// Reads the list of columns from the output of a cell: `name: kind` or `name: group (value, value)`.
    pub(super) fn read(output: &str) -> Option<Self> {
        let lines = output.lines().filter(|line| !line.trim().is_empty());
        let columns: Vec<_> = lines.clone().filter_map(column).collect();
        // The middle of a long output is cut.
        (!columns.is_empty() && columns.len() + 2 >= lines.count()).then_some(Columns(columns))
    }

    /// Returns the columns that the newest of some outputs lists; none if no output lists them.
    pub(super) fn find(outputs: &[&str]) -> Self {
        outputs.iter().rev().find_map(|output| Columns::read(output)).unwrap_or(Columns(Vec::new()))
    }

    /// Returns true if no column is known.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn of(&self, kind: Kind) -> impl Iterator<Item = &Column> {
        self.0.iter().filter(move |column| column.kind == kind)
    }
}

fn column(line: &str) -> Option<Column> {
    let (head, values) = match line.strip_suffix(')').and_then(|line| line.split_once(": group (")) {
        Some((name, values)) => return Some(group(name, values)),
        None => line.rsplit_once(": ")?,
    };
    let kind = match values {
        "number" => Kind::Number,
        "date" => Kind::Date,
        "text" | "identifier" => Kind::Other,
        _ => return None,
    };
    Some(Column { name: head.to_owned(), kind, values: Vec::new() })
}

fn group(name: &str, values: &str) -> Column {
    Column { name: name.to_owned(), kind: Kind::Group, values: values.split(", ").map(str::to_owned).collect() }
}

/// What a problem asks of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Question {
    /// The kind of figures that answer it: a key of the recipes for answers.
    pub(super) kind: &'static str,
    /// The column of numbers that it is about.
    target: Option<String>,
    /// The other columns of numbers that it names.
    others: Vec<String>,
    /// The column by whose values the rows are grouped, and the values that the problem names.
    group: Option<String>,
    values: Vec<String>,
    /// The period by which it wants figures.
    period: Option<&'static str>,
    /// Everything of the table that the problem names, in its order.
    named: Vec<String>,
}

impl Question {
    /// Reads a problem about a table.
    pub(super) fn read(problem: &str, columns: &Columns) -> Self {
        let words = stems(problem);
        let found = named(columns, &words);
        let place = |name: &String| found.get(name).copied().unwrap_or_default();
        let in_order = |kind: Kind| {
            let mut names: Vec<String> =
                columns.of(kind).map(|column| column.name.clone()).filter(|name| found.contains_key(name)).collect();
            names.sort_by_key(place);
            names
        };
        let numbers = in_order(Kind::Number);
        let target = target(&numbers, &words, place);
        let others: Vec<_> = numbers.into_iter().filter(|name| Some(name) != target.as_ref()).collect();
        let values_of = |column: &Column| -> Vec<String> {
            let is_named = |value: &&String| position(value, &words).is_some();
            column.values.iter().filter(is_named).cloned().collect()
        };
        let by_value = columns.of(Kind::Group).find(|column| !values_of(column).is_empty());
        let values = by_value.map(values_of).unwrap_or_default();
        let group = by_value.map(|column| column.name.clone()).or_else(|| in_order(Kind::Group).into_iter().next());
        let period = words.iter().find_map(|word| PERIODS.iter().find(|(known, _)| known == word));
        let mut all: Vec<String> = found.keys().cloned().collect();
        all.sort_by_key(place);
        all.extend(values.iter().cloned());
        let period = period.map(|(_, period)| *period);
        let mut question = Question { kind: "", target, others, group, values, period, named: all };
        question.kind = question.choose(columns, &words, &place);
        question
    }

    fn choose(&self, columns: &Columns, words: &[String], place: &dyn Fn(&String) -> usize) -> &'static str {
        let is_about = |some: &[&str]| words.iter().any(|word| some.contains(&word.as_str()));
        let has = |kind: Kind| columns.of(kind).next().is_some();
        if has(Kind::Date) && has(Kind::Number) && is_about(&FUTURE) {
            return "forecast";
        }
        if has(Kind::Date) && (self.period.is_some() || is_about(&TIME)) {
            return "time";
        }
        // "What decides the sales of a shop?" does not ask for the sales of each shop.
        let verb = first(words, &CAUSES);
        let is_cause = |name: &String| !self.values.is_empty() || verb.is_none_or(|verb| place(name) < verb);
        if self.group.as_ref().is_some_and(is_cause) {
            return "groups";
        }
        match (&self.target, self.others.first()) {
            (Some(_), _) if is_about(&MODELS) && columns.of(Kind::Number).count() > 1 => "models",
            (Some(_), Some(other)) if is_cause(other) => "relation",
            (Some(_), _) => "drivers",
            (None, _) => "overview",
        }
    }

    /// Fills the question into the code of its cell. `id` identifies the problem.
    pub(super) fn fill(&self, code: &str, id: &str) -> String {
        let text = |value: &Option<String>| value.as_ref().map_or("None".to_owned(), |text| json!(text).to_string());
        let named = if self.named.is_empty() { "no column".to_owned() } else { self.named.join(", ") };
        // The text is inside of a string of the cell.
        let named = json!(named).to_string();
        code.replace("__ID__", &json!(id).to_string())
            .replace("__QUESTION__", &json!(self.kind).to_string())
            .replace("__TARGET__", &text(&self.target))
            .replace("__OTHERS__", &json!(self.others).to_string())
            .replace("__GROUP__", &text(&self.group))
            .replace("__VALUES__", &json!(self.values).to_string())
            .replace("__PERIOD__", &text(&self.period.map(str::to_owned)))
            .replace("__NAMED__", named.trim_matches('"'))
    }
}

/// Returns the columns that the words name, with their positions. A part of a name counts if no whole name has its place.
fn named(columns: &Columns, words: &[String]) -> BTreeMap<String, usize> {
    let whole = columns.0.iter().filter_map(|column| Some((column.name.clone(), position(&column.name, words)?)));
    let mut found: BTreeMap<String, usize> = whole.collect();
    for Column { name, .. } in &columns.0 {
        if found.contains_key(name) {
            continue;
        }
        let parts = stems(name).into_iter().filter(|part| part.chars().count() >= PART_CHARS_MIN);
        let places = parts.filter_map(|part| words.iter().position(|word| *word == part));
        let free = places.into_iter().find(|at| !found.values().any(|taken| taken == at));
        found.extend(free.map(|at| (name.clone(), at)));
    }
    found
}

/// Returns the column that the problem is about: the first one after a verb such as `affects`, or the second one of a
/// relation.
fn target(numbers: &[String], words: &[String], place: impl Fn(&String) -> usize) -> Option<String> {
    let verb = first(words, &CAUSES).or_else(|| first(words, &PREDICTIONS));
    if verb.is_none() && numbers.len() > 1 && first(words, &RELATIONS).is_some() {
        return numbers.get(1).cloned();
    }
    let after = numbers.iter().find(|name| verb.is_some_and(|verb| place(name) > verb));
    after.or(numbers.first()).cloned()
}

/// Returns the position of the first word that begins like one of these.
fn first(words: &[String], beginnings: &[&str]) -> Option<usize> {
    words.iter().position(|word| beginnings.iter().any(|beginning| word.starts_with(beginning)))
}

/// Returns the position of a name among words.
fn position(name: &str, words: &[String]) -> Option<usize> {
    let parts = stems(name);
    if parts.is_empty() {
        return None;
    }
    words.windows(parts.len()).position(|window| window == parts)
}

/// Splits a text into lower-case words without plural endings. Capitals within a word begin another one.
fn stems(text: &str) -> Vec<String> {
    let (mut words, mut word, mut was_small) = (Vec::new(), String::new(), false);
    for letter in text.chars().chain([' ']) {
        let is_new = !letter.is_alphanumeric() || (letter.is_uppercase() && was_small);
        if is_new && !word.is_empty() {
            words.push(stem(&word));
            word.clear();
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        was_small = letter.is_lowercase();
    }
    words
}

fn stem(word: &str) -> String {
    match word.len() {
        5.. if word.ends_with("ies") => format!("{}y", &word[..word.len() - 3]),
        4.. if word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") => {
            word[..word.len() - 1].to_owned()
        }
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: &str = "order_id: identifier\norder_date: date\nregion: group (East, North, South)\n\
        product: group (cocoa, tea)\nunit_price: number\nquantity: number\nrevenue: number\nnote: text\n";

    fn read(problem: &str) -> Question {
        Question::read(problem, &Columns::read(ORDERS).unwrap())
    }

    #[test]
    fn the_words_of_a_problem_choose_the_kind_of_the_question() {
        for (problem, kind, target) in [
            ("Compare North and South: who sells a higher quantity?", "groups", "quantity"),
            ("Which product brings the most revenue?", "groups", "revenue"),
            ("How does the region affect the quantity?", "groups", "quantity"),
            ("How many orders per region?", "groups", ""),
            ("How does revenue develop by month?", "time", "revenue"),
            ("Is there a trend in the quantities?", "time", "quantity"),
            ("What will revenue be next month?", "forecast", "revenue"),
            ("Predict the quantity from the unit price", "models", "quantity"),
            ("Is there a correlation between unit price and quantity?", "relation", "quantity"),
            ("How does the unit price influence the quantity?", "relation", "quantity"),
            ("What decides the quantity that a region orders?", "drivers", "quantity"),
            ("Tell me something nice", "overview", ""),
        ] {
            let question = read(problem);
            assert_eq!((question.kind, question.target.as_deref().unwrap_or_default()), (kind, target), "{problem}");
        }
    }

    #[test]
    fn groups_values_and_periods_are_found() {
        let question = read("Compare North with South");
        assert_eq!(
            (question.group.as_deref(), question.values),
            (Some("region"), vec!["North".into(), "South".into()])
        );
        assert_eq!(read("monthly revenue").period, Some("month"));
        let price = read("What does the price explain?");
        assert_eq!(price.named, ["unit_price"], "a part of a name counts");
    }

    #[test]
    fn names_are_compared_without_their_form() {
        assert_eq!(
            stems("unitPrice of Cities, gas & class status"),
            ["unit", "price", "of", "city", "gas", "class", "status"]
        );
    }

    #[test]
    fn only_a_list_of_columns_is_read_as_one() {
        assert!(Columns::read("orders.csv: 600 rows, 8 columns\n").is_none());
        assert!(Columns::read("").is_none());
        assert_eq!(Columns::read("a: b: number").unwrap().0[0].name, "a: b");
    }

    #[test]
    fn a_cell_has_the_question_as_python() {
        let filled =
            read("Compare North and South by \"quantity\"").fill(include_str!("../../recipes/question.py"), "1f");
        for line in
            ["question = \"groups\"", "other_columns = []", "period = None", "named_values = [\"North\",\"South\"]"]
        {
            assert!(filled.lines().any(|one| one == line), "{line}: {filled}");
        }
    }
}
