//! Finds out what a problem asks of a table: the columns and groups that its words name, and the kind of figures that
//! answer it. A problem that shows no kind is not answered: the reason is a sentence for the conclusion.

use std::collections::BTreeMap;

use serde_json::json;

use super::{
    columns::{Columns, Kind},
    words::{self, Word, is_ordinary, stems, words},
};

/// Verbs after which the column that depends on others is named.
const CAUSES: [&str; 7] = ["affect", "influenc", "driv", "decid", "determin", "explain", "impact"];
const PREDICTIONS: [&str; 3] = ["predict", "forecast", "estimat"];

/// Beginnings of words about the future, time, models, relations, the figures of one column, numbers of
/// rows, and one of several rows.
const FUTURE: [&str; 4] = ["forecast", "tomorrow", "next", "future"];
const TIME: [&str; 6] = ["trend", "time", "season", "develop", "since", "history"];
const MODELS: [&str; 3] = ["predict", "model", "estimat"];
const RELATIONS: [&str; 6] = ["correlat", "relat", "connect", "depend", "associat", "link"];
const PAIRS: [&str; 8] = ["with", "versus", "against", "effect", "between", "chang", "increas", "decreas"];
const FIGURES: [&str; 19] = [
    "average",
    "mean",
    "median",
    "total",
    "sum",
    "maximum",
    "minimum",
    "highest",
    "lowest",
    "largest",
    "smallest",
    "range",
    "deviation",
    "distribut",
    "describ",
    "analy",
    "explor",
    "summar",
    "statistic",
];
const COUNTS: [&str; 7] = ["many", "number", "count", "often", "common", "frequen", "row"];
const CHOICES: [&str; 6] = ["which", "who", "where", "when", "why", "whose"];

/// Beginnings of words that ask for figures that no recipe has.
const UNKNOWN: [&str; 21] = [
    "weekday",
    "weekend",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "percent",
    "quantile",
    "quartile",
    "share",
    "proportion",
    "fraction",
    "probabil",
    "outlier",
    "cluster",
    "anova",
    "distinct",
    "unique",
];

/// Beginnings of words for figures that are known of whole columns only.
const OF_COLUMNS: [&str; 3] = ["median", "deviation", "variance"];

/// Words that are no part of a name, because they ask for a figure or a period.
const FIGURE_WORDS: [&str; 12] =
    ["number", "total", "mean", "average", "count", "date", "time", "value", "name", "type", "rate", "high"];

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

/// The kind of a problem that the rules cannot answer.
const OVERVIEW: &str = "overview";

/// A problem as the rules have read it: the figures and the columns that it asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Question {
    /// The kind of figures that answer it: a key of the recipes for answers.
    pub(super) kind: &'static str,
    /// The reason why the rules cannot answer it; empty if they can.
    reason: String,
    /// The column of numbers that it is about.
    target: Option<String>,
    /// The other columns of numbers that it names.
    others: Vec<String>,
    /// The column by whose values the rows are grouped, and the values that the problem names.
    group: Option<String>,
    values: Vec<String>,
    /// The column of dates, and the period by which it wants figures.
    date: Option<String>,
    period: Option<&'static str>,
    /// Everything of the table that the problem names, in its order.
    named: Vec<String>,
}

/// The columns and values that a text names, with their positions.
struct Named {
    words: Vec<Word>,
    /// The words that names take.
    taken: Vec<bool>,
    columns: BTreeMap<String, usize>,
    /// Values with their columns.
    values: Vec<(usize, String, String)>,
}

impl Named {
    fn find(text: &str, columns: &Columns) -> Self {
        let words = words(text);
        let mut taken = vec![false; words.len()];
        let of_columns = columns.0.iter().map(|column| (column.name.as_str(), None));
        let of_values = columns
            .0
            .iter()
            .flat_map(|column| column.values.iter().map(move |value| (value.as_str(), Some(&column.name))));
        let (names, owners): (Vec<&str>, Vec<Option<&String>>) = of_columns.chain(of_values).unzip();
        let (mut found, mut values) = (BTreeMap::new(), Vec::new());
        for (at, place) in words::find(&names, &words, &mut taken).into_iter().enumerate() {
            let Some(place) = place else { continue };
            match owners[at] {
                None => drop(found.insert(names[at].to_owned(), place)),
                Some(owner) => values.push((place, names[at].to_owned(), owner.clone())),
            }
        }
        values.sort();
        let mut named = Named { words, taken, columns: found, values };
        named.find_parts(columns);
        named
    }

