//! Text tables: every column is as wide as its widest cell.

use crate::output::Output;

/// Formats a table with a heading.
pub(crate) fn text<const N: usize>(
    heading: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    output: &Output,
) -> String {
    let rows: Vec<[String; N]> = rows.into_iter().collect();
    let width = |at: usize| {
        let cells = rows.iter().map(|row| row[at].chars().count());
        cells.chain([heading[at].chars().count()]).max().unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let heading = line(heading.map(str::to_owned), &widths);
    let mut text = format!("{}\n", output.bold(&heading));
    rows.into_iter().for_each(|row| text.push_str(&format!("{}\n", line(row, &widths))));
    text
}

fn line<const N: usize>(cells: [String; N], widths: &[usize; N]) -> String {
    let padded = cells.into_iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
    padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

/// Formats a table whose number of columns is known only at run time.
pub(crate) fn rows(heading: &[String], rows: &[Vec<String>], output: &Output) -> String {
    let width = |at: usize| {
        let cells = rows.iter().map(|row| row[at].chars().count());
        cells.chain([heading[at].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut text = format!("{}\n", output.bold(&line(heading)));
    rows.iter().for_each(|row| text.push_str(&format!("{}\n", line(row))));
    text
}
