//! The columns of a table, as the recipe `columns` lists them.

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    /// Numbers that are years, months or hours: their mean and total mean nothing.
    Calendar,
    Date,
    Group,
    /// Texts that hardly repeat: they name the rows.
    Text,
    /// Numbers or texts that only identify rows or other things.
    Identifier,
    Empty,
}

/// Whether the total of a column means something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Adds {
    /// An amount, such as a revenue.
    Yes,
    /// A level, such as a price or a temperature.
    No,
    #[default]
    Unknown,
}

/// A column of the table.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The values of a group.
    pub(super) values: Vec<String>,
    pub(super) adds: Adds,
    /// True if each row has its own value, so that the column says what a row is.
    pub(super) is_unique: bool,
}

/// The columns of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns(pub(super) Vec<Column>);

impl Columns {
    /// Reads the list of columns from the output of a cell: `name: kind` or `name: group ["value", "value"]`.
    pub(super) fn read(output: &str) -> Option<Self> {
        let lines = output.lines().filter(|line| !line.trim().is_empty());
        let columns: Vec<_> = lines.clone().filter_map(column).collect();
        // The middle of a long output is cut.
        (!columns.is_empty() && columns.len() + 2 >= lines.count()).then_some(Columns(columns))
    }

    /// Returns the newest of some outputs that lists columns.
    pub(super) fn find<'a>(outputs: &[&'a str]) -> Option<&'a str> {
        outputs.iter().rev().copied().find(|output| Columns::read(output).is_some())
    }

    /// Returns the columns of a kind.
    pub(super) fn of(&self, kind: Kind) -> impl Iterator<Item = &Column> {
        self.0.iter().filter(move |column| column.kind == kind)
    }
}

fn column(line: &str) -> Option<Column> {
    let new = |name: &str, kind| Column {
        name: name.to_owned(),
        kind,
        values: Vec::new(),
        adds: Adds::Unknown,
        is_unique: false,
    };
    if let Some((name, values)) = line.rsplit_once(": group [") {
        let values = serde_json::from_str(&format!("[{values}")).unwrap_or_default();
        return Some(Column { values, ..new(name, Kind::Group) });
    }
    let (name, kind) = line.rsplit_once(": ")?;
    Some(match kind {
        "number" => new(name, Kind::Number),
        "number, amount" => Column { adds: Adds::Yes, ..new(name, Kind::Number) },
        "number, level" => Column { adds: Adds::No, ..new(name, Kind::Number) },
        "calendar" => new(name, Kind::Calendar),
        "date" => new(name, Kind::Date),
        "text" => new(name, Kind::Text),
        "identifier" => new(name, Kind::Identifier),
        "identifier, unique" => Column { is_unique: true, ..new(name, Kind::Identifier) },
        "empty" => new(name, Kind::Empty),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_of_columns_is_read_as_one() {
        assert!(Columns::read("orders.csv: 600 rows, 8 columns\n").is_none());
        assert!(Columns::read("").is_none());
        assert_eq!(Columns::read("a: b: number").unwrap().0[0].name, "a: b");
        let listed = "height \"cm\": number\nshop, city: group [\"Lyon, FR\", \"a \\\"b\\\"\"]\n";
        let columns = Columns::read(listed).unwrap().0;
        assert_eq!((columns[0].name.as_str(), columns[0].kind), ("height \"cm\"", Kind::Number));
        assert_eq!(
            (columns[1].name.as_str(), columns[1].values.clone()),
            ("shop, city", vec!["Lyon, FR".into(), "a \"b\"".into()])
        );
        assert_eq!(Columns::find(&["x", "a: number", "done"]), Some("a: number"));
    }
}