    /// Finds parts of names. A part counts if only one column has it.
    fn find_parts(&mut self, columns: &Columns) {
        let parts = |name: &str| stems(name).into_iter().filter(|part| part.chars().count() >= PART_CHARS_MIN);
        for place in 0..self.words.len() {
            let stem = &self.words[place].stem;
            let is_figure = FIGURE_WORDS.contains(&stem.as_str()) || PERIODS.iter().any(|(period, _)| period == stem);
            if self.taken[place] || is_ordinary(stem) || is_figure {
                continue;
            }
            let mut owners = columns.0.iter().filter(|column| parts(&column.name).any(|part| part == *stem));
            if let (Some(owner), None) = (owners.next(), owners.next())
                && !self.columns.contains_key(&owner.name)
            {
                self.taken[place] = true;
                self.columns.insert(owner.name.clone(), place);
            }
        }
    }

    /// Returns the named columns of a kind, in the order of the text.
    fn of(&self, columns: &Columns, kind: Kind) -> Vec<String> {
        let names = columns.of(kind).map(|column| column.name.clone());
        let mut names: Vec<String> = names.filter(|name| self.columns.contains_key(name)).collect();
        names.sort_by_key(|name| self.columns[name]);
        names
    }

    /// Returns the position of the first word that begins like one of these.
    fn first(&self, beginnings: &[&str]) -> Option<usize> {
        let fits = |word: &Word| beginnings.iter().any(|beginning| word.stem.starts_with(beginning));
        (0..self.words.len()).find(|at| fits(&self.words[*at]) && !self.taken[*at])
    }

    /// Returns a number of the text that is no part of a name.
    fn number(&self) -> Option<&str> {
        let is_number = |word: &Word| word.stem.chars().all(|one| one.is_ascii_digit());
        let mut free = self.words.iter().zip(&self.taken).filter(|(word, taken)| is_number(word) && !**taken);
        free.next().map(|(word, _)| word.stem.as_str())
    }
}

/// Returns the columns of numbers and groups that a text names, in its order.
pub(super) fn named_columns(text: &str, columns: &Columns) -> Vec<String> {
    let named = Named::find(text, columns);
    let mut names = [named.of(columns, Kind::Number), named.of(columns, Kind::Group)].concat();
    names.sort_by_key(|name| named.columns[name]);
    names
}

impl Question {
    /// Reads a problem about a table.
    pub(super) fn read(problem: &str, columns: &Columns) -> Self {
        let found = Named::find(problem, columns);
        let numbers = found.of(columns, Kind::Number);
        let target = target(&numbers, &found);
        let others: Vec<_> = numbers.into_iter().filter(|name| Some(name) != target.as_ref()).collect();
        let owner = found.values.first().map(|(_, _, owner)| owner.clone());
        let values = found.values.iter().filter(|(_, _, one)| Some(one) == owner.as_ref());
        let values: Vec<String> = values.map(|(_, value, _)| value.clone()).collect();
        let group = owner.or_else(|| found.of(columns, Kind::Group).into_iter().next());
        let dates = found.of(columns, Kind::Date);
        let date = dates.first().cloned().or_else(|| columns.of(Kind::Date).next().map(|column| column.name.clone()));
        let is_free = |at: &usize| !found.taken[*at] || dates.iter().any(|name| found.columns[name] == *at);
        let mut places = (0..found.words.len()).filter(is_free);
        let period = places.find_map(|at| PERIODS.iter().find(|(known, _)| *known == found.words[at].stem));
        let mut all: Vec<(usize, String)> = found.columns.iter().map(|(name, place)| (*place, name.clone())).collect();
        all.extend(found.values.iter().map(|(place, value, _)| (*place, value.clone())));
        all.sort();
        let named = all.into_iter().map(|(_, name)| name).collect();
        let period = period.map(|(_, period)| *period);
        let mut question = Question { target, others, group, values, date, period, named, ..Question::default() };
        match question.choose(columns, &found) {
            Ok(kind) => question.kind = kind,
            Err(reason) => (question.kind, question.reason) = (OVERVIEW, reason),
        }
        question
    }

