//! Cursors.

use sqlparser::tokenizer::Token;

use super::statement_parser::StatementParser;
use crate::fault::{Fault, Parse};
use crate::statement::{CursorTarget, DeclareCursor, Fetch, FetchDirection, Statement};

impl StatementParser<'_> {
    /// DECLARE.
    pub(super) fn declare(&mut self) -> Parse<Statement> {
        self.expect("declare")?;
        let name = self.ident()?;
        let (mut binary, mut scroll) = (false, None);
        while !self.take("cursor") {
            if self.take("binary") {
                binary = true;
            } else if self.take("no scroll") {
                scroll = Some(false);
            } else if self.take("scroll") {
                scroll = Some(true);
            } else if !(self.take("insensitive") || self.take("asensitive")) {
                return Err(Fault::Here);
            }
        }
        let hold = self.take("with hold");
        self.take("without hold");
        self.expect("for")?;
        let query = self.select()?;
        Ok(Statement::DeclareCursor(DeclareCursor { name, binary, scroll, hold, query }))
    }

    /// FETCH.
    pub(super) fn fetch(&mut self) -> Parse<Statement> {
        self.expect("fetch")?;
        let direction = self.fetch_direction()?;
        if !self.take("from") {
            self.take("in");
        }
        Ok(Statement::Fetch(Fetch { direction, cursor: self.ident()? }))
    }

    fn fetch_direction(&mut self) -> Parse<FetchDirection> {
        let fixed = [
            ("next", FetchDirection::Forward(1)),
            ("prior", FetchDirection::Backward(1)),
            ("first", FetchDirection::Absolute(1)),
            ("last", FetchDirection::Absolute(-1)),
            ("all", FetchDirection::ForwardAll),
            ("forward all", FetchDirection::ForwardAll),
            ("backward all", FetchDirection::BackwardAll),
        ];
        // A cursor may be called `next`: a direction is followed by another word.
        if let Some((_, direction)) = fixed.iter().find(|(words, _)| self.followed_by_word(words) && self.take(words)) {
            return Ok(*direction);
        }
        if self.followed_by_count("absolute") && self.take("absolute") {
            return Ok(FetchDirection::Absolute(self.count()?));
        }
        if self.followed_by_count("relative") && self.take("relative") {
            return Ok(FetchDirection::Relative(self.count()?));
        }
        let backward = (self.followed_by_count("backward") || self.followed_by_word("backward")) && self.take("backward");
        if !backward && (self.followed_by_count("forward") || self.followed_by_word("forward")) {
            self.take("forward");
        }
        let count = if matches!(self.peek(0), Token::Number(..) | Token::Minus) { self.count()? } else { 1 };
        Ok(if backward { FetchDirection::Backward(count) } else { FetchDirection::Forward(count) })
    }

    fn followed_by_word(&self, words: &str) -> bool {
        self.ahead(words) && matches!(self.peek(words.split(' ').count()), Token::Word(_))
    }

    fn followed_by_count(&self, word: &str) -> bool {
        self.ahead(word) && matches!(self.peek(1), Token::Number(..) | Token::Minus)
    }

    fn count(&mut self) -> Parse<i64> {
        let negative = self.take_symbol(&Token::Minus);
        let Token::Number(digits, _) = self.peek(0) else { return Err(Fault::Here) };
        let Ok(count) = digits.parse::<i64>() else { return Err(Fault::Here) };
        self.parser.advance_token();
        Ok(if negative { -count } else { count })
    }

    /// CLOSE.
    pub(super) fn close(&mut self) -> Parse<Statement> {
        self.expect("close")?;
        Ok(Statement::CloseCursor(if self.take("all") { CursorTarget::All } else { CursorTarget::Named(self.ident()?) }))
    }
}
