//! The columns and values of a table that a text names. Whole names come first, then the head of a name (`price` for
//! `unit_price`) if only one column has it. Identifiers are never named: no figure of them means anything.

use std::collections::BTreeMap;

use super::{
    columns::{Column, Columns, Kind},
    shape::{FIGURES, is_in, is_known},
    words::{self, Word, is_ordinary, stems, words, words_of},
};

/// The shortest head of a name that stands for the whole name.
const HEAD_CHARS_MIN: usize = 4;

/// Words at the end of a name that are units or say nothing, so that the word before them is its head.
const TAILS: [&str; 30] = [
    "usd",
    "eur",
    "gbp",
    "cny",
    "dollar",
    "euro",
    "amount",
    "value",
    "cm",
    "mm",
    "km",
    "kg",
    "lb",
    "celsius",
    "fahrenheit",
    "kelvin",
    "ppm",
    "mph",
    "kmh",
    "second",
    "minute",
    "hour",
    "day",
    "meter",
    "metre",
    "inch",
    "mile",
    "元",
    "万元",
    "number",
];

/// Words that change the meaning of a name: `temp` does not stand for `max_temp`.
const CHANGERS: [&str; 48] = [
    "max",
    "maximum",
    "min",
    "minimum",
    "mean",
    "avg",
    "average",
    "median",
    "std",
    "sd",
    "var",
    "log",
    "diff",
    "delta",
    "change",
    "growth",
    "cum",
    "cumulative",
    "lag",
    "prev",
    "previous",
    "last",
    "next",
    "first",
    "expected",
    "predicted",
    "forecast",
    "target",
    "planned",
    "budget",
    "old",
    "new",
    "net",
    "gross",
    "adj",
    "adjusted",
    "per",
    "pct",
    "percent",
    "ratio",
    "rate",
    "share",
    "index",
    "rank",
    "no",
    "non",
    "not",
    "is",
];

/// The columns and values that a text names, with their positions.
pub(super) struct Named {
    pub(super) words: Vec<Word>,
    /// The words that names take.
    pub(super) taken: Vec<bool>,
    pub(super) columns: BTreeMap<String, usize>,
    /// Values with their columns: position, value, column.
    pub(super) values: Vec<(usize, String, String)>,
    /// A word that can be a name of the table or ask for a figure.
    pub(super) ambiguous: Option<String>,
}

