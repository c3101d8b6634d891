//! Finds out what a problem asks of a table: the sentence is matched with every pattern (`shapes`), and each way to read it
//! becomes a question. It is answered if there is exactly one question; else the reason names the word that no pattern
//! uses, the two readings, or why its figures would mean nothing.

use std::path::Path;

use serde_json::json;

use super::{
    columns::{Adds, Column, Columns, Kind},
    grammar::{Filled, Sentence, Taken},
    names::{Name, Names},
    shapes::{self, Shape},
    tokens::{Token, is_chinese, stem, stems, tokens},
};

/// The kind of a problem that the rules cannot answer.
pub(super) const OVERVIEW: &str = "overview";

/// The most tokens of a problem that is matched.
const TOKENS_MAX: usize = 80;

/// Words for the rows of every table, and the signs that end a sentence.
const ROWS: [&str; 4] = ["row", "record", "entry", "observation"];
const ENDS: [&str; 6] = ["?", "!", ".", "？", "！", "。"];

/// Parts of the name of an identifier that do not say what it identifies.
const ID_WORDS: [&str; 9] = ["id", "uuid", "guid", "key", "code", "nr", "no", "number", "index"];

/// A problem as the rules have read it: the figures and the columns that it asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Question {
    /// The kind of figures that answer it: a key of the recipes for answers.
    pub(super) kind: &'static str,
    /// The reason why the rules cannot answer it; empty if they can.
    pub(super) reason: String,
    /// The column of numbers that it is about; the number of rows if there is none.
    target: Option<String>,
    /// The other columns of numbers that it names.
    others: Vec<String>,
    /// The column by whose values the rows are grouped or chosen, and the values that the problem names.
    group: Option<String>,
    values: Vec<String>,
    /// The column of dates, and the period by which it wants figures.
    date: Option<String>,
    period: Option<&'static str>,
    /// The figures that it asks for; empty for all that make sense.
    figures: Vec<&'static str>,
    /// Everything of the table that the problem names, in its order.
    named: Vec<String>,
}

/// The reason why a sentence of some shape is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Misfit {
    /// The table lacks what this reading needs, so another reading is meant.
    Lacks(String),
    /// The figures would mean nothing.
    Senseless(String),
}

impl Misfit {
    fn reason(self) -> String {
        match self {
            Misfit::Lacks(reason) | Misfit::Senseless(reason) => reason,
        }
    }
}

impl Question {
    /// Reads a problem about a table, which comes from a file with this path.
    pub(super) fn read(problem: &str, columns: &Columns, file: &str) -> Self {
        let mut tokens = tokens(problem);
        while tokens.last().is_some_and(|last| !last.is_quoted && ENDS.contains(&last.text.as_str())) {
            tokens.pop();
        }
        let names = Names::of(columns);
        let takes = |slot: &str, name: Name| takes(&columns.0[name.column], slot, name);
        let stem_of_file = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let identified = columns.0.iter().filter(|column| column.kind == Kind::Identifier && column.is_unique);
        let rows = identified.flat_map(row_word).chain(ROWS.iter().map(|word| (*word).to_owned())).collect();
        let file = stem_of_file.map(|stem| stems(&stem)).unwrap_or_default();
        let sentence = Sentence { tokens, names: &names, takes: &takes, rows, file };
        let mut question = choose(&sentence, columns).unwrap_or_else(Question::refused);
        question.named = named(&sentence, columns);
        question
    }

    /// Returns a question that is not answered.
    pub(super) fn refused(reason: String) -> Self {
        Question { kind: OVERVIEW, reason, ..Question::default() }
    }