    /// Chooses the kind of figures, or returns the reason why there is none.
    fn choose(&self, columns: &Columns, found: &Named) -> Result<&'static str, String> {
        let is_about = |some: &[&str]| found.first(some).is_some();
        let count = columns.of(Kind::Number).count();
        let is_future = is_about(&FUTURE);
        self.refuse(found, is_future)?;
        let one_number = || match self.target.is_some() || count == 1 {
            true => Ok(()),
            false => Err("The problem names no column of numbers.".to_owned()),
        };
        if is_future || self.period.is_some() || is_about(&TIME) {
            self.refuse_values()?;
            if self.date.is_none() {
                return Err(
                    "The problem asks about time, but the table has no column that is read as dates.".to_owned()
                );
            }
            return if is_future { one_number().map(|()| "forecast") } else { Ok("time") };
        }
        let verb = found.first(&CAUSES);
        // "What decides the sales of a shop?" does not ask for the sales of each shop.
        let is_cause =
            |name: &String| verb.is_none_or(|verb| found.columns.get(name).is_some_and(|place| *place < verb));
        let has_other = self.others.first().is_some_and(is_cause);
        if verb.is_some() || is_about(&RELATIONS) {
            self.refuse_values()?;
            return match (&self.target, self.group.as_ref().is_some_and(is_cause)) {
                (None, _) => Err(self.without_numbers()),
                (Some(_), true) => Ok("groups"),
                (Some(_), false) if has_other => Ok("relation"),
                (Some(_), false) => Ok("drivers"),
            };
        }
        if is_about(&MODELS) && self.group.is_none() {
            return match self.target {
                Some(_) if count > 1 => Ok("models"),
                Some(_) => Err("A prediction needs two columns of numbers.".to_owned()),
                None => Err(self.without_numbers()),
            };
        }
        if self.group.is_some() && (self.target.is_some() || is_about(&COUNTS)) {
            return Ok("groups");
        }
        match (&self.target, self.others.len()) {
            (None, _) => Err(self.without_numbers()),
            (Some(_), 1..) if is_about(&PAIRS) && !is_about(&["differ"]) => Ok("relation"),
            (Some(_), 0) if is_about(&FIGURES) && !is_about(&CHOICES) => Ok("summary"),
            (Some(target), _) => Err(format!("The rules do not understand what it asks about {target}.")),
        }
    }

    /// Refuses problems with words that no recipe respects.
    fn refuse(&self, found: &Named, is_future: bool) -> Result<(), String> {
        let word = |some: &[&str]| found.first(some).map(|at| found.words[at].stem.as_str());
        let is_figure = self.group.is_some() || self.period.is_some();
        if let Some(word) = word(&UNKNOWN).or_else(|| word(&OF_COLUMNS).filter(|_| is_figure)) {
            return Err(format!("The rules do not understand the word `{word}` in it."));
        }
        match found.number().filter(|_| !is_future) {
            Some(number) => {
                Err(format!("The rules do not understand the number {number} in it, because they do not choose rows."))
            }
            None => Ok(()),
        }
    }

    /// Refuses figures about some of the rows.
    fn refuse_values(&self) -> Result<(), String> {
        match self.values.first() {
            Some(value) => Err(format!("The rules cannot restrict such figures to the rows of {value}.")),
            None => Ok(()),
        }
    }

    fn without_numbers(&self) -> String {
        match self.named.is_empty() {
            true => "The problem names no column of the table.".to_owned(),
            false => format!("The problem names no column of numbers, but {}.", self.named.join(", ")),
        }
    }

    /// Says in a sentence how the problem was understood.
    fn reading(&self) -> String {
        let (target, used) = match &self.target {
            Some(target) => (target.as_str(), vec![target]),
            None => ("the number of rows", Vec::new()),
        };
        let name = |name: &Option<String>| name.clone().unwrap_or_default();
        let unit = self.period.unwrap_or("period");
        let (text, more): (String, Vec<&String>) = match self.kind {
            "groups" => {
                (format!("{target} compared by {}", name(&self.group)), self.group.iter().chain(&self.values).collect())
            }
            "time" => (format!("{target} by {unit} of {}", name(&self.date)), self.date.iter().collect()),
            "forecast" => (format!("a forecast of the next {target}, one {unit} ahead"), self.date.iter().collect()),
            "relation" => (format!("the linear relation of {} and {target}", self.others[0]), vec![&self.others[0]]),
            "models" if self.others.is_empty() => {
                (format!("a prediction of {target} from all other numbers"), Vec::new())
            }
            "models" => {
                (format!("a prediction of {target} from {}", self.others.join(", ")), self.others.iter().collect())
            }
            "drivers" => (format!("the columns that go with {target}, each alone"), Vec::new()),
            "summary" => (format!("the figures of {target}"), Vec::new()),
            _ => return format!("The problem is not answered. {}", self.reason),
        };
        let is_unused = |name: &&String| !used.contains(name) && !more.contains(name);
        let unused: Vec<&str> = self.named.iter().filter(is_unused).map(String::as_str).collect();
        match unused.is_empty() || self.kind == "drivers" {
            true => format!("The problem is read as: {text}."),
            false => format!("The problem is read as: {text}. Not used: {}.", unused.join(", ")),
        }
    }

    /// Returns the parts of the cell of the question. `id` identifies the problem.
    pub(super) fn parts(&self, id: &str) -> Vec<(&'static str, String)> {
        let text = |value: &Option<String>| value.as_ref().map_or("None".to_owned(), |text| json!(text).to_string());
        vec![
            ("__ID__", json!(id).to_string()),
            ("__QUESTION__", json!(self.kind).to_string()),
            ("__TARGET__", text(&self.target)),
            ("__OTHERS__", json!(self.others).to_string()),
            ("__GROUP__", text(&self.group)),
            ("__VALUES__", json!(self.values).to_string()),
            ("__DATE__", text(&self.date)),
            ("__PERIOD__", text(&self.period.map(str::to_owned))),
            ("__REASON__", json!(self.reason).to_string()),
            ("__NAMED__", json!(self.named).to_string()),
            ("__READING__", json!(self.reading()).to_string()),
        ]
    }
}

