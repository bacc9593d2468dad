//! Tables in Markdown that are legible in a terminal.

use std::fmt;

/// A table whose columns are padded to one width. Columns that begin with a number below their head are set flush right.
#[derive(Debug)]
pub struct Table<const N: usize> {
    head: [String; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    /// A table without rows.
    pub fn new(head: [&str; N]) -> Self {
        Self { head: head.map(str::to_string), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: [usize; N] = std::array::from_fn(|column| {
            let lines = std::iter::once(&self.head).chain(&self.rows);
            lines.map(|line| width(&line[column])).fold(3, usize::max)
        });
        let is_right: [bool; N] = std::array::from_fn(|column| {
            self.rows.first().is_some_and(|row| row[column].parse::<f64>().is_ok())
        });
        let line = |f: &mut fmt::Formatter<'_>, cells: &[String; N]| {
            for ((cell, &to), is_right) in cells.iter().zip(&widths).zip(is_right) {
                let fill = " ".repeat(to - width(cell));
                let (before, after) = if is_right { (fill.as_str(), "") } else { ("", fill.as_str()) };
                write!(f, "| {before}{cell}{after} ")?;
            }
            writeln!(f, "|")
        };
        line(f, &self.head)?;
        for (&to, is_right) in widths.iter().zip(is_right) {
            write!(f, "|{}{}", "-".repeat(to + 1), if is_right { ':' } else { '-' })?;
        }
        writeln!(f, "|")?;
        self.rows.iter().try_for_each(|row| line(f, row))
    }
}

/// Of a text in columns of a terminal: what the examples print has one for each character.
fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_have_one_width_and_numbers_are_flush_right() {
        let mut table = Table::new(["what", "µm"]);
        table.row(["a bushing".into(), "9".into()]);
        table.row(["none".into(), "1000".into()]);
        let expected = "\
| what      |   µm |
|-----------|-----:|
| a bushing |    9 |
| none      | 1000 |
";
        assert_eq!(table.to_string(), expected);
    }
}