    /// Says in a sentence how the problem was understood.
    pub(super) fn reading(&self) -> String {
        let target = self.target.as_deref().unwrap_or("the number of rows");
        let name = |name: &Option<String>| name.clone().unwrap_or_default();
        let unit = self.period.unwrap_or("period");
        let figure = if let ("summary", [figure]) = (self.kind, &self.figures[..]) { *figure } else { "figures" };
        let text = match self.kind {
            "groups" => format!("{target} compared by {}", name(&self.group)),
            "time" => format!("{target} by {unit} of {}", name(&self.date)),
            "forecast" => format!("a forecast of the next {target}, one {unit} ahead"),
            "relation" => format!("the linear relation of {} and {target}", self.others[0]),
            "models" if self.others.is_empty() => format!("a prediction of {target} from all other numbers"),
            "models" => format!("a prediction of {target} from {}", self.others.join(", ")),
            "drivers" => format!("the columns that go with {target}, each alone"),
            "summary" if self.target.is_none() => target.to_owned(),
            "summary" if self.group.is_some() => {
                format!("the {figure} of {target} in the rows with {} {}", name(&self.group), self.values[0])
            }
            "summary" => format!("the {figure} of {target}"),
            _ => return format!("The problem is not answered: {}.", self.reason),
        };
        let is_open = matches!(self.kind, "groups" | "time") && self.target.is_some() && self.figures.is_empty();
        let open = if is_open { "; it names no figure, so each that makes sense is given" } else { "" };
        format!("The problem is read as: {text}{open}.")
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
            ("__FIGURES__", json!(self.figures).to_string()),
            ("__REASON__", json!(self.reason).to_string()),
            ("__NAMED__", json!(self.named).to_string()),
            ("__READING__", json!(self.reading()).to_string()),
        ]
    }
}

/// Returns true if a slot takes a name.
fn takes(column: &Column, slot: &str, name: Name) -> bool {
    match (slot, name.value) {
        ("V", Some(_)) => true,
        ("V", None) | (_, Some(_)) => false,
        ("N" | "M", _) => matches!(column.kind, Kind::Number | Kind::Empty),
        ("X", _) => matches!(column.kind, Kind::Number | Kind::Calendar),
        ("D", _) => column.kind == Kind::Date,
        _ => column.kind == Kind::Group,
    }
}

/// Returns the word of an identifier's name that says what it identifies: `order` for `order_id`.
fn row_word(column: &Column) -> Option<String> {
    let mut words = stems(&column.name);
    words.retain(|word| !ID_WORDS.contains(&word.as_str()));
    match &words[..] {
        [only] => Some(only.strip_suffix("id").unwrap_or(only).to_owned()),
        _ => None,
    }
}

/// Returns everything of the table that a sentence names, the longest names first.
fn named(sentence: &Sentence<'_>, columns: &Columns) -> Vec<String> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < sentence.tokens.len() {
        let here = sentence.names.at(&sentence.tokens, at).into_iter().max_by_key(|(size, _)| *size);
        at += here.map_or(1, |(size, _)| size);
        found.extend(here.map(|(_, name)| text(name, columns)).filter(|text| !found.contains(text)));
    }
    found
}

fn text(name: Name, columns: &Columns) -> String {
    let column = &columns.0[name.column];
    name.value.map_or(&column.name, |value| &column.values[value]).clone()
}

/// Returns the only question that a sentence can ask, or the reason why there is none.
fn choose(sentence: &Sentence<'_>, columns: &Columns) -> Result<Question, String> {
    if sentence.tokens.len() > TOKENS_MAX {
        return Err(format!("the problem has more than {TOKENS_MAX} words and signs"));
    }
    let is_known = |token: &Token| {
        let word = stem(&token.folded);
        shapes::is_word(&token.folded)
            || sentence.names.have(token)
            || sentence.rows.contains(&word)
            || sentence.file.contains(&word)
    };
    if let Some(at) = sentence.tokens.iter().position(|token| !is_known(token)) {
        // Chinese letters that follow each other are told as one word.
        let rest = sentence.tokens[at + 1..].iter();
        let is_part =
            |token: &&Token| is_chinese(&token.text) && is_chinese(&sentence.tokens[at].text) && !is_known(token);
        let word: String = [&sentence.tokens[at]]
            .into_iter()
            .chain(rest.take_while(is_part))
            .map(|token| token.text.as_str())
            .collect();
        return Err(format!("no rule uses the word `{word}`"));
    }
    let (mut readings, mut reached) = (Vec::new(), 0);
    for (shape, pattern) in shapes::all() {
        for filled in pattern.fill(sentence, &mut reached) {
            let reading = question(shape, &filled, columns);
            if !readings.contains(&reading) {
                readings.push(reading);
            }
        }
    }
    if readings.iter().any(Result::is_ok) {
        readings.retain(|reading| !matches!(reading, Err(Misfit::Lacks(_))));
    }
    match &readings[..] {
        [] => Err(unused(sentence, columns, reached)),
        [only] => only.clone().map_err(Misfit::reason),
        [Err(first), rest @ ..] if rest.iter().all(Result::is_err) => Err(first.clone().reason()),
        [first, second, ..] => {
            let told = |reading: &Result<Question, Misfit>| match reading {
                Ok(question) => question.reading().replace("The problem is read as: ", "").replace(".", ""),
                Err(misfit) => misfit.clone().reason(),
            };
            Err(format!(
                "it can be read in two ways: as {}, or as {}; put names in quotation marks",
                told(first),
                told(second)
            ))
        }
    }
}

