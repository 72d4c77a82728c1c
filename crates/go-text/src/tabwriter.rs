//! Columns of text as Go's `text/tabwriter` aligns them, with blanks: cells end with a tab, and a
//! column is as wide as its widest cell in adjacent lines. The last cell of a line belongs to no
//! column.

/// The layout of columns: the arguments of `tabwriter.Writer.Init`, with blanks as padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// The least width of a column, padding included.
    pub min_width: usize,
    /// Blanks after the widest cell.
    pub padding: usize,
    /// Go's `FilterHTML`: from `<` to `>` nothing counts, from `&` to `;` one character, and tabs
    /// and line ends in between are text.
    pub html: bool,
}

struct Cell {
    text: String,
    width: usize,
}

impl Columns {
    /// Returns the text with each tab replaced by the blanks that align its column.
    pub fn align(self, text: &str) -> String {
        let lines = self.cells(text);
        let mut out = String::with_capacity(text.len() * 2);
        self.block(&lines, &mut out);
        // What follows the last line end is a line without an end.
        out.pop();
        out
    }

    fn cells(self, text: &str) -> Vec<Vec<Cell>> {
        let mut lines = vec![Vec::new()];
        let mut cell = Cell {
            text: String::new(),
            width: 0,
        };
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
                    let ended = std::mem::replace(
                        &mut cell,
                        Cell {
                            text: String::new(),
                            width: 0,
                        },
                    );
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

    /// Writes the lines. A column reaches as far as adjacent lines have it; within those lines the
    /// next one is laid out. A stack holds what is left of each: there are as many columns as a
    /// line has tabs.
    fn block(self, lines: &[Vec<Cell>], out: &mut String) {
        let mut widths: Vec<usize> = Vec::new();
        let mut open = vec![lines];
        while let Some(rest) = open.last_mut() {
            let column = widths.len();
            let has_column = |line: &Vec<Cell>| line.len() > column + 1;
            let (plain, others) =
                rest.split_at(rest.iter().take_while(|line| !has_column(line)).count());
            plain.iter().for_each(|line| write_line(line, &widths, out));
            let (run, after) =
                others.split_at(others.iter().take_while(|line| has_column(line)).count());
            *rest = after;
            match run
                .iter()
                .map(|line| line[column].width + self.padding)
                .max()
            {
                Some(widest) => {
                    widths.push(widest.max(self.min_width));
                    open.push(run);
                }
                None => {
                    open.pop();
                    widths.pop();
                }
            }
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

    const PLAIN: Columns = Columns {
        min_width: 0,
        padding: 2,
        html: false,
    };

    /// Observed of Go.
    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        check(
            PLAIN,
            "a\tb\tc\nlonger\té\tx\n",
            "a       b  c\nlonger  é  x\n",
        );
        check(
            Columns {
                min_width: 10,
                padding: 3,
                html: false,
            },
            "NAME\tTYPE\nx\ty\n",
            "NAME      TYPE\nx         y\n",
        );
        check(PLAIN, "a\t\tb\n", "a    b\n");
        check(PLAIN, "", "");
        check(PLAIN, "no cells\n", "no cells\n");
    }

    #[test]
    fn a_column_ends_with_the_lines_that_have_it() {
        check(
            PLAIN,
            "a\tb\nmiddle\nlonger\tb\n",
            "a  b\nmiddle\nlonger  b\n",
        );
        check(PLAIN, "a\tb\tc\naaa\tb\n", "a    b  c\naaa  b\n");
    }

    #[test]
    fn a_line_may_have_more_columns_than_the_stack_has_room() {
        let text = "x\t".repeat(200_000) + "\n";
        check(PLAIN, &text, &("x  ".repeat(200_000) + "\n"));
    }

    #[test]
    fn html_is_no_text() {
        let html = Columns {
            html: true,
            ..PLAIN
        };
        check(html, "a&amp;b\tc\nd\te\n", "a&amp;b  c\nd    e\n");
        check(html, "a<b\tc\nd>\te\n", "a<b\tc\nd>  e\n");
    }
}
