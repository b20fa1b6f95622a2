//! The parser of one statement: words, names, lists, and which statement it is.

use sqlparser::ast::{Expr, Ident, ObjectName, ObjectNamePart};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::dialect::StreamDialect;
use crate::fault::{Fault, Parse};
use crate::keywords::is_reserved;
use crate::lexer::is_word;
use crate::position::{Position, position_of};
use crate::statement::Statement;

/// sqlparser's own count of nested calls; the depth of the tokens was checked before, so this never decides.
const RECURSION_LIMIT: usize = 16 * millstream_types::limits::MAX_EXPRESSION_DEPTH;

/// A parser over the tokens of one statement.
pub(crate) struct StatementParser<'a> {
    pub(super) parser: Parser<'a>,
    pub(super) text: &'a str,
    pub(super) dialect: &'a StreamDialect,
    /// One half of a `>>` that closes two types was used.
    pub(super) half_closed: bool,
}

impl<'a> StatementParser<'a> {
    pub(super) fn new(tokens: Vec<TokenWithSpan>, text: &'a str, dialect: &'a StreamDialect) -> Self {
        let parser = Parser::new(dialect).with_recursion_limit(RECURSION_LIMIT).with_tokens_with_locations(tokens);
        StatementParser { parser, text, dialect, half_closed: false }
    }

    /// The statement, by its first word.
    pub(super) fn statement(&mut self) -> Parse<Statement> {
        let Token::Word(first) = self.peek(0).clone() else { return self.query_statement() };
        if first.quote_style.is_some() {
            return Err(Fault::Here);
        }
        match first.value.as_str() {
            "select" | "with" | "values" | "table" => self.query_statement(),
            "insert" => Ok(Statement::Insert(self.insert()?)),
            "update" | "delete" => self.change(),
            "truncate" => self.truncate(),
            "create" => self.create(),
            "drop" => self.drop(),
            "comment" => self.comment(),
            "pause" | "resume" | "cancel" => self.job_control(),
            "show" => self.show(),
            "describe" | "desc" => self.describe(),
            "set" => self.set(),
            "reset" => self.reset(),
            "begin" | "start" => self.begin(),
            "commit" | "end" => self.commit(),
            "rollback" | "abort" => self.rollback(),
            "explain" => self.explain(),
            "prepare" => self.prepare(),
            "execute" => self.execute(),
            "deallocate" => self.deallocate(),
            "discard" => self.discard(),
            "declare" => self.declare(),
            "fetch" => self.fetch(),
            "close" => self.close(),
            _ => self.other(),
        }
    }

    /// Nothing may follow.
    pub(super) fn end(&mut self) -> Parse<()> {
        if *self.peek(0) == Token::EOF { Ok(()) } else { Err(Fault::Here) }
    }

    /// The n-th token ahead.
    pub(super) fn peek(&self, n: usize) -> &Token {
        &self.parser.peek_nth_token_ref(n).token
    }

    /// True if these words, separated by blanks and in lower case, come next.
    pub(super) fn ahead(&self, words: &str) -> bool {
        words.split(' ').enumerate().all(|(n, word)| is_word(self.peek(n), word))
    }

    /// Takes these words if they come next.
    pub(super) fn take(&mut self, words: &str) -> bool {
        let found = self.ahead(words);
        if found {
            words.split(' ').for_each(|_| self.parser.advance_token());
        }
        found
    }

    /// Takes these words; stops at the first that is not there.
    pub(super) fn expect(&mut self, words: &str) -> Parse<()> {
        for word in words.split(' ') {
            if !self.take(word) {
                return Err(Fault::Here);
            }
        }
        Ok(())
    }

    /// Takes a symbol if it comes next.
    pub(super) fn take_symbol(&mut self, symbol: &Token) -> bool {
        self.parser.consume_token(symbol)
    }

    /// Takes a symbol.
    pub(super) fn expect_symbol(&mut self, symbol: &Token) -> Parse<()> {
        if self.take_symbol(symbol) { Ok(()) } else { Err(Fault::Here) }
    }

    /// Where the next token stands.
    pub(super) fn position(&self) -> Position {
        match self.parser.peek_token_ref() {
            TokenWithSpan { token: Token::EOF, .. } => Position(u32::try_from(self.text.chars().count() + 1).unwrap_or(u32::MAX)),
            token => Position(position_of(self.text, token.span.start)),
        }
    }

    /// 0A000 for a construct that begins at the next token.
    pub(super) fn unsupported(&self, what: &str) -> Fault {
        Fault::Own(millstream_types::Error::unsupported(what).with_position(self.position().0))
    }

    /// A name of one word.
    pub(super) fn ident(&mut self) -> Parse<Ident> {
        match self.peek(0) {
            Token::Word(w) if w.quote_style.is_some() || !is_reserved(&w.value) => Ok(self.parser.parse_identifier()?),
            _ => Err(Fault::Here),
        }
    }

    /// A name of up to three words with dots.
    pub(super) fn name(&mut self) -> Parse<ObjectName> {
        let mut parts = vec![ObjectNamePart::Identifier(self.ident()?)];
        while self.take_symbol(&Token::Period) {
            // After a dot every word is a name.
            match self.peek(0) {
                Token::Word(_) => parts.push(ObjectNamePart::Identifier(self.parser.parse_identifier()?)),
                _ => return Err(Fault::Here),
            }
        }
        Ok(ObjectName(parts))
    }

    /// Items with commas between them; at least one.
    pub(super) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.take_symbol(&Token::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// A list in parentheses.
    pub(super) fn parenthesized<T>(&mut self, item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        self.expect_symbol(&Token::LParen)?;
        let items = self.list(item)?;
        self.expect_symbol(&Token::RParen)?;
        Ok(items)
    }

    /// A list in parentheses, if there is one.
    pub(super) fn maybe_parenthesized<T>(&mut self, item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        if *self.peek(0) == Token::LParen { self.parenthesized(item) } else { Ok(Vec::new()) }
    }

    /// An expression.
    pub(super) fn expr(&mut self) -> Parse<Expr> {
        Ok(self.parser.parse_expr()?)
    }

    /// A string literal.
    pub(super) fn string(&mut self) -> Parse<String> {
        match self.peek(0) {
            Token::SingleQuotedString(_)
            | Token::EscapedStringLiteral(_)
            | Token::UnicodeStringLiteral(_)
            | Token::DollarQuotedString(_) => Ok(self.parser.parse_literal_string()?),
            _ => Err(Fault::Here),
        }
    }

    /// IF NOT EXISTS.
    pub(super) fn if_not_exists(&mut self) -> bool {
        self.take("if not exists")
    }
}
