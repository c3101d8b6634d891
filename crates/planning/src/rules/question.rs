//! Finds out what a problem asks of a table: the columns and groups that its words name, and the shape of the question.
//!
//! The shapes (`shape`) are tried in order. The first one that uses every word and every name of the problem answers it.
//! If there is none, the problem is not answered: the reason names the word that no rule uses.

use serde_json::json;

use super::{
    columns::{Adds, Column, Columns, Kind},
    named::Named,
    shape::{
        ADVERBS, CAUSES, CHANGES, CHOICES, COMPARISONS, COUNTS, EACH, EXTREMES, MEANS, PERIODS, PREDICTIONS, ROWS,
        SHAPES, Shape, TOTALS, is_function, is_in, is_known,
    },
    words::{self, words},
};

/// The kind of a problem that the rules cannot answer.
pub(super) const OVERVIEW: &str = "overview";

/// The shortest word of the name of a file that says what the table is about.
const FILE_CHARS_MIN: usize = 4;

/// Parts of the name of an identifier that do not say what it identifies.
const ID_WORDS: [&str; 9] = ["id", "uuid", "guid", "key", "code", "nr", "no", "number", "index"];

/// A problem as the rules have read it: the figures and the columns that it asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Question {
    /// The kind of figures that answer it: a key of the recipes for answers.
    pub(super) kind: &'static str,
    /// The reason why the rules cannot answer it; empty if they can.
    pub(super) reason: String,
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
    /// The figures of groups or periods that it asks for: `mean`, `total` or `count`; empty for all that make sense.
    figures: Vec<&'static str>,
    /// Everything of the table that the problem names, in its order.
    named: Vec<String>,
}

/// The reason why a shape does not fit a problem.
enum Misfit {
    /// The problem does not have this shape.
    Shape(String),
    /// The problem has this shape, but the rules cannot answer it.
    Use(String),
}

impl From<String> for Misfit {
    fn from(reason: String) -> Self {
        Misfit::Use(reason)
    }
}

impl From<&str> for Misfit {
    fn from(reason: &str) -> Self {
        Misfit::Use(reason.to_owned())
    }
}

/// The facts by which shapes decide.
struct Facts<'f> {
    columns: &'f Columns,
    named: &'f Named,
    /// Words for a row of this table.
    rows: Vec<String>,
    /// Words of the name of the table's file.
    file: Vec<String>,
    numbers: Vec<String>,
    calendars: Vec<String>,
    groups: Vec<String>,
    dates: Vec<String>,
    /// Named columns that no shape uses.
    useless: Vec<String>,
    /// The columns of the named values, each once.
    owners: Vec<String>,
    periods: Vec<&'static str>,
}

impl<'f> Facts<'f> {
    fn find(named: &'f Named, columns: &'f Columns, file: &str) -> Self {
        let of = |kind| named.of(columns, kind);
        let dates = of(Kind::Date);
        let mut owners: Vec<String> = named.values.iter().map(|(_, _, owner)| owner.clone()).collect();
        owners.sort();
        owners.dedup();
        let is_free = |at: usize| !named.taken[at] || dates.iter().any(|name| named.columns[name] == at);
        let free = (0..named.words.len()).filter(|at| is_free(*at)).map(|at| named.words[at].stem.as_str());
        let mut periods: Vec<_> = free
            .filter_map(|word| PERIODS.iter().find(|(known, _)| words::stem(known) == word))
            .map(|(_, p)| *p)
            .collect();
        periods.dedup();
        let identified = columns.0.iter().filter(|column| column.kind == Kind::Identifier && column.is_unique);
        let rows = identified.flat_map(row_words).chain(ROWS.iter().map(|word| (*word).to_owned())).collect();
        let stem = std::path::Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let mut file = stem.map(|stem| words::stems(&stem)).unwrap_or_default();
        file.retain(|word| {
            word.chars().count() >= FILE_CHARS_MIN && word.chars().all(char::is_alphabetic) && !is_known(word)
        });
        Facts {
            columns,
            named,
            rows,
            file,
            numbers: of(Kind::Number),
            calendars: of(Kind::Calendar),
            groups: of(Kind::Group),
            dates,
            useless: of(Kind::Empty),
            owners,
            periods,
        }
    }