/// Returns the reason why no pattern uses a sentence: the word behind the longest beginning that a pattern has.
fn unused(sentence: &Sentence<'_>, columns: &Columns, reached: usize) -> String {
    let Some(token) = sentence.tokens.get(reached) else {
        return "no rule answers the problem as it stands: it ends before a rule knows what to do".to_owned();
    };
    let name = sentence.names.at(&sentence.tokens, reached).into_iter().max_by_key(|(size, _)| *size);
    let what = name.map(|(_, name)| match (name.value, columns.0[name.column].kind) {
        (Some(_), _) => format!("a value of {}", columns.0[name.column].name),
        (None, Kind::Number) => "a column of numbers".to_owned(),
        (None, Kind::Calendar) => "a column of years or the like".to_owned(),
        (None, Kind::Date) => "a column of dates".to_owned(),
        (None, Kind::Group) => "a column of groups".to_owned(),
        (None, Kind::Text) => "a column of texts".to_owned(),
        (None, Kind::Identifier) => "an identifier".to_owned(),
        (None, Kind::Empty) => "a column without values".to_owned(),
    });
    let word = name.map_or(token.text.clone(), |(_, name)| text(name, columns));
    format!("no rule uses `{word}` in this place{}", what.map(|what| format!("; it is {what}")).unwrap_or_default())
}

/// The slots that a sentence has filled.
struct Slots<'s> {
    filled: &'s Filled,
    columns: &'s Columns,
}

impl<'s> Slots<'s> {
    fn names(&self, slot: &str) -> Vec<Name> {
        let taken = self.filled.iter().filter(|(known, _)| known == slot);
        taken.filter_map(|(_, taken)| if let Taken::Name(name) = taken { Some(*name) } else { None }).collect()
    }

    fn column(&self, slot: &str) -> Option<&'s Column> {
        self.names(slot).first().map(|name| &self.columns.0[name.column])
    }

    fn meaning(&self, slots: &[&str]) -> Option<&'static str> {
        let taken = self.filled.iter().find(|(known, _)| slots.contains(&known.as_str()));
        taken.and_then(|(_, taken)| if let Taken::Meaning(meaning) = taken { Some(*meaning) } else { None })
    }
}

/// Returns the question of a shape whose slots are filled.
fn question(shape: &Shape, filled: &Filled, columns: &Columns) -> Result<Question, Misfit> {
    let slots = Slots { filled, columns };
    let senseless = |reason: String| Err(Misfit::Senseless(reason));
    let target = slots.column("N");
    if let Some(empty) = target.filter(|column| column.kind == Kind::Empty) {
        return senseless(format!("{} has no values", empty.name));
    }
    let group = group(&slots)?;
    let mut asked = Question {
        kind: shape.kind,
        target: target.map(|column| column.name.clone()),
        others: ["X", "M"].iter().flat_map(|slot| slots.names(slot)).map(|name| text(name, columns)).collect(),
        group: group.map(|column| column.name.clone()),
        values: slots.names("V").into_iter().map(|name| text(name, columns)).collect(),
        period: slots.meaning(&["UNIT", "DAILY", "TOMORROW"]),
        figures: figure(shape, &slots, target)?.into_iter().collect(),
        ..Question::default()
    };
    if let Some(repeated) = asked.others.iter().find(|other| asked.target.as_ref() == Some(other)) {
        return senseless(format!("{repeated} is named twice"));
    }
    if asked.values.len() > 1 && asked.values[0] == asked.values[1] {
        return senseless(format!("{} is named twice", asked.values[0]));
    }
    if shape.kind == "drivers" {
        asked.group = None; // it is looked at like every other column
    }
    if matches!(shape.kind, "time" | "forecast") {
        asked.date = Some(date(&slots)?);
    }
    let is_small = matches!(asked.figures[..], [] | ["mean" | "total"]);
    if shape.kind == "summary" && asked.group.is_some() && is_small {
        asked.kind = "groups";
    }
    if shape.kind == "models" && columns.of(Kind::Number).count() < 2 {
        return senseless("a prediction needs two columns of numbers".to_owned());
    }
    Ok(asked)
}

