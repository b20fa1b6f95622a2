//! From text to statements of tokens: checks characters, folds identifiers, cuts at semicolons.

use millstream_types::limits::MAX_IDENTIFIER_BYTES;
use millstream_types::{Error, Result, SqlState};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, Word};

use crate::dialect::StreamDialect;
use crate::fault::lexical_error;
use crate::position::{Cursor, char_position, position_of};

/// The tokens of one statement; their locations are in `text`.
pub(crate) struct StatementTokens<'a> {
    pub(crate) tokens: Vec<TokenWithSpan>,
    pub(crate) text: &'a str,
    /// Characters of the input before `text`.
    pub(crate) offset: usize,
}

/// Cuts `sql` into statements; empty ones are skipped.
pub(crate) fn split(sql: &str) -> Result<Vec<StatementTokens<'_>>> {
    let tokens = tokenize(sql)?;
    let mut statements = Vec::new();
    let mut cursor = Cursor::default();
    let mut current: Vec<TokenWithSpan> = Vec::new();
    for token in tokens.into_iter().chain([TokenWithSpan::wrap(Token::SemiColon)]) {
        let ends = token.token == Token::SemiColon && !(token.span.start.line > 0 && inside_job(&current));
        if !ends {
            current.push(token);
        } else if let Some(statement) = cut(std::mem::take(&mut current), sql, &mut cursor) {
            statements.push(statement);
        }
    }
    Ok(statements)
}

/// True inside `CREATE STREAMING JOB ... AS BEGIN ...; ... END`, where semicolons separate the INSERTs.
fn inside_job(tokens: &[TokenWithSpan]) -> bool {
    let mut significant = tokens.iter().filter(|t| !matches!(t.token, Token::Whitespace(_)));
    let mut next_is = |word: &str| significant.next().is_some_and(|t| is_word(&t.token, word));
    if !(next_is("create") && next_is("streaming") && next_is("job")) {
        return false;
    }
    let rest: Vec<_> = significant.collect();
    let begins = rest.windows(2).any(|w| is_word(&w[0].token, "as") && is_word(&w[1].token, "begin"));
    let ended = match rest.as_slice() {
        [.., before, last] => is_word(&last.token, "end") && (before.token == Token::SemiColon || is_word(&before.token, "begin")),
        _ => false,
    };
    begins && !ended
}

/// True if the token is this word, unquoted.
pub(crate) fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
}

fn cut<'a>(mut tokens: Vec<TokenWithSpan>, sql: &'a str, cursor: &mut Cursor) -> Option<StatementTokens<'a>> {
    let significant = |t: &TokenWithSpan| !matches!(t.token, Token::Whitespace(_));
    let first = tokens.iter().position(significant)?;
    let last = tokens.iter().rposition(significant)?;
    tokens.truncate(last + 1);
    tokens.drain(..first);
    let origin = tokens.first()?.span.start;
    cursor.advance_to(sql, origin);
    let (begin, offset) = (cursor.byte, cursor.chars);
    cursor.advance_to(sql, tokens.last()?.span.end);
    let text = sql.get(begin..cursor.byte)?;
    for token in &mut tokens {
        token.span = Span::new(relative(token.span.start, origin), relative(token.span.end, origin));
    }
    Some(StatementTokens { tokens, text, offset })
}

fn relative(location: Location, origin: Location) -> Location {
    let column = if location.line == origin.line { location.column + 1 - origin.column } else { location.column };
    Location { line: location.line + 1 - origin.line, column }
}

fn tokenize(sql: &str) -> Result<Vec<TokenWithSpan>> {
    if let Some(byte) = sql.find('\0') {
        return Err(nul().with_position(char_position(sql, byte)));
    }
    let dialect = StreamDialect::default();
    let mut tokens = Tokenizer::new(&dialect, sql).tokenize_with_location().map_err(|e| lexical_error(&e, sql))?;
    for TokenWithSpan { token, span } in &mut tokens {
        match token {
            Token::Word(word) => fold(word).map_err(|e| e.with_position(position_of(sql, span.start)))?,
            Token::EscapedStringLiteral(s) | Token::UnicodeStringLiteral(s) if s.contains('\0') => {
                return Err(nul().with_position(position_of(sql, span.start)));
            }
            Token::HexStringLiteral(s) => {
                check_digits(s, "hexadecimal", |c| c.is_ascii_hexdigit()).map_err(|e| e.with_position(position_of(sql, span.start)))?
            }
            Token::SingleQuotedByteStringLiteral(s) => {
                check_digits(s, "binary", |c| matches!(c, '0' | '1')).map_err(|e| e.with_position(position_of(sql, span.start)))?
            }
            Token::NationalStringLiteral(s) => *token = Token::SingleQuotedString(std::mem::take(s)),
            _ => {}
        }
    }
    Ok(tokens)
}

fn nul() -> Error {
    Error::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\": 0x00")
}

fn check_digits(digits: &str, kind: &str, is_digit: impl Fn(char) -> bool) -> Result<()> {
    match digits.chars().find(|c| !is_digit(*c)) {
        Some(wrong) => Err(Error::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("\"{wrong}\" is not a valid {kind} digit"))),
        None => Ok(()),
    }
}

/// Folds an unquoted word to lower case, ASCII letters only, as PostgreSQL does in UTF-8.
fn fold(word: &mut Word) -> Result<()> {
    if word.value.len() > MAX_IDENTIFIER_BYTES {
        return Err(Error::new(SqlState::NAME_TOO_LONG, "identifier too long").with_detail(format!(
            "\"{}\" has {} bytes; the limit is {MAX_IDENTIFIER_BYTES}",
            word.value,
            word.value.len()
        )));
    }
    if word.quote_style.is_none() {
        word.value.make_ascii_lowercase();
    } else if word.value.is_empty() {
        return Err(Error::new(SqlState::SYNTAX_ERROR, "zero-length delimited identifier at or near \"\"\"\""));
    }
    Ok(())
}
