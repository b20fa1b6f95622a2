//! The letters after `query`: one per column. The simple query protocol sends text, so only their number is checked.

use sqllogictest::ColumnType;

/// A column's letter, kept as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColumnLetter(char);

impl ColumnLetter {
    /// The letter that the texts of a column suggest: `I` when all are integers, `R` when all are numbers, else `T`.
    pub(crate) fn of_texts<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut letter = None;
        for text in texts.filter(|text| *text != "NULL") {
            if text.parse::<i128>().is_ok() {
                letter = letter.or(Some('I'));
            } else if text.parse::<f64>().is_ok() {
                letter = Some('R');
            } else {
                return ColumnLetter('T');
            }
        }
        ColumnLetter(letter.unwrap_or('T'))
    }
}

impl ColumnType for ColumnLetter {
    fn from_char(value: char) -> Option<Self> {
        (value.is_ascii_alphabetic() || value == '?').then_some(ColumnLetter(value))
    }

    fn to_char(&self) -> char {
        self.0
    }
}

/// For checking: the number of letters is the number of columns; `query` without letters makes no claim.
#[allow(clippy::ptr_arg)] // the signature of sqllogictest::ColumnTypeValidator
pub(crate) fn same_count(actual: &Vec<ColumnLetter>, expected: &Vec<ColumnLetter>) -> bool {
    expected.is_empty() || same_count_exactly(actual, expected)
}

/// For completing: `query` without letters gets them.
#[allow(clippy::ptr_arg)] // the signature of sqllogictest::ColumnTypeValidator
pub(crate) fn same_count_exactly(actual: &Vec<ColumnLetter>, expected: &Vec<ColumnLetter>) -> bool {
    actual.len() == expected.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_follow_the_texts() {
        let letter = |texts: &[&str]| ColumnLetter::of_texts(texts.iter().copied()).to_char();
        assert_eq!(letter(&["1", "NULL", "-2"]), 'I');
        assert_eq!(letter(&["1", "2.5"]), 'R');
        assert_eq!(letter(&["2.5", "1"]), 'R');
        assert_eq!(letter(&["1", "x"]), 'T');
        assert_eq!(letter(&["NULL"]), 'T');
    }
}
