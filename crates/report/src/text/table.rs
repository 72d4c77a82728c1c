//! Tables with aligned columns.

use super::visible;

/// The widest column that the next one keeps clear of. Wider cells push their own row alone to the
/// right: all rows as wide as one that somebody else's file has would be as many times longer than
/// the file.
const WIDEST: usize = 120;

/// The rows, each column as wide as its widest cell; the last one ends where its text does.
pub fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let rows: Vec<[String; N]> = rows
        .iter()
        .map(|row| row.each_ref().map(|cell| visible(cell).into_owned()))
        .collect();
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count()).min(WIDEST);
        }
    }
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        format!("{}\n", cells.join("   ").trim_end())
    };
    rows.iter().map(line).collect()
}