    /// Returns the positions of words that no name takes and that are one of these.
    fn places<'p>(&'p self, some: &'p [&'p str]) -> impl Iterator<Item = usize> + 'p {
        let is_free = |at: &usize| !self.named.taken[*at];
        (0..self.named.words.len()).filter(is_free).filter(move |at| is_in(&self.named.words[*at].stem, some))
    }

    fn has(&self, some: &[&str]) -> bool {
        self.places(some).next().is_some()
    }

    /// Returns true if a word says what a row is, or is the name of a column that does.
    fn names_rows(&self) -> bool {
        let words = self.named.words.iter().map(|word| &word.stem);
        words.zip(&self.named.taken).any(|(word, taken)| !taken && self.rows.contains(word))
            || !self.named.of(self.columns, Kind::Text).is_empty()
    }

    fn column(&self, name: &str) -> Option<&Column> {
        self.columns.0.iter().find(|column| column.name == name)
    }

    /// Returns the words that a shape does not use, as they are written.
    fn unused(&self, shape: &Shape) -> Vec<&str> {
        let words = self.named.words.iter().zip(&self.named.taken).filter(|(_, taken)| !**taken);
        let is_used = |stem: &String| {
            is_function(stem) || shape.uses(stem) || self.rows.contains(stem) || self.file.contains(stem)
        };
        words.filter(|(word, _)| !is_used(&word.stem)).map(|(word, _)| word.text.as_str()).collect()
    }

    fn has_sign(&self, shape: &Shape) -> bool {
        let words = self.named.words.iter().zip(&self.named.taken);
        let free = words.filter(|(word, taken)| !**taken || self.is_named_period(&word.stem));
        free.map(|(word, _)| &word.stem).any(|word| shape.is_sign(word))
            || shape.kind == "groups" && !self.named.values.is_empty()
    }

    /// Returns true if a word is a period although a column of dates has this name.
    fn is_named_period(&self, stem: &str) -> bool {
        let is_period = PERIODS.iter().any(|(known, _)| words::stem(known) == stem);
        is_period && self.dates.iter().any(|name| self.named.words[self.named.columns[name]].stem == *stem)
    }

    /// Returns the number of questions that the problem asks.
    fn questions(&self) -> usize {
        let words = &self.named.words;
        let is_amount = |at: usize| words.get(at + 1).is_some_and(|next| is_in(&next.stem, &["many", "much"]));
        let asks = |at: &usize| {
            let asks = is_in(&words[*at].stem, &["what", "which", "who", "where", "why", "how", "whose"]);
            asks && !is_amount(*at) || *at == 0 && is_in(&words[*at].stem, &["when"])
        };
        (0..words.len()).filter(|at| !self.named.taken[*at]).filter(asks).count()
    }

    /// Returns the figures that the words ask for of groups and periods.
    fn figures(&self, target: Option<&String>) -> Result<Vec<&'static str>, String> {
        let Some(target) = target else { return Ok(vec!["count"]) };
        let adds = self.column(target).map(|column| column.adds).unwrap_or_default();
        let (mean, mut total) = (self.has(&MEANS), self.has(&TOTALS));
        if self.has(&COUNTS) {
            match adds {
                Adds::Yes => total = true,
                Adds::No | Adds::Unknown => {
                    return Err(format!("the rules do not know whether {target} can be added up"));
                }
            }
        }
        if total && adds == Adds::No {
            return Err(format!("{target} is a level, and the total of a level means nothing"));
        }
        Ok([mean.then_some("mean"), total.then_some("total")].into_iter().flatten().collect())
    }
}

/// Returns the words of the name of an identifier that say what it identifies: `order` for `order_id`.
fn row_words(column: &Column) -> Vec<String> {
    let mut stems: Vec<String> = words(&column.name).into_iter().map(|word| word.stem).collect();
    stems.retain(|stem| !ID_WORDS.contains(&stem.as_str()));
    match stems[..] {
        [ref only] => vec![only.strip_suffix("id").unwrap_or(only).to_owned()],
        _ => Vec::new(),
    }
}