/// Returns the column that the problem is about: the first one after a verb such as `affects`, or the second one of a
/// relation.
fn target(numbers: &[String], found: &Named) -> Option<String> {
    let verb = found.first(&CAUSES).or_else(|| found.first(&PREDICTIONS));
    if verb.is_none() && numbers.len() > 1 && found.first(&RELATIONS).is_some() {
        return numbers.get(1).cloned();
    }
    let after = numbers.iter().find(|name| verb.is_some_and(|verb| found.columns[*name] > verb));
    after.or(numbers.first()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: &str = "order_id: identifier\norder_date: date\nregion: group [\"East\", \"North\", \"South\"]\n\
        product: group [\"cocoa\", \"tea\"]\nunit_price: number\nquantity: number\nrevenue: number\nnote: text\n";

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
            ("What is the mean revenue in the North?", "groups", "revenue"),
            ("How does revenue develop by month?", "time", "revenue"),
            ("Is there a trend in the quantities?", "time", "quantity"),
            ("What will revenue be next month?", "forecast", "revenue"),
            ("Predict the quantity from the unit price", "models", "quantity"),
            ("Is there a correlation between unit price and quantity?", "relation", "quantity"),
            ("How does the unit price influence the quantity?", "relation", "quantity"),
            ("How does revenue change when the unit price increases?", "relation", "revenue"),
            ("What decides the quantity that a region orders?", "drivers", "quantity"),
            ("What does the revenue depend on?", "drivers", "revenue"),
            ("What is the median revenue?", "summary", "revenue"),
        ] {
            let question = read(problem);
            assert_eq!((question.kind, question.target.as_deref().unwrap_or_default()), (kind, target), "{problem}");
            assert_eq!(question.reason, "", "{problem}");
        }
    }

    #[test]
    fn a_problem_that_is_not_understood_gets_a_reason() {
        for (problem, reason) in [
            ("Tell me something nice", "names no column of the table"),
            ("How many orders have a quantity above 2?", "the number 2"),
            ("On which weekday is revenue highest?", "`weekday`"),
            ("Which region has the highest median revenue?", "`median`"),
            ("How does revenue develop in the North?", "rows of North"),
            ("What affects revenue in the North?", "rows of North"),
            ("Which order has the highest revenue?", "what it asks about revenue"),
            ("What is the difference between revenue and quantity?", "what it asks about revenue"),
            ("Is the revenue nice?", "what it asks about revenue"),
            ("What affects the note?", "no column of numbers, but note"),
            ("Compare North with South", "no column of numbers, but North, South"),
        ] {
            let question = read(problem);
            assert_eq!(question.kind, OVERVIEW, "{problem}");
            assert!(question.reason.contains(reason), "{problem}: {}", question.reason);
        }
        let dateless = Question::read("How does x develop by month?", &Columns::read("x: number\nday: text").unwrap());
        assert!(dateless.reason.contains("no column that is read as dates"), "{}", dateless.reason);
    }

    #[test]
    fn groups_values_and_periods_are_found() {
        let question = read("Compare North with South");
        assert_eq!(
            (question.group.as_deref(), question.values),
            (Some("region"), vec!["North".into(), "South".into()])
        );
        assert_eq!(read("monthly revenue").period, Some("month"));
        assert_eq!(read("What does the price explain?").named, ["unit_price"], "a part of a name counts");
        assert_eq!(read("Is an order nice?").named, Vec::<String>::new(), "two columns have this part");
        assert_eq!(named_columns("Plot revenue by region", &Columns::read(ORDERS).unwrap()), ["revenue", "region"]);
    }

    #[test]
    fn the_reading_names_what_is_not_used() {
        let reading = read("How does revenue develop by month and region?").reading();
        assert_eq!(reading, "The problem is read as: revenue by month of order_date. Not used: region.");
        let reading = read("Compare North and South: who sells a higher quantity?").reading();
        assert_eq!(reading, "The problem is read as: quantity compared by region.");
    }

    #[test]
    fn a_cell_has_the_question_as_python() {
        let parts = read("Compare North and South by \"quantity\"").parts("1f");
        for (part, expected) in [
            ("__QUESTION__", "\"groups\""),
            ("__OTHERS__", "[]"),
            ("__PERIOD__", "None"),
            ("__VALUES__", "[\"North\",\"South\"]"),
        ] {
            assert!(parts.contains(&(part, expected.to_owned())), "{part}: {parts:?}");
        }
    }
}
