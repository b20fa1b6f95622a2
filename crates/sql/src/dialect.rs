//! The dialect given to sqlparser: PostgreSQL's, plus time travel and `MATCH_RECOGNIZE`, minus the traps.

use std::any::TypeId;
use std::cell::Cell;

use sqlparser::ast::Expr;
use sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use sqlparser::keywords::{Keyword, RESERVED_FOR_COLUMN_ALIAS, RESERVED_FOR_TABLE_ALIAS};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

/// PostgreSQL's dialect with `FOR SYSTEM_TIME AS OF`, `MATCH_RECOGNIZE` and `EMIT` after a query.
///
/// It carries the work budget of one parse: sqlparser tries alternatives by parsing twice, which doubles per nesting level on crafted
/// text. Every expression that is begun costs one unit; at zero the parse ends with `RecursionLimitExceeded` (54001).
#[derive(Debug)]
pub struct StreamDialect {
    postgres: PostgreSqlDialect,
    budget: Cell<u64>,
}

impl Default for StreamDialect {
    fn default() -> Self {
        StreamDialect { postgres: PostgreSqlDialect {}, budget: Cell::new(u64::MAX) }
    }
}

impl StreamDialect {
    /// A dialect whose parser may begin `budget` expressions.
    pub fn with_budget(budget: u64) -> Self {
        StreamDialect { budget: Cell::new(budget), ..Self::default() }
    }

    /// True when the budget was used up.
    pub fn is_exhausted(&self) -> bool {
        self.budget.get() == 0
    }

    fn spend(&self) -> bool {
        let left = self.budget.get();
        self.budget.set(left.saturating_sub(1));
        left > 0
    }
}

/// True if the word just taken is EMIT and opens an emit clause (`EMIT CHANGES`, `EMIT ON WINDOW CLOSE`), not an alias.
fn begins_emit(parser: &Parser) -> bool {
    let is = |token: &Token, word: &str| matches!(token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word));
    is(&parser.get_current_token().token, "emit")
        && (is(&parser.peek_nth_token_ref(0).token, "changes")
            || (is(&parser.peek_nth_token_ref(0).token, "on") && is(&parser.peek_nth_token_ref(1).token, "window")))
}

macro_rules! as_postgres {
    ($($name:ident)*) => {
        $(fn $name(&self) -> bool { self.postgres.$name() })*
    };
}

impl Dialect for StreamDialect {
    fn dialect(&self) -> TypeId {
        self.postgres.dialect()
    }
    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        self.postgres.identifier_quote_style(identifier)
    }
    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        self.postgres.is_delimited_identifier_start(ch)
    }
    fn is_identifier_start(&self, ch: char) -> bool {
        self.postgres.is_identifier_start(ch)
    }
    fn is_identifier_part(&self, ch: char) -> bool {
        self.postgres.is_identifier_part(ch)
    }
    fn is_custom_operator_part(&self, ch: char) -> bool {
        self.postgres.is_custom_operator_part(ch)
    }
    fn is_reserved_for_identifier(&self, kw: Keyword) -> bool {
        self.postgres.is_reserved_for_identifier(kw)
    }
    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        self.postgres.get_next_precedence(parser)
    }
    fn prec_value(&self, prec: Precedence) -> u8 {
        self.postgres.prec_value(prec)
    }
    as_postgres! {
        supports_unicode_string_literal supports_filter_during_aggregation supports_group_by_expr allow_extract_custom
        allow_extract_single_quotes supports_create_index_with_clause supports_explain_with_utility_options supports_listen_notify
        supports_factorial_operator supports_bitwise_shift_operators supports_comment_on
        supports_named_fn_args_with_colon_operator supports_nested_comments supports_string_escape_constant
        supports_numeric_literal_underscores supports_array_typedef_with_brackets supports_geometric_types supports_set_names
        supports_alter_column_type_using supports_notnull_operator supports_interval_options supports_insert_table_alias
        supports_select_wildcard_with_alias supports_comma_separated_trim
    }
    fn supports_string_literal_concatenation_with_newline(&self) -> bool {
        true
    }
    fn supports_match_recognize(&self) -> bool {
        true
    }
    fn supports_table_versioning(&self) -> bool {
        true
    }
    /// The call is counted: with an empty select list no expression is begun.
    fn supports_empty_projections(&self) -> bool {
        self.spend()
    }
    fn parse_prefix(&self, _parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        if self.spend() { None } else { Some(Err(ParserError::RecursionLimitExceeded)) }
    }
    fn is_column_alias(&self, kw: &Keyword, parser: &mut Parser) -> bool {
        !RESERVED_FOR_COLUMN_ALIAS.contains(kw) && !begins_emit(parser)
    }
    fn is_table_alias(&self, kw: &Keyword, parser: &mut Parser) -> bool {
        !RESERVED_FOR_TABLE_ALIAS.contains(kw) && !begins_emit(parser)
    }
}
