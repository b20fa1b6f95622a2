//! Finding a word that is not part of a longer one.

/// Whether `line` has `word` with no letter, digit or underscore right before it, nor after it if the word ends in one.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(part);
        let after = word.ends_with(part) && line[at + word.len()..].chars().next().is_some_and(part);
        !before && !after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_longer_words_do_not_count() {
        assert!(has_word("a nap(b", "nap("));
        assert!(has_word("thread::nap(b", "nap("));
        assert!(!has_word("cat_nap(1)", "nap("));
        assert!(has_word("ab ab", "ab"));
        assert!(!has_word("abc", "ab"));
    }
}
