//! Lining up text in a terminal, where Korean letters take two columns.

use unicode_width::UnicodeWidthStr as _;

/// Columns that a text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// The rows as lines whose columns line up, two spaces apart. Tabs and line breaks
/// in a cell become spaces.
#[must_use]
pub fn table(rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            row.iter()
                .map(|cell| cell.replace(char::is_control, " "))
                .collect()
        })
        .collect();
    let mut widths: Vec<usize> = Vec::new();
    for row in &rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = width(cell).max(*widest);
        }
    }
    let mut lines = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, widest) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', widest - width(cell) + 2));
        }
        lines.push_str(line.trim_end());
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_the_script() {
        let rows = [["홈택스", "a"], ["Gov24", "나"], ["e\u{301}", "x"]]
            .map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&[vec!["a\tb\nc".to_owned()]]), "a b c\n");
        assert_eq!(table(&rows), "홈택스  a\nGov24   나\ne\u{301}       x\n");
    }

    #[test]
    fn short_rows_are_fine() {
        assert_eq!(table(&[vec!["a".to_owned()], vec![]]), "a\n\n");
    }
}
