//! SQL text in, statements out: the dialect, the parser, our statements with their printing, and what the catalog stores.
//!
//! In the order a statement meets them: [`lexer`](self) cuts the text into statements of tokens, folds identifiers and refuses what is
//! nested too deeply; [`parse`] turns the tokens of each into a [`Statement`]; [`position`] finds tree nodes in the text again;
//! [`column_type`] reads types; [`catalog`] holds the descriptors of what a statement created; [`redact`] hides secrets from display.
//! This crate knows no engine.

pub mod catalog;
pub mod column_type;
mod depth;
mod dialect;
mod fault;
pub mod keywords;
mod lexer;
mod normalize;
mod parser;
pub mod position;
pub mod redact;
mod rewrite;
pub mod statement;

pub use column_type::{ColumnType, column_type, sql_type};
pub use dialect::StreamDialect;
pub use keywords::quote_identifier;
pub use parser::{Parsed, parse, parse_expression, parse_query, stored_text};
pub use position::{expr_position, position_of};
pub use statement::Statement;
