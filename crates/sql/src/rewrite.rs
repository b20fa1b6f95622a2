//! Token rewriting for two spellings that sqlparser has no switch for.
//!
//! `TUMBLE(TABLE t, ...)` loses its TABLE. The alias of `t AS x FOR SYSTEM_TIME AS OF e`, which is how sqlparser prints it, moves
//! behind `e`, which is where it reads it.

use sqlparser::keywords::{Keyword, RESERVED_FOR_TABLE_ALIAS};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::lexer::is_word;

/// Windowing table functions whose first argument may be `TABLE t`.
const WINDOW_FUNCTIONS: [&str; 4] = ["tumble", "hop", "cumulate", "session"];

/// Both rewritings.
pub(crate) fn rewrite(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let has = |word: &str| tokens.iter().any(|t| is_word(&t.token, word));
    let (windows, versions) = (WINDOW_FUNCTIONS.iter().any(|f| has(f)), has("system_time"));
    if windows {
        tokens = drop_table_words(tokens);
    }
    if versions { move_aliases(tokens) } else { tokens }
}

fn drop_table_words(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut kept: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut in_window_function = Vec::new();
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        let previous = kept.iter().rev().map(|t| &t.token).find(|t| !matches!(t, Token::Whitespace(_)));
        match &token.token {
            Token::LParen => in_window_function.push(previous.is_some_and(|p| WINDOW_FUNCTIONS.iter().any(|f| is_word(p, f)))),
            Token::RParen => {
                in_window_function.pop();
            }
            _ => {}
        }
        let is_argument_start = matches!(previous, Some(Token::LParen | Token::Comma | Token::RArrow));
        let before_space = matches!(rest.peek().map(|t| &t.token), Some(Token::Whitespace(_)));
        if is_word(&token.token, "table") && before_space && is_argument_start && in_window_function.last() == Some(&true) {
            continue;
        }
        kept.push(token);
    }
    kept
}

fn move_aliases(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut tokens: Vec<_> = tokens.into_iter().filter(|t| !matches!(t.token, Token::Whitespace(_))).collect();
    let mut at = 0;
    while at + 4 <= tokens.len() {
        let clause = ["for", "system_time", "as", "of"];
        if clause.iter().zip(&tokens[at..]).all(|(word, t)| is_word(&t.token, word)) {
            let alias_start = alias_before(&tokens, at);
            let end = end_of_expression(&tokens, at + 4);
            // [alias][clause and expression] becomes [clause and expression][alias].
            tokens[alias_start..end].rotate_left(at - alias_start);
            at = end;
        } else {
            at += 1;
        }
    }
    tokens
}

/// Where the alias that ends before `at` begins; `at` if there is none.
fn alias_before(tokens: &[TokenWithSpan], at: usize) -> usize {
    let Some(before) = at.checked_sub(2).map(|i| &tokens[i].token) else { return at };
    if !matches!(tokens[at - 1].token, Token::Word(_)) {
        return at;
    }
    match before {
        Token::Word(w) if w.quote_style.is_none() && w.keyword == Keyword::AS => at - 2,
        Token::Word(w) if w.quote_style.is_some() || !RESERVED_FOR_TABLE_ALIAS.contains(&w.keyword) && w.keyword != Keyword::FROM => at - 1,
        _ => at,
    }
}

fn end_of_expression(tokens: &[TokenWithSpan], start: usize) -> usize {
    let mut depth = 0_usize;
    for (i, t) in tokens.iter().enumerate().skip(start) {
        match &t.token {
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket if depth > 0 => depth -= 1,
            Token::RParen | Token::RBracket | Token::Comma if depth == 0 => return i,
            Token::Word(w) if depth == 0 && i > start && ends_expression(w.keyword, w.quote_style) => return i,
            Token::Word(_) if depth == 0 && i > start && operand_ended(tokens, i) && !continues(&t.token) => return i,
            _ => {}
        }
    }
    tokens.len()
}

fn ends_expression(keyword: Keyword, quote: Option<char>) -> bool {
    quote.is_none() && (keyword == Keyword::AS || RESERVED_FOR_TABLE_ALIAS.contains(&keyword))
}

/// Two words in a row: the second is an alias unless it is an operator.
fn operand_ended(tokens: &[TokenWithSpan], i: usize) -> bool {
    matches!(&tokens[i - 1].token, Token::Word(w) if w.quote_style.is_some() || w.keyword == Keyword::NoKeyword)
}

fn continues(token: &Token) -> bool {
    ["at", "and", "or", "is", "not", "in", "between", "like", "collate", "over"].iter().any(|w| is_word(token, w))
}
