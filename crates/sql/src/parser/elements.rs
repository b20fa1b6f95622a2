//! Columns, keys, watermarks, types and options of a relation.

use millstream_types::limits::MAX_COLUMNS;
use millstream_types::{Error, SqlState};
use sqlparser::ast::{ArrayElemTypeDef, ColumnOption, DataType, Ident, ObjectName, StructBracketKind, StructField};
use sqlparser::tokenizer::Token;

use super::statement_parser::StatementParser;
use crate::fault::{Fault, Parse};
use crate::normalize::normalize;
use crate::position::position_of;
use crate::statement::{ColumnDefinition, Connector, FormatClause, RelationDefinition, RelationOption, Watermark};

impl StatementParser<'_> {
    /// `(column, ..., PRIMARY KEY (...), WATERMARK FOR ...)` or nothing.
    pub(super) fn relation_definition(&mut self, relation: &ObjectName) -> Parse<RelationDefinition> {
        let mut definition = RelationDefinition::default();
        if !self.take_symbol(&Token::LParen) {
            return Ok(definition);
        }
        definition.has_parentheses = true;
        if self.take_symbol(&Token::RParen) {
            return Ok(definition);
        }
        self.list(|p| p.element(relation, &mut definition))?;
        self.expect_symbol(&Token::RParen)?;
        if definition.columns.len() > MAX_COLUMNS {
            return Err(Error::new(SqlState::TOO_MANY_COLUMNS, format!("tables can have at most {MAX_COLUMNS} columns")).into());
        }
        for key in &definition.primary_key {
            if !definition.columns.is_empty() && !definition.columns.iter().any(|c| c.name.value == key.value) {
                let error = Error::new(SqlState::UNDEFINED_COLUMN, format!("column \"{}\" named in key does not exist", key.value));
                return Err(error.with_position(position_of(self.text, key.span.start)).into());
            }
        }
        Ok(definition)
    }

    fn element(&mut self, relation: &ObjectName, definition: &mut RelationDefinition) -> Parse<()> {
        let position = self.position().0;
        if self.ahead("constraint") {
            return Err(self.unsupported("CONSTRAINT name"));
        }
        for (start, construct) in
            [("unique", "UNIQUE"), ("check", "CHECK"), ("foreign key", "FOREIGN KEY"), ("exclude", "EXCLUDE"), ("like", "LIKE")]
        {
            if self.ahead(start) && (start == "foreign key" || start == "like" || !self.names_a_column()) {
                return Err(self.unsupported(construct));
            }
        }
        if self.take("primary key") {
            let columns = self.parenthesized(Self::ident)?;
            self.take("not enforced");
            return set_key(relation, definition, columns, position);
        }
        if self.take("watermark for") {
            let watermark = self.watermark()?;
            if definition.watermark.replace(watermark).is_some() {
                return Err(Error::new(SqlState::INVALID_TABLE_DEFINITION, "multiple watermarks are not allowed")
                    .with_position(position)
                    .into());
            }
            return Ok(());
        }
        let (column, is_key) = self.column()?;
        if definition.columns.iter().any(|c| c.name.value == column.name.value) {
            let error = Error::new(SqlState::DUPLICATE_COLUMN, format!("column \"{}\" specified more than once", column.name.value));
            return Err(error.with_position(position).into());
        }
        let key = is_key.then(|| column.name.clone());
        definition.columns.push(column);
        key.map_or(Ok(()), |name| set_key(relation, definition, vec![name], position))
    }

    /// `check int` is a column, `check (...)` is a constraint.
    fn names_a_column(&self) -> bool {
        matches!(self.peek(1), Token::Word(_)) && !matches!(self.peek(0), Token::Word(w) if w.value == "unique")
    }

    fn watermark(&mut self) -> Parse<Watermark> {
        let column = self.ident()?;
        self.expect("as")?;
        let mut expr = self.expr()?;
        normalize(&mut expr, self.text)?;
        let idle_timeout = if self.take("with idle timeout") {
            self.take("interval");
            Some(self.string()?)
        } else {
            None
        };
        Ok(Watermark { column, expr, idle_timeout })
    }

    /// A column, and whether PRIMARY KEY was written on it.
    fn column(&mut self) -> Parse<(ColumnDefinition, bool)> {
        let name = self.ident()?;
        if self.ahead("as") {
            return Err(self.unsupported("computed column"));
        }
        let mut column = ColumnDefinition { name, data_type: self.data_type()?, not_null: false, default: None };
        let mut is_key = false;
        loop {
            for clause in ["constraint", "unique", "check", "references", "generated", "collate", "metadata", "compression", "storage"] {
                if self.ahead(clause) {
                    return Err(self.unsupported(&clause.to_uppercase()));
                }
            }
            if self.take("not null") {
                column.not_null = true;
            } else if self.take("primary key") {
                self.take("not enforced");
                is_key = true;
            } else if self.ahead("default") {
                if let Some(ColumnOption::Default(mut default)) = self.parser.parse_optional_column_option()? {
                    normalize(&mut default, self.text)?;
                    column.default = Some(default);
                }
            } else if !self.take("null") {
                return Ok((column, is_key));
            }
        }
    }

    /// A type: sqlparser's, and ROW(...), STRUCT(...) and ARRAY<...> of them.
    pub(super) fn data_type(&mut self) -> Parse<DataType> {
        let opens = |t: &Token| matches!(t, Token::LParen | Token::Lt);
        let mut data_type = if (self.ahead("row") || self.ahead("struct")) && opens(self.peek(1)) {
            self.parser.advance_token();
            let angle = self.take_symbol(&Token::Lt);
            if !angle {
                self.expect_symbol(&Token::LParen)?;
            }
            let fields = self.list(|p| {
                let field_name = Some(p.ident()?);
                Ok(StructField { field_name, field_type: p.data_type()?, options: None })
            })?;
            if angle {
                self.close_angle()?
            } else {
                self.expect_symbol(&Token::RParen)?
            }
            DataType::Struct(fields, StructBracketKind::Parentheses)
        } else if self.ahead("array") && *self.peek(1) == Token::Lt {
            self.parser.advance_token();
            self.parser.advance_token();
            let element = self.data_type()?;
            self.close_angle()?;
            DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(element), None))
        } else if matches!(self.peek(0), Token::Word(_)) {
            self.parser.parse_data_type()?
        } else {
            return Err(Fault::Here);
        };
        // `int ARRAY` has one dimension; brackets add more.
        let mut more = self.take("array");
        while more || self.take_symbol(&Token::LBracket) {
            if !std::mem::take(&mut more) {
                self.expect_symbol(&Token::RBracket)?;
            }
            data_type = DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(data_type), None));
        }
        Ok(data_type)
    }

    /// `>`, or one half of `>>`.
    fn close_angle(&mut self) -> Parse<()> {
        if *self.peek(0) == Token::ShiftRight {
            if std::mem::replace(&mut self.half_closed, true) {
                self.half_closed = false;
                self.parser.advance_token();
            }
            return Ok(());
        }
        self.expect_symbol(&Token::Gt)
    }

    /// `[WITH (...)] [FORMAT x ENCODE y [(...)]]`.
    pub(super) fn connector(&mut self) -> Parse<Connector> {
        let options = self.with_options()?;
        let position = self.position();
        let format = if self.take("format") {
            let format = self.ident()?.value.to_lowercase();
            self.expect("encode")?;
            let encode = self.ident()?.value.to_lowercase();
            let options = self.options()?;
            Some(FormatClause { format, encode, options, position })
        } else {
            None
        };
        Ok(Connector { options, format })
    }

    /// `WITH (key = value, ...)` or nothing.
    pub(super) fn with_options(&mut self) -> Parse<Vec<RelationOption>> {
        if self.take("with") {
            if *self.peek(0) != Token::LParen {
                return Err(Fault::Here);
            }
            return self.options();
        }
        Ok(Vec::new())
    }

    fn options(&mut self) -> Parse<Vec<RelationOption>> {
        let options = self.maybe_parenthesized(Self::option)?;
        for (i, option) in options.iter().enumerate() {
            if options[..i].iter().any(|o| o.key == option.key) {
                let error = Error::new(SqlState::SYNTAX_ERROR, format!("option \"{}\" provided more than once", option.key));
                return Err(error.with_position(option.position.0).into());
            }
        }
        Ok(options)
    }

    fn option(&mut self) -> Parse<RelationOption> {
        let position = self.position();
        let key = match self.peek(0) {
            Token::SingleQuotedString(_) => self.string()?,
            Token::Word(_) => {
                let mut key = self.parser.parse_identifier()?.value;
                while self.take_symbol(&Token::Period) {
                    let Token::Word(part) = self.peek(0).clone() else { return Err(Fault::Here) };
                    self.parser.advance_token();
                    key = format!("{key}.{}", part.value);
                }
                key
            }
            _ => return Err(Fault::Here),
        };
        self.expect_symbol(&Token::Eq)?;
        Ok(RelationOption { key, value: self.scalar()?, position })
    }

    /// The text of a string, number or word.
    pub(super) fn scalar(&mut self) -> Parse<String> {
        let sign = if self.take_symbol(&Token::Minus) { "-" } else { "" };
        match self.peek(0).clone() {
            Token::Number(digits, _) => {
                self.parser.advance_token();
                Ok(format!("{sign}{digits}"))
            }
            _ if !sign.is_empty() => Err(Fault::Here),
            Token::Word(word) => {
                self.parser.advance_token();
                Ok(word.value)
            }
            _ => self.string(),
        }
    }
}

fn set_key(relation: &ObjectName, definition: &mut RelationDefinition, columns: Vec<Ident>, position: u32) -> Parse<()> {
    if !definition.primary_key.is_empty() {
        let message = format!("multiple primary keys for table \"{relation}\" are not allowed");
        return Err(Error::new(SqlState::INVALID_TABLE_DEFINITION, message).with_position(position).into());
    }
    for (i, column) in columns.iter().enumerate() {
        if columns[..i].iter().any(|c| c.value == column.value) {
            let message = format!("column \"{}\" appears twice in primary key constraint", column.value);
            return Err(Error::new(SqlState::DUPLICATE_COLUMN, message).with_position(position).into());
        }
    }
    definition.primary_key = columns;
    Ok(())
}