impl Question {
    /// Reads a problem about a table, which comes from a file with this path.
    pub(super) fn read(problem: &str, columns: &Columns, file: &str) -> Self {
        let named = Named::find(problem, columns);
        let facts = Facts::find(&named, columns, file);
        let mut question = match choose(&facts) {
            Ok(question) => question,
            Err(reason) => Question::refused(reason),
        };
        question.named = named.all();
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
        let text = match self.kind {
            "groups" => format!("{target} compared by {}", name(&self.group)),
            "time" => format!("{target} by {unit} of {}", name(&self.date)),
            "forecast" => format!("a forecast of the next {target}, one {unit} ahead"),
            "relation" => format!("the linear relation of {} and {target}", self.others[0]),
            "models" if self.others.is_empty() => format!("a prediction of {target} from all other numbers"),
            "models" => format!("a prediction of {target} from {}", self.others.join(", ")),
            "drivers" => format!("the columns that go with {target}, each alone"),
            "summary" => format!("the figures of {target}"),
            _ => return format!("The problem is not answered: {}.", self.reason),
        };
        format!("The problem is read as: {text}.")
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

/// Returns the question of the first shape that uses every word and every name, or the reason why there is none.
fn choose(facts: &Facts<'_>) -> Result<Question, String> {
    if let Some(word) = &facts.named.ambiguous {
        return Err(format!("`{word}` can be a name of the table or ask for a figure; put a name in quotation marks"));
    }
    let (mut other, mut reason) = (None, None);
    let mut unused: Option<Vec<&str>> = None;
    for shape in &SHAPES {
        let left = facts.unused(shape);
        if left.is_empty() && facts.has_sign(shape) {
            match fit(shape, facts) {
                Ok(question) => return Ok(question),
                Err(Misfit::Use(why)) => drop(reason.get_or_insert(why)),
                Err(Misfit::Shape(why)) => drop(other.get_or_insert(why)),
            }
        }
        unused = Some(match unused {
            Some(before) => before.into_iter().filter(|word| left.contains(word)).collect(),
            None => left,
        });
    }
    if let Some(word) = unused.and_then(|words| words.first().copied()) {
        return Err(format!("no rule uses the word `{word}`"));
    }
    let named = facts.named.all();
    if named.is_empty() {
        return Err("the problem names no column of the table".to_owned());
    }
    let words = facts.named.words.iter().zip(&facts.named.taken);
    let words: Vec<&str> = words
        .filter(|(word, taken)| !**taken && is_known(&word.stem) && !is_function(&word.stem))
        .map(|(word, _)| word.text.as_str())
        .collect();
    Err(match (reason.or(other), words.is_empty()) {
        (Some(reason), _) => reason,
        (None, true) => format!("the rules do not understand what it asks about {}", named.join(", ")),
        (None, false) => format!("no rule uses the words `{}` together", words.join("`, `")),
    })
}

/// Fits a shape to a problem whose words it uses.
fn fit(shape: &Shape, facts: &Facts<'_>) -> Result<Question, Misfit> {
    if facts.questions() > 1 {
        return Err("the problem asks more than one question".into());
    }
    if let Some(name) = facts.useless.first() {
        return Err(format!("{name} has no values").into());
    }
    let question = match shape.kind {
        "forecast" => forecast(facts),
        "time" => time(facts),
        "relation" => relation(facts),
        "groups" => groups(facts),
        "drivers" => drivers(facts),
        "models" => models(facts),
        _ => summary(facts),
    }?;
    Ok(Question { kind: shape.kind, ..question })
}

/// Requires that only some kinds of names are there.
fn only(facts: &Facts<'_>, allowed: &[&[String]]) -> Result<(), String> {
    let all = [&facts.numbers, &facts.calendars, &facts.groups, &facts.dates, &facts.owners];
    let is_allowed = |name: &String| allowed.iter().any(|some| some.contains(name));
    match all.into_iter().flatten().find(|name| !is_allowed(name)) {
        None => Ok(()),
        Some(name) => {
            let value = facts.named.values.iter().find(|(_, _, owner)| owner == name);
            let what = value.filter(|_| !facts.groups.contains(name)).map_or(name, |(_, value, _)| value);
            Err(format!("no rule uses {what} in such a question"))
        }
    }
}

fn one_number(facts: &Facts<'_>) -> Result<String, String> {
    match &facts.numbers[..] {
        [only] => Ok(only.clone()),
        [] if facts.named.all().is_empty() => Err("the problem names no column of the table".to_owned()),
        [] => Err(format!("the problem names no column of numbers, but {}", facts.named.all().join(", "))),
        [_, other, ..] => Err(format!("no rule uses {other} in such a question")),
    }
}

/// Returns the column of dates and the period that a problem asks for.
fn dated(facts: &Facts<'_>) -> Result<(String, Option<&'static str>), String> {
    let first = || facts.columns.of(Kind::Date).next().map(|column| column.name.clone());
    let date = facts.dates.first().cloned().or_else(first);
    let date = date.ok_or("the problem asks about time, but the table has no column that is read as dates")?;
    match (&facts.dates[..], &facts.periods[..]) {
        ([_, other, ..], _) => Err(format!("no rule uses {other} in such a question")),
        (_, [_, other, ..]) => Err(format!("no rule uses the word `{other}` in such a question")),
        (_, periods) => Ok((date, periods.first().copied())),
    }
}

fn forecast(facts: &Facts<'_>) -> Result<Question, Misfit> {
    only(facts, &[&facts.numbers, &facts.dates])?;
    let target = one_number(facts)?;
    let (date, period) = dated(facts)?;
    if period.is_none() && facts.names_rows() {
        return Err("no rule predicts the next row, only the next period".into());
    }
    facts.figures(Some(&target).filter(|_| facts.has(&TOTALS)))?;
    Ok(Question { target: Some(target), date: Some(date), period, ..Question::default() })
}

fn time(facts: &Facts<'_>) -> Result<Question, Misfit> {
    only(facts, &[&facts.numbers, &facts.dates])?;
    let (date, period) = dated(facts)?;
    let target = match facts.numbers.is_empty() {
        true if facts.has(&COUNTS) && facts.names_rows() => None,
        _ => Some(one_number(facts)?),
    };
    if facts.has(&EXTREMES) && (!facts.has(&["which", "when"]) || facts.has(&CHANGES)) {
        return Err(
            "no rule finds the extreme values of periods, only the period whose mean or total is extreme".into()
        );
    }
    if facts.has(&EXTREMES) && period.is_none() {
        return Err("the problem names no period, such as a month".into());
    }
    let adds = target.as_ref().and_then(|name| facts.column(name)).map(|column| column.adds);
    if facts.has(&MEANS) && facts.has(&ADVERBS) && adds != Some(Adds::No) {
        return Err("such a mean can be that of the rows or that of the totals of the periods".into());
    }
    if facts.has(&["when"]) && !facts.has(&EXTREMES) {
        return Err("no rule uses the word `when` in such a question".into());
    }
    let figures = facts.figures(target.as_ref())?;
    Ok(Question { target, date: Some(date), period, figures, ..Question::default() })
}

fn relation(facts: &Facts<'_>) -> Result<Question, Misfit> {
    only(facts, &[&facts.numbers, &facts.calendars])?;
    let mut both: Vec<String> = facts.numbers.iter().chain(&facts.calendars).cloned().collect();
    both.sort_by_key(|name| facts.named.columns[name]);
    let [first, second] = &both[..] else {
        return Err(Misfit::Shape("a relation needs two columns of numbers".to_owned()));
    };
    let other_signs = SHAPES.iter().filter(|shape| shape.kind == "relation").flat_map(|shape| shape.signs);
    let other_signs: Vec<&str> = other_signs.copied().filter(|sign| !CHANGES.contains(sign)).collect();
    let is_change = facts.has(&CHANGES) && !facts.has(&other_signs);
    if is_change && !facts.has(&["when", "with"]) {
        return Err("no rule compares the changes of two columns".into());
    }
    // `X affects Y`, `Y changes when X …`, `Y depends on X`; of `X and Y` the second one is the target.
    let place = |name: &String| facts.named.columns[name];
    let verb = facts.places(&CAUSES).next();
    let is_between = verb.is_some_and(|verb| place(first) < verb && verb < place(second));
    let depends = facts.has(&["depend", "depends", "dependent"]);
    let (target, other) = match is_change || depends && is_between {
        true => (first, second),
        false => (second, first),
    };
    Ok(Question { target: Some(target.clone()), others: vec![other.clone()], ..Question::default() })
}

fn groups(facts: &Facts<'_>) -> Result<Question, Misfit> {
    only(facts, &[&facts.numbers, &facts.groups, &facts.owners])?;
    let mut all: Vec<&String> = facts.groups.iter().chain(&facts.owners).collect();
    all.sort();
    all.dedup();
    let group = match all[..] {
        [only] => only.clone(),
        [] => return Err(Misfit::Shape("the problem names no column of groups".to_owned())),
        _ => {
            let names: Vec<&str> = all.iter().map(|name| name.as_str()).collect();
            return Err(format!("no rule uses {} together", names.join(" and ")).into());
        }
    };
    let values: Vec<String> = facts.named.values.iter().map(|(_, value, _)| value.clone()).collect();
    let (is_choice, is_each) = (facts.has(&CHOICES), facts.has(&EACH));
    let target = match facts.numbers.is_empty() {
        true if counts_rows(facts, &values) => None,
        _ => Some(one_number(facts)?),
    };
    if facts.has(&EXTREMES) && (!is_choice || is_each) {
        return Err(
            "no rule finds the extreme values within groups, only the group whose mean or total is extreme".into()
        );
    }
    if facts.has(&["than", "or"]) && values.len() < 2 {
        return Err("such a comparison needs two values of a group".into());
    }
    let is_compared = is_choice || !values.is_empty() || facts.has(&["compare", "comparison", "compared"]);
    if facts.has(&COMPARISONS) && !is_compared {
        return Err("such a comparison needs two values of a group".into());
    }
    if let (Some(verb), Some(target)) = (facts.places(&CAUSES).next(), &target) {
        let place = |name: &String| facts.named.columns.get(name).copied().unwrap_or_default();
        let depends = facts.has(&["depend", "depends"]) && place(target) < verb && verb < place(&group);
        let affects = place(&group) < verb && !facts.has(&["what"]) || facts.has(&["effect", "impact"]);
        if !values.is_empty() || !(depends || affects) {
            return Err(format!("no rule uses {group} in such a question").into());
        }
    }
    let figures = facts.figures(target.as_ref())?;
    Ok(Question { target, group: Some(group), values, figures, ..Question::default() })
}

/// Returns true if a problem asks for numbers of rows by group.
fn counts_rows(facts: &Facts<'_>, values: &[String]) -> bool {
    let is_many = facts.has(&COUNTS) && (facts.names_rows() || !facts.has_noun());
    let is_split = facts.has(&["each", "every", "per", "by"]) || !values.is_empty();
    let is_common = facts.has(&["common", "frequent", "often"]);
    let is_most = facts.has(&["most", "least", "more", "less"]) && facts.names_rows();
    is_common || is_most || is_many && is_split
}

impl Facts<'_> {
    /// Returns true if the problem has a noun of the file's name, which may be something else than a row.
    fn has_noun(&self) -> bool {
        let words = self.named.words.iter().zip(&self.named.taken).filter(|(_, taken)| !**taken);
        words.map(|(word, _)| &word.stem).any(|word| self.file.contains(word))
    }
}

fn drivers(facts: &Facts<'_>) -> Result<Question, Misfit> {
    let target = one_number(facts)?;
    let Some(verb) = facts.places(&CAUSES).next() else {
        return Err("the rules do not understand what it asks".into());
    };
    if !facts.has(&["what", "which", "factor"]) {
        return Err(format!("no column is named that could affect {target}").into());
    }
    let place = |name: &String| facts.named.columns[name];
    let is_before = place(&target) < verb;
    if is_before != facts.has(&["depend", "depends"]) {
        return Err(format!("the rules look for what affects {target}, not for what it affects").into());
    }
    // "What decides the sales of a shop?" looks at the shop like at every other column.
    let after: Vec<String> = facts.groups.iter().filter(|name| place(name) > verb).cloned().collect();
    only(facts, &[&facts.numbers, &after])?;
    Ok(Question { target: Some(target), ..Question::default() })
}

fn models(facts: &Facts<'_>) -> Result<Question, Misfit> {
    only(facts, &[&facts.numbers])?;
    if facts.columns.of(Kind::Number).count() < 2 {
        return Err("a prediction needs two columns of numbers".into());
    }
    let verb = facts.places(&PREDICTIONS).last().unwrap_or_default();
    let mut numbers = facts.numbers.clone();
    let at = numbers.iter().position(|name| facts.named.columns[name] > verb).unwrap_or_default();
    if numbers.is_empty() {
        return Ok(one_number(facts).map(|_| Question::default())?);
    }
    let target = numbers.remove(at);
    Ok(Question { target: Some(target), others: numbers, ..Question::default() })
}

fn summary(facts: &Facts<'_>) -> Result<Question, Misfit> {
    only(facts, &[&facts.numbers])?;
    let target = one_number(facts)?;
    let figures = facts.figures(Some(&target))?;
    Ok(Question { target: Some(target), figures, ..Question::default() })
}

#[cfg(test)]
mod tests;
