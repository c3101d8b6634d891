//! The names of a table in a text: its columns and the values of its groups.
//!
//! A name is found only as a whole. It may be written in other capitals, with spaces in place of underscores, in the
//! plural, and without a unit in parentheses. The closest spelling counts. `price` never stands for `unit_price`.

use super::{
    columns::{Column, Columns, Kind},
    shapes,
    tokens::{Token, stem, tokens},
};

/// The longest value that needs its exact spelling, because it could be a word: `IT`, `No`.
const SHORT_CHARS_MAX: usize = 2;

/// Words that choose by what was named before. A value that is spelled like one must be quoted.
const RELATIVE: [&str; 12] =
    ["other", "others", "another", "rest", "all", "any", "both", "none", "same", "different", "remaining", "else"];

/// A name of the table: a column, or a value of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) column: usize,
    pub(super) value: Option<usize>,
}

/// A name as a text may write it.
struct Spelling {
    tokens: Vec<Token>,
    name: Name,
}

/// The names of a table.
pub(super) struct Names {
    spellings: Vec<Spelling>,
}

impl Names {
    /// Returns the names of all columns and values.
    pub(super) fn of(columns: &Columns) -> Self {
        let mut spellings = Vec::new();
        for (column, known) in columns.0.iter().enumerate() {
            let name = Name { column, value: None };
            spellings.push(Spelling { tokens: tokens(&known.name), name });
            let bare = without_unit(known);
            if !bare.is_empty() && columns.0.iter().filter(|other| without_unit(other) == bare).count() == 1 {
                spellings.push(Spelling { tokens: tokens(bare), name });
            }
            let values = known.values.iter().enumerate();
            spellings.extend(
                values
                    .map(|(value, text)| Spelling { tokens: tokens(text), name: Name { column, value: Some(value) } }),
            );
        }
        Names { spellings }
    }

    /// Returns the names that begin at a place, with the numbers of their tokens.
    pub(super) fn at(&self, text: &[Token], place: usize) -> Vec<(usize, Name)> {
        let Some(first) = text.get(place) else { return Vec::new() };
        let inner = if first.is_quoted { tokens(&first.text) } else { Vec::new() };
        let mut found: Vec<(usize, Name, u8)> = Vec::new();
        for spelling in &self.spellings {
            let size = if first.is_quoted { 1 } else { spelling.tokens.len() };
            let written = if first.is_quoted { Some(&inner[..]) } else { text.get(place..place + size) };
            let distance = written.and_then(|written| {
                spelling
                    .distance(written)
                    .filter(|distance| first.is_quoted || !spelling.is_word(*distance) && spelling.is_clear(written))
            });
            if let Some(distance) = distance {
                found.push((size, spelling.name, distance));
            }
        }
        let is_closest = |(size, name, distance): &(usize, Name, u8)| {
            let rivals =
                found.iter().filter(|other| other.0 == *size && other.1.value.is_some() == name.value.is_some());
            rivals.map(|other| other.2).min() == Some(*distance)
        };
        let mut closest: Vec<_> =
            found.iter().filter(|one| is_closest(one)).map(|(size, name, _)| (*size, *name)).collect();
        closest.dedup();
        closest
    }

    /// Returns true if a token is part of a name.
    pub(super) fn have(&self, token: &Token) -> bool {
        let parts = || self.spellings.iter().flat_map(|spelling| &spelling.tokens);
        token.is_quoted || parts().any(|part| stem(&part.folded) == stem(&token.folded))
    }
}

impl Spelling {
    /// Returns how far a text is from the name: 0 for the same letters, 1 for other capitals, 2 for another number.
    fn distance(&self, written: &[Token]) -> Option<u8> {
        if self.tokens.len() != written.len() || written.is_empty() {
            return None;
        }
        let last = written.len() - 1;
        let each = self.tokens.iter().zip(written).enumerate().map(|(at, (own, other))| match (own, other) {
            _ if own.text == other.text => Some(0),
            _ if own.folded == other.folded => Some(1),
            _ if at == last && self.name.value.is_none() && stem(&own.folded) == stem(&other.folded) => Some(2),
            _ => None,
        });
        each.collect::<Option<Vec<u8>>>()?.into_iter().max()
    }

