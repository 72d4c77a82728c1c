//! Columns of text as Go's `text/tabwriter` aligns them, with blanks: cells end with a tab, and a column is as wide as its widest cell in
//! adjacent lines. The last cell of a line belongs to no column.

/// How columns are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// The least width of a column, padding included.
    pub min_width: usize,
    /// Blanks after the widest cell.
    pub padding: usize,
    /// Go's `FilterHTML`: from `<` to `>` nothing counts, from `&` to `;` one character, and tabs and line ends in between are text.
    pub html: bool,
}

struct Cell {
    text: String,
    width: usize,
}

impl Columns {
    /// Aligns a text.
    pub fn align(self, text: &str) -> String {
        let lines = self.cells(text);
        let mut out = String::with_capacity(text.len() * 2);
        let mut widths = Vec::new();
        self.block(&lines, &mut widths, &mut out);
        // What follows the last line end is a line without an end.
        out.pop();
        out
    }

    fn cells(self, text: &str) -> Vec<Vec<Cell>> {
        let mut lines = vec![Vec::new()];
        let mut cell = Cell { text: String::new(), width: 0 };
        let mut until = None;
        for c in text.chars() {
            if let Some(end) = until {
                cell.text.push(c);
                if c == end {
                    cell.width += usize::from(end == ';');
                    until = None;
                }
                continue;
            }
            match c {
                '\t' | '\n' => {
                    let ended = std::mem::replace(&mut cell, Cell { text: String::new(), width: 0 });
                    if let Some(line) = lines.last_mut() {
                        line.push(ended);
                    }
                    if c == '\n' {
                        lines.push(Vec::new());
                    }
                    continue;
                }
                '<' if self.html => until = Some('>'),
                '&' if self.html => until = Some(';'),
                _ => cell.width += 1,
            }
            cell.text.push(c);
        }
        if let Some(line) = lines.last_mut() {
            line.push(cell);
        }
        lines
    }

    /// Writes lines of which the widths of the first columns are known.
    fn block(self, lines: &[Vec<Cell>], widths: &mut Vec<usize>, out: &mut String) {
        let column = widths.len();
        let has_column = |line: &Vec<Cell>| line.len() > column + 1;
        let mut rest = lines;
        while !rest.is_empty() {
            let plain = rest.iter().take_while(|line| !has_column(line)).count();
            rest[..plain].iter().for_each(|line| write_line(line, widths, out));
            rest = &rest[plain..];
            let run = rest.iter().take_while(|line| has_column(line)).count();
            let widest = rest[..run].iter().map(|line| line[column].width + self.padding).max().unwrap_or(0);
            if run > 0 {
                widths.push(widest.max(self.min_width));
                self.block(&rest[..run], widths, out);
                widths.pop();
            }
            rest = &rest[run..];
        }
    }
}

fn write_line(line: &[Cell], widths: &[usize], out: &mut String) {
    for (index, cell) in line.iter().enumerate() {
        out.push_str(&cell.text);
        let width = widths.get(index).copied().unwrap_or(0);
        out.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width)));
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(columns: Columns, text: &str, expected: &str) {
        assert_eq!(columns.align(text), expected, "{text:?}");
    }

    const PLAIN: Columns = Columns { min_width: 0, padding: 2, html: false };

    /// Observed of Go.
    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        check(PLAIN, "a\tb\tc\nlonger\té\tx\n", "a       b  c\nlonger  é  x\n");
        check(Columns { min_width: 10, padding: 3, html: false }, "NAME\tTYPE\nx\ty\n", "NAME      TYPE\nx         y\n");
        check(PLAIN, "a\t\tb\n", "a    b\n");
        check(PLAIN, "", "");
        check(PLAIN, "no cells\n", "no cells\n");
    }

    #[test]
    fn a_column_ends_with_the_lines_that_have_it() {
        check(PLAIN, "a\tb\nmiddle\nlonger\tb\n", "a  b\nmiddle\nlonger  b\n");
        check(PLAIN, "a\tb\tc\naaa\tb\n", "a    b  c\naaa  b\n");
    }

    #[test]
    fn html_is_no_text() {
        let html = Columns { html: true, ..PLAIN };
        check(html, "a&amp;b\tc\nd\te\n", "a&amp;b  c\nd    e\n");
        check(html, "a<b\tc\nd>\te\n", "a<b\tc\nd>  e\n");
    }
}
