//! Replaces records in the text of a suite and leaves all other lines alone.

use std::io::Write;
use std::path::Path;

use sqllogictest::Record;

use crate::column::ColumnLetter;
use crate::complete::ends_with_two_blanks;

const DELIMITER: &str = "----";

/// A record that is to read differently.
#[derive(Debug)]
pub(crate) struct Edit {
    /// The line it starts in, from 1.
    pub(crate) line: u32,
    /// Its lines from now on, without the blank ones after it.
    lines: Vec<String>,
    /// Whether the first of them stays as it is in the file.
    keep_header: bool,
    old_ends_with_two_blanks: bool,
    new_ends_with_two_blanks: bool,
}

impl Edit {
    /// `old`, which starts in `line`, becomes `new`.
    pub(crate) fn new(line: u32, old: &Record<ColumnLetter>, mut new: Record<ColumnLetter>) -> Self {
        let keep_header = matches!(new, Record::System { .. });
        if let Record::System { retry, .. } = &mut new {
            // It is in the header, which stays; the parser's own rendering puts it after the command.
            *retry = None;
        }
        let text = new.to_string();
        Edit {
            line,
            lines: text.trim_end().lines().map(str::to_owned).collect(),
            keep_header,
            old_ends_with_two_blanks: ends_with_two_blanks(old),
            new_ends_with_two_blanks: ends_with_two_blanks(&new),
        }
    }
}

/// Rewrites `path`: to a new file beside it first, so that a crash leaves the old one or the new one.
pub(crate) fn splice(path: &Path, edits: &[Edit]) -> std::io::Result<()> {
    let path = path.canonicalize()?;
    let text = apply(&std::fs::read_to_string(&path)?, edits);
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(std::fs::metadata(&path)?.permissions())?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}

fn apply(text: &str, edits: &[Edit]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut result: Vec<&str> = Vec::with_capacity(lines.len());
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| edit.line);
    let mut next = 0;
    for edit in edits {
        let start = usize::try_from(edit.line).unwrap_or(usize::MAX).saturating_sub(1);
        if start < next || start >= lines.len() {
            continue;
        }
        result.extend(&lines[next..start]);
        next = end_of_record(&lines, start, edit.old_ends_with_two_blanks);
        let new_lines = edit.lines.iter().enumerate();
        result.extend(new_lines.map(|(i, line)| if i == 0 && edit.keep_header { lines[start] } else { line.as_str() }));
        let blanks = lines[next..].iter().take_while(|line| line.is_empty()).count();
        if edit.new_ends_with_two_blanks && blanks == 1 && next + 1 < lines.len() {
            result.push("");
        }
    }
    result.extend(&lines[next.min(lines.len())..]);
    let mut text = result.join("\n");
    text.push('\n');
    text
}

/// The line after the last of the record that starts in line `start`, as the parser reads it.
fn end_of_record(lines: &[&str], start: usize, ends_with_two_blanks: bool) -> usize {
    let is_blank = |i: usize| lines.get(i).is_none_or(|line| line.is_empty());
    // The first line after the header belongs to the statement whatever it is.
    let mut end = (start + 2).min(lines.len());
    while !is_blank(end) && lines.get(end) != Some(&DELIMITER) {
        end += 1;
    }
    if lines.get(end) != Some(&DELIMITER) {
        return end;
    }
    end += 1;
    while end < lines.len() && !(is_blank(end) && (!ends_with_two_blanks || is_blank(end + 1))) {
        end += 1;
    }
    end
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Replaces the record in line `line` of `text` by `new`.
    fn replace(text: &str, line: u32, new: &str) -> String {
        let first = |script: &str| {
            let mut records = sqllogictest::parse::<ColumnLetter>(script).unwrap();
            records.remove(0)
        };
        let from: Vec<_> = text.lines().skip(line as usize - 1).collect();
        let edit = Edit::new(line, &first(&from.join("\n")), first(new));
        apply(text, &[edit])
    }

    #[test]
    fn the_rest_of_the_file_stays() {
        let text = "# why\n\nstatement   ok\nSELECT 1\n\n\n\nquery I\nSELECT 2\n----\n3\n\n# end\n";
        let expected = "# why\n\nstatement   ok\nSELECT 1\n\n\n\nquery I\nSELECT 2\n----\n2\n\n# end\n";
        assert_eq!(replace(text, 8, "query I\nSELECT 2\n----\n2\n"), expected);
    }

    #[test]
    fn results_are_added_at_the_end_of_a_file() {
        assert_eq!(replace("query\nSELECT 2", 1, "query I\nSELECT 2\n----\n2\n"), "query I\nSELECT 2\n----\n2\n");
    }

    #[test]
    fn an_error_of_several_lines_gets_its_two_blank_lines() {
        let new = "statement error\nSELECT x\n----\nERROR 1: a\n\nHINT: b\n\n\n";
        let text = "statement ok\nSELECT x\n\nstatement ok\nSELECT 1\n";
        let once = replace(text, 1, new);
        assert_eq!(once, "statement error\nSELECT x\n----\nERROR 1: a\n\nHINT: b\n\n\nstatement ok\nSELECT 1\n");
        assert_eq!(replace(&once, 1, new), once);
        let back = replace(&once, 1, "statement ok\nSELECT x\n");
        assert_eq!(back, "statement ok\nSELECT x\n\n\nstatement ok\nSELECT 1\n");
    }

    #[test]
    fn the_header_of_a_command_keeps_its_retry() {
        let text = "system ok retry 3 backoff 1s\necho a\n----\nb\n\n\nhalt\n";
        let expected = "system ok retry 3 backoff 1s\necho a\n----\na\n\n\nhalt\n";
        assert_eq!(replace(text, 1, "system ok retry 3 backoff 1s\necho a\n----\na\n"), expected);
    }
}
