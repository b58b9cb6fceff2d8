use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};

use crate::plain;

/// Lines of a table without rules: the first `left` columns to the left, the others to the right, two blanks between
/// columns, none at the end of a line.
pub(crate) fn lines(header: Option<&[String]>, rows: &[Vec<String>], left: usize) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(NOTHING);
    if let Some(header) = header {
        table.set_header(fit(header));
    }
    for row in rows {
        table.add_row(fit(row));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        let alignment = if index < left { CellAlignment::Left } else { CellAlignment::Right };
        column.set_cell_alignment(alignment);
        column.set_padding((if index == 0 { 0 } else { 2 }, 0));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

fn fit(row: &[String]) -> Vec<String> {
    row.iter().map(|text| plain::cell(text)).collect()
}

/// Texts padded on the left to the length of the longest.
pub(crate) fn right_aligned(texts: &[String]) -> Vec<String> {
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    texts.iter().map(|text| format!("{text:>longest$}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_where_the_text_ends() {
        let words = |row: [&str; 3]| row.map(str::to_owned).to_vec();
        let rows = [words(["a", "1.5", ""]), words(["bcd", "12.5", "x"])];
        assert_eq!(
            lines(Some(&words(["name", "p50", "p99"])), &rows, 1),
            ["name   p50  p99", "a      1.5", "bcd   12.5    x"]
        );
        assert_eq!(right_aligned(&["≥ 1".to_owned(), "x".to_owned()]), ["≥ 1", "  x"]);
    }
}