/// Returns the column of groups that a sentence names or whose values it names.
fn group<'s>(slots: &Slots<'s>) -> Result<Option<&'s Column>, Misfit> {
    let all = ["G", "V", "O"].iter().flat_map(|slot| slots.names(slot));
    let mut owners: Vec<usize> = all.map(|name| name.column).collect();
    owners.dedup();
    let [only] = owners[..] else {
        return match &owners[..] {
            [] => Ok(None),
            more => {
                let names: Vec<&str> = more.iter().map(|column| slots.columns.0[*column].name.as_str()).collect();
                Err(Misfit::Lacks(format!("no rule uses {} together", names.join(" and "))))
            }
        };
    };
    let column = &slots.columns.0[only];
    let folded = |value: &String| value.to_lowercase();
    let same = column
        .values
        .iter()
        .find(|one| column.values.iter().any(|other| one != &other && folded(one) == folded(other)));
    match same {
        None => Ok(Some(column)),
        Some(one) => {
            let values: Vec<&str> =
                column.values.iter().filter(|other| folded(other) == folded(one)).map(String::as_str).collect();
            Err(Misfit::Senseless(format!(
                "{} has values that differ only in capitals: {}",
                column.name,
                values.join(", ")
            )))
        }
    }
}

/// Returns the figure that a sentence asks for, if it makes sense.
fn figure(shape: &Shape, slots: &Slots<'_>, target: Option<&Column>) -> Result<Option<&'static str>, Misfit> {
    let named = slots.meaning(&["FIG", "AVG", "SUM", "MEAN", "TOTAL"]);
    let figure = named.or(Some(shape.figure).filter(|figure| !figure.is_empty()));
    let Some(target) = target else { return Ok(figure) };
    let name = &target.name;
    match (figure, target.adds) {
        (Some("total"), Adds::No) => Err(Misfit::Senseless(format!("{name} is a level, and the total of a level means nothing"))),
        (Some("total"), Adds::Unknown) => {
            Err(Misfit::Senseless(format!("the rules do not know whether {name} can be added up")))
        }
        (Some("mean"), Adds::Yes | Adds::Unknown) if shape.kind == "time" && slots.meaning(&["PER"]).is_some() => {
            Err(Misfit::Senseless("such a mean can be that of the rows or that of the totals of the periods; ask for the mean `by` a period".to_owned()))
        }
        _ => Ok(figure),
    }
}

/// Returns the column of dates that a sentence names, or the only one.
fn date(slots: &Slots<'_>) -> Result<String, Misfit> {
    let all: Vec<&Column> = slots.columns.of(Kind::Date).collect();
    match (slots.column("D"), &all[..]) {
        (Some(named), _) => Ok(named.name.clone()),
        (None, [only]) => Ok(only.name.clone()),
        (None, []) => Err(Misfit::Lacks(
            "the problem asks about time, but the table has no column that is read as dates".to_owned(),
        )),
        (None, more) => {
            let names: Vec<&str> = more.iter().map(|column| column.name.as_str()).collect();
            Err(Misfit::Senseless(format!(
                "the table has several columns of dates: {}; name one, as in `by month of {}`",
                names.join(", "),
                names[0]
            )))
        }
    }
}

#[cfg(test)]
mod tests;