impl Named {
    /// Finds the names of a table in a text.
    pub(super) fn find(text: &str, columns: &Columns) -> Self {
        let known: Vec<&Column> = columns.0.iter().filter(|column| column.kind != Kind::Identifier).collect();
        // A unit in parentheses may be left out: `height` for `height (cm)`.
        let bare = |name: &'_ str| name.split(['(', '（', '[']).next().unwrap_or_default().trim().to_owned();
        let bare: Vec<String> = known.iter().map(|column| bare(&column.name)).collect();
        let is_free = |name: &String| !name.is_empty() && bare.iter().filter(|other| *other == name).count() == 1;
        let of_columns = known.iter().map(|column| (column.name.as_str(), column.name.as_str(), None));
        let of_units = known.iter().zip(&bare).filter(|(column, bare)| column.name != **bare && is_free(bare));
        let of_units = of_units.map(|(column, bare)| (bare.as_str(), column.name.as_str(), None));
        let of_values = known.iter().flat_map(|column| {
            column.values.iter().map(|value| (value.as_str(), value.as_str(), Some(column.name.as_str())))
        });
        let all: Vec<(&str, &str, Option<&str>)> = of_columns.chain(of_units).chain(of_values).collect();
        let names: Vec<&str> = all.iter().map(|(written, _, _)| *written).collect();
        let words = words_of(text, &names);
        let mut taken = vec![false; words.len()];
        let (mut found, mut values, mut ambiguous) = (BTreeMap::new(), Vec::new(), None);
        for (place, (written, name, owner)) in words::find(&names, &words, &mut taken).into_iter().zip(&all) {
            let Some(place) = place else { continue };
            let is_alone = stems(written).len() == 1;
            if is_alone && !words[place].is_quoted && is_in(&words[place].stem, &FIGURES) {
                ambiguous.get_or_insert(words[place].text.clone());
            }
            match owner {
                None => drop(found.entry((*name).to_owned()).or_insert(place)),
                Some(owner) => values.push((place, (*name).to_owned(), (*owner).to_owned())),
            }
        }
        values.sort();
        let mut named = Named { words, taken, columns: found, values, ambiguous };
        named.find_heads(&known);
        named
    }

    /// Finds heads of names. A head counts if only one column has it.
    fn find_heads(&mut self, columns: &[&Column]) {
        for place in 0..self.words.len() {
            let stem = &self.words[place].stem;
            if self.taken[place] || is_ordinary(stem) || is_known(stem) {
                continue;
            }
            let mut owners = columns.iter().filter(|column| head(&column.name).as_ref() == Some(stem));
            if let (Some(owner), None) = (owners.next(), owners.next()) {
                self.taken[place] = true;
                self.columns.entry(owner.name.clone()).or_insert(place);
            }
        }
    }

    /// Returns the named columns of a kind, in the order of the text.
    pub(super) fn of(&self, columns: &Columns, kind: Kind) -> Vec<String> {
        let names = columns.of(kind).map(|column| column.name.clone());
        let mut names: Vec<String> = names.filter(|name| self.columns.contains_key(name)).collect();
        names.sort_by_key(|name| self.columns[name]);
        names
    }

    /// Returns everything that the text names, in its order.
    pub(super) fn all(&self) -> Vec<String> {
        let mut all: Vec<(usize, String)> = self.columns.iter().map(|(name, at)| (*at, name.clone())).collect();
        all.extend(self.values.iter().map(|(place, value, _)| (*place, value.clone())));
        all.sort();
        all.into_iter().map(|(_, name)| name).collect()
    }
}

/// Returns the head of a name of several words: its last word that is no unit. There is none if another word changes the
/// meaning of the name.
fn head(name: &str) -> Option<String> {
    let mut parts: Vec<String> = words(name).into_iter().map(|word| word.stem).collect();
    let is_tail = |part: &String| TAILS.contains(&part.as_str()) || part.chars().count() == 1;
    while parts.len() > 1 && parts.last().is_some_and(is_tail) {
        parts.pop();
    }
    let head = parts.pop()?;
    let is_long = head.chars().count() >= HEAD_CHARS_MIN;
    let changes = |part: &String| CHANGERS.contains(&part.as_str());
    (is_long && !changes(&head) && !parts.iter().any(changes)).then_some(head)
}

/// Returns the columns of numbers and groups that a text names, in its order.
pub(super) fn named_columns(text: &str, columns: &Columns) -> Vec<String> {
    let named = Named::find(text, columns);
    let kinds = [Kind::Number, Kind::Calendar, Kind::Group];
    let mut names: Vec<String> = kinds.into_iter().flat_map(|kind| named.of(columns, kind)).collect();
    names.sort_by_key(|name| named.columns[name]);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str, columns: &str) -> Vec<String> {
        Named::find(text, &Columns::read(columns).unwrap()).all()
    }

    #[test]
    fn whole_names_come_before_heads_and_identifiers_are_never_named() {
        let titanic = "PassengerId: identifier\nPclass: number\nFare: number\nAge: number\n";
        assert_eq!(named("passenger class and fare", titanic), ["Fare"]);
        assert_eq!(named("the mean PassengerId", titanic), Vec::<String>::new());
        let prices = "price: number\nunit_price: number\n";
        assert_eq!(named("Is the price fair?", prices), ["price"]);
        assert_eq!(named("What does the price explain?", "unit_price: number"), ["unit_price"]);
        assert_eq!(named("Is an order nice?", "last order: number\nfirst order: number"), Vec::<String>::new());
        assert_eq!(named("mean temp", "max_temp: number"), Vec::<String>::new(), "another figure");
        assert_eq!(named("number of cases", "case_fatality_rate: number"), Vec::<String>::new());
        assert_eq!(named("the revenue", "revenue_usd: number"), ["revenue_usd"]);
        assert_eq!(named("mean height", "height (cm): number"), ["height (cm)"]);
        assert_eq!(
            named("各地区的平均销售额", "地区: group [\"北京\"]\n销售额（元）: number"),
            ["地区", "销售额（元）"]
        );
    }

    #[test]
    fn a_name_that_asks_for_a_figure_is_ambiguous() {
        let columns = Columns::read("total: number\nregion: group [\"N\"]").unwrap();
        assert_eq!(Named::find("total by region", &columns).ambiguous.as_deref(), Some("total"));
        assert_eq!(Named::find("mean of \"total\" by region", &columns).ambiguous, None);
    }
}
