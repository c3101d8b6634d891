//! The columns of a table, as the recipe `columns` lists them.

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Date,
    Group,
    /// Texts that hardly repeat, identifiers, or nothing.
    Other,
}

/// A column of the table.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The values of a group.
    pub(super) values: Vec<String>,
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
    if let Some((name, values)) = line.rsplit_once(": group [") {
        let values = serde_json::from_str(&format!("[{values}")).unwrap_or_default();
        return Some(Column { name: name.to_owned(), kind: Kind::Group, values });
    }
    let (name, kind) = line.rsplit_once(": ")?;
    let kind = match kind {
        "number" => Kind::Number,
        "date" => Kind::Date,
        "text" | "identifier" | "empty" => Kind::Other,
        _ => return None,
    };
    Some(Column { name: name.to_owned(), kind, values: Vec::new() })
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
