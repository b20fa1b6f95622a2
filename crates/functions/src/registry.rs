//! Every function by its name. The list is closed: a function of DataFusion that is not named here does not exist, because its meaning
//! may not be PostgreSQL's. Names are stable: stored graphs refer to them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use datafusion::functions as df;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

use crate::arithmetic::{self, ArithmeticOp};
use crate::function::PgFunction;
use crate::{aggregates, datetime, math, string};

/// Functions by name; see [`registry`].
#[derive(Debug)]
pub struct Registry {
    scalars: HashMap<String, Arc<ScalarUDF>>,
    aggregates: HashMap<String, Arc<AggregateUDF>>,
}

/// Functions whose value depends on when they run: allowed in batch statements, refused in streams.
const TIME_DEPENDENT: [&str; 7] =
    ["now", "current_timestamp", "current_date", "current_time", "localtimestamp", "transaction_timestamp", "statement_timestamp"];

/// Functions with another value at each call: refused in streams, because a retraction would not meet what was inserted.
const VOLATILE: [&str; 1] = ["random"];

/// The one registry of the process.
pub fn registry() -> &'static Registry {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::build);
    &REGISTRY
}

/// True for `now` and its relatives.
pub fn is_time_dependent(name: &str) -> bool {
    TIME_DEPENDENT.iter().any(|n| n.eq_ignore_ascii_case(name))
}

/// True for `random` and its relatives.
pub fn is_volatile(name: &str) -> bool {
    VOLATILE.iter().any(|n| n.eq_ignore_ascii_case(name))
}

impl Registry {
    fn build() -> Self {
        let mut scalars: Vec<Arc<ScalarUDF>> = ArithmeticOp::ALL.into_iter().map(arithmetic::udf).collect();
        let tables = [string::FUNCTIONS, string::REGEX, math::FUNCTIONS, datetime::FUNCTIONS];
        let ours = tables.into_iter().flatten().map(|f| Arc::new(ScalarUDF::new_from_impl(PgFunction::new(f))));
        scalars.extend(ours);
        scalars.extend(datetime::statement_time());
        scalars.extend(from_datafusion());
        let mut by_name = HashMap::new();
        for udf in scalars {
            for alias in udf.aliases() {
                by_name.entry(alias.clone()).or_insert_with(|| Arc::clone(&udf));
            }
            by_name.insert(udf.name().to_string(), udf);
        }
        let mut aggregates_by_name = HashMap::new();
        for udaf in aggregates::all() {
            for alias in udaf.aliases() {
                aggregates_by_name.entry(alias.clone()).or_insert_with(|| Arc::clone(&udaf));
            }
            aggregates_by_name.insert(udaf.name().to_string(), udaf);
        }
        Registry { scalars: by_name, aggregates: aggregates_by_name }
    }

    /// The scalar function of this name or alias, in lower case.
    pub fn scalar(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.scalars.get(name).cloned()
    }

    /// The aggregate of this name or alias, in lower case.
    pub fn aggregate(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.aggregates.get(name).cloned()
    }

    /// Every scalar function once, by name.
    pub fn all_scalars(&self) -> Vec<Arc<ScalarUDF>> {
        let mut all: Vec<_> = self.scalars.iter().filter(|(name, f)| name.as_str() == f.name()).map(|(_, f)| Arc::clone(f)).collect();
        all.sort_by(|a, b| a.name().cmp(b.name()));
        all
    }

    /// Every aggregate once, by name.
    pub fn all_aggregates(&self) -> Vec<Arc<AggregateUDF>> {
        let mut all: Vec<_> = self.aggregates.iter().filter(|(name, f)| name.as_str() == f.name()).map(|(_, f)| Arc::clone(f)).collect();
        all.sort_by(|a, b| a.name().cmp(b.name()));
        all
    }
}

/// Functions of DataFusion with PostgreSQL's meaning: they keep or choose among their arguments, or build structures.
fn from_datafusion() -> Vec<Arc<ScalarUDF>> {
    vec![
        df::math::random(),
        df::core::coalesce(),
        df::core::nullif(),
        df::core::greatest(),
        df::core::least(),
        df::core::named_struct(),
        df::core::r#struct(),
        df::core::get_field(),
        datafusion::functions_nested::make_array::make_array_udf(),
        datafusion::functions_nested::extract::array_element_udf(),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_are_found_and_time_is_known() {
        for name in ["ms_add", "lower", "date_trunc", "coalesce", "now", "regexp_replace", "round", "random"] {
            assert!(registry().scalar(name).is_some(), "{name}");
        }
        assert!(registry().scalar("arrow_cast").is_none());
        assert_eq!(registry().aggregate("every").unwrap().name(), "bool_and");
        assert!(is_time_dependent("NOW") && !is_time_dependent("lower"));
        let changing = |f: &Arc<ScalarUDF>| f.signature().volatility != datafusion::logical_expr::Volatility::Immutable;
        for f in registry().all_scalars().iter().filter(|f| changing(f)) {
            assert!(is_time_dependent(f.name()) || is_volatile(f.name()), "{} must be refused in streams", f.name());
        }
    }
}