    /// Returns false if the text can as well ask for a figure of another column: `total cases` for `total_cases`.
    fn is_clear(&self, written: &[Token]) -> bool {
        let is_column = self.name.value.is_none() && written.len() > 1;
        !(is_column && shapes::is_figure(&written[0].folded)) || written[1].is_joined
    }

    /// Returns true if the text is rather a word of the sentence: such a name must be quoted, or spelled exactly.
    fn is_word(&self, distance: u8) -> bool {
        let [only] = &self.tokens[..] else { return false };
        match self.name.value {
            None => shapes::is_figure(&only.folded),
            Some(_) => {
                let is_short = only.text.chars().count() <= SHORT_CHARS_MAX && only.text.is_ascii();
                let is_relative = RELATIVE.contains(&only.folded.as_str());
                is_relative || distance > 0 && (is_short || shapes::is_word(&only.folded))
            }
        }
    }
}

/// Returns the name of a column without a unit in parentheses.
fn without_unit(column: &Column) -> &str {
    column.name.split(['(', '（', '[']).next().unwrap_or_default().trim()
}

/// Returns the columns of numbers and groups that a text names somewhere.
pub(super) fn named_columns(text: &str, columns: &Columns) -> Vec<String> {
    let (names, text) = (Names::of(columns), tokens(text));
    let mut found: Vec<String> = Vec::new();
    let mut place = 0;
    while place < text.len() {
        let kinds = [Kind::Number, Kind::Calendar, Kind::Group];
        let fits = |name: &Name| name.value.is_none() && kinds.contains(&columns.0[name.column].kind);
        let here = names.at(&text, place).into_iter().filter(|(_, name)| fits(name)).max_by_key(|(size, _)| *size);
        place += here.map_or(1, |(size, _)| size);
        let name = here.map(|(_, name)| columns.0[name.column].name.clone());
        found.extend(name.filter(|name| !found.contains(name)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str, columns: &str) -> Vec<String> {
        named_columns(text, &Columns::read(columns).unwrap())
    }

    #[test]
    fn only_whole_names_are_found() {
        let prices = "price: number\nunit_price: number\n";
        assert_eq!(named("Plot the unit prices", prices), ["unit_price"]);
        assert_eq!(named("Plot the Price and unitPrice", prices), ["price", "unit_price"]);
        assert_eq!(named("Plot the price", "unit_price: number"), Vec::<String>::new());
        assert_eq!(named("Plot height", "height (cm): number"), ["height (cm)"]);
        assert_eq!(
            named("各地区的平均销售额", "地区: group [\"北京\"]\n销售额（元）: number"),
            ["地区", "销售额（元）"]
        );
        assert_eq!(named("the total", "total: number"), Vec::<String>::new(), "it asks for a figure");
        assert_eq!(named("the \"total\"", "total: number"), ["total"]);
        assert_eq!(named("the total cases", "total_cases: number"), Vec::<String>::new(), "the total of cases");
        assert_eq!(named("the total_cases", "total_cases: number"), ["total_cases"]);
    }

    #[test]
    fn the_closest_spelling_counts() {
        let columns = Columns::read("sales: number\nSales: number\nit: group [\"IT\", \"no\"]").unwrap();
        let at = |text: &str| Names::of(&columns).at(&tokens(text), 0);
        assert_eq!(at("Sales"), [(1, Name { column: 1, value: None })]);
        assert_eq!(at("SALES").len(), 2, "both are as close");
        assert_eq!(at("IT").len(), 2, "a column and a value");
        assert_eq!(at("No"), []);
    }
}
