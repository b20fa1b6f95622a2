//! The crates' layers: who may use whom, and who may see DataFusion. Architecture is what is absent here.

use super::manifest::Manifest;
use crate::{Finding, Tree};

/// What one crate may use.
struct Arrow {
    name: &'static str,
    may_use: &'static [&'static str],
    datafusion: bool,
}

const fn arrow(name: &'static str, may_use: &'static [&'static str], datafusion: bool) -> Arrow {
    Arrow { name, may_use, datafusion }
}

/// Development dependencies follow the same arrows.
const ARROWS: [Arrow; 12] = [
    arrow("millstream-types", &[], false),
    arrow("millstream-sql", &["types"], false),
    arrow("millstream-graph", &["types"], false),
    arrow("millstream-functions", &["types"], true),
    arrow("millstream-planner", &["types", "sql", "graph", "functions"], true),
    arrow("millstream-state", &["types"], false),
    arrow("millstream-runtime", &["types", "graph", "state", "functions"], true),
    arrow("millstream-connectors", &["types", "graph", "functions", "runtime"], true),
    arrow("millstream-cluster", &["types", "graph", "state", "runtime"], false),
    arrow("millstream-sqllogictest", &[], false),
    arrow(
        "millstream-server",
        &["types", "sql", "graph", "functions", "planner", "state", "runtime", "connectors", "cluster", "sqllogictest"],
        true,
    ),
    arrow("xtask", &[], false),
];

const PREFIX: &str = "millstream-";
const RULE: &str = "crate-arrows";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree.texts_ending(&["Cargo.toml"]) {
        match Manifest::parse(text) {
            Ok(manifest) => check_crate(path, &manifest, &mut found),
            Err((line, message)) => found.push(Finding::error(path, line, "manifest", message, "make it valid TOML")),
        }
    }
    found
}

fn check_crate(path: &str, manifest: &Manifest, found: &mut Vec<Finding>) {
    let Some(name) = manifest.name.as_deref() else { return };
    let Some(arrow) = ARROWS.iter().find(|arrow| arrow.name == name) else {
        let way_out = "add the crate to `ARROWS` in xtask/src/deps/arrows.rs and to ARCHITECTURE.md";
        found.push(Finding::error(path, 1, RULE, format!("`{name}` has no place among the layers"), way_out));
        return;
    };
    if !manifest.inherits_lints {
        let way_out = "add `[lints]` with `workspace = true`";
        found.push(Finding::error(path, 1, "lints", format!("`{name}` does not take the workspace's lints"), way_out));
    }
    for dependency in &manifest.dependencies {
        let (package, line) = (dependency.package.as_str(), dependency.line);
        let ours = package.strip_prefix(PREFIX);
        if package == "xtask" || ours.is_some_and(|short| !arrow.may_use.contains(&short)) {
            let allowed = if arrow.may_use.is_empty() { "no other crate of ours".to_owned() } else { arrow.may_use.join(", ") };
            let way_out = "move the item down to a crate that both may use, or pass it in from the server";
            found.push(Finding::error(path, line, RULE, format!("`{name}` may not use `{package}`, only {allowed}"), way_out));
        } else if is_datafusion(package) && !arrow.datafusion {
            let way_out = "use arrow or our own types here; DataFusion belongs to functions, planner, runtime, connectors and server";
            found.push(Finding::error(path, line, "datafusion", format!("`{name}` may not see DataFusion (`{package}`)"), way_out));
        }
    }
}

fn is_datafusion(package: &str) -> bool {
    package == "datafusion" || package.starts_with("datafusion-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(name: &str, rest: &str) -> Vec<(&'static str, usize)> {
        let text = format!("[package]\nname = \"{name}\"\n[lints]\nworkspace = true\n{rest}");
        check(&Tree::of("crates/a/Cargo.toml", text)).iter().map(|f| (f.rule, f.line)).collect()
    }

    #[test]
    fn an_arrow_against_the_layers_is_found_in_every_section() {
        for section in ["dependencies", "dev-dependencies", "build-dependencies", "target.'cfg(unix)'.dependencies"] {
            assert_eq!(rules("millstream-state", &format!("[{section}]\nmillstream-runtime.workspace = true\n")), [(RULE, 6)], "{section}");
        }
        assert_eq!(rules("millstream-sql", "[dependencies]\nx = { package = \"millstream-graph\", path = \"../graph\" }\n"), [(RULE, 6)]);
        assert_eq!(rules("millstream-types", "[dependencies]\nxtask.path = \"../../xtask\"\n"), [(RULE, 6)]);
        assert_eq!(rules("millstream-runtime", "[dependencies]\nmillstream-state.workspace = true\n"), []);
    }

    #[test]
    fn datafusion_is_found_where_it_is_not_allowed() {
        assert_eq!(rules("millstream-cluster", "[dependencies]\ndatafusion.workspace = true\n"), [("datafusion", 6)]);
        assert_eq!(rules("millstream-graph", "[dev-dependencies]\ndatafusion-expr = \"55\"\n"), [("datafusion", 6)]);
        assert_eq!(rules("millstream-planner", "[dependencies]\ndatafusion.workspace = true\n"), []);
    }

    #[test]
    fn an_unknown_crate_and_missing_lints_are_found() {
        assert_eq!(rules("millstream-new", ""), [(RULE, 1)]);
        let bare = check(&Tree::of("crates/sql/Cargo.toml", "[package]\nname = \"millstream-sql\"\n"));
        assert_eq!(bare.iter().map(|f| f.rule).collect::<Vec<_>>(), ["lints"]);
    }

    #[test]
    fn every_arrow_points_to_a_crate_that_does_not_point_back() {
        let find = |short: &str| ARROWS.iter().find(|a| a.name == format!("{PREFIX}{short}"));
        for arrow in &ARROWS {
            let short = arrow.name.strip_prefix(PREFIX).unwrap_or(arrow.name);
            for used in arrow.may_use {
                assert!(find(used).is_some_and(|used| !used.may_use.contains(&short)), "{} -> {used}", arrow.name);
            }
        }
    }
}
