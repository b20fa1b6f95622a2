//! PostgreSQL's meaning of scalar functions, operators, casts and aggregates, as DataFusion UDFs. The planner binds them, batch reads and
//! the streaming runtime run them, so a view and the batch query over the same input share one meaning.
//!
//! In the order a statement meets them: [`registry`] finds functions by their stable names; `function` declares a function by its
//! overloads and resolves them, `operand` is one evaluated argument; [`arithmetic`] are the operators, [`cast`] the casts and the text of
//! values, `string`, `math` and `datetime` the scalar functions, `aggregates` the aggregates over `calendar`; [`error`] turns DataFusion's
//! errors into what a client may see.

mod aggregates;
pub mod arithmetic;
mod calendar;
pub mod cast;
mod datetime;
pub mod error;
mod function;
mod math;
mod operand;
pub mod registry;
mod string;

pub use aggregates::finish_totals;
pub use arithmetic::{ArithmeticOp, result_type};
pub use cast::{cast_array, cast_udf, check_cast, to_text};
pub use error::{external, from_datafusion, from_datafusion_in};
pub use registry::{Registry, is_time_dependent, is_volatile, registry};
