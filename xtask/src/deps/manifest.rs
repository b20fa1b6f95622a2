//! What a crate's Cargo.toml says about its dependencies, with the line of each.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One dependency, of whichever kind and target.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    /// The package's name, not the name it may be renamed to.
    pub(super) package: String,
    pub(super) line: usize,
}

/// The parts of a manifest that the rules look at.
#[derive(Debug)]
pub(super) struct Manifest {
    /// `package.name`; none in a file that is only a workspace.
    pub(super) name: Option<String>,
    pub(super) inherits_lints: bool,
    pub(super) dependencies: Vec<Dependency>,
}

impl Manifest {
    /// Reads a manifest; the error is the parser's message with the line it stands on.
    pub(super) fn parse(text: &str) -> Result<Self, (usize, String)> {
        let root = DeTable::parse(text).map_err(|e| (line_of(text, e.span().map_or(0, |s| s.start)), e.message().to_owned()))?;
        let root = root.get_ref();
        let mut dependencies = Vec::new();
        collect(text, root, &mut dependencies);
        for (_, target) in table(root, "target").into_iter().flat_map(DeTable::iter) {
            if let DeValue::Table(target) = target.get_ref() {
                collect(text, target, &mut dependencies);
            }
        }
        let name = table(root, "package").and_then(|p| string(p, "name"));
        let lints = table(root, "lints").and_then(|l| l.get("workspace"));
        let inherits_lints = matches!(lints.map(Spanned::get_ref), Some(DeValue::Boolean(true)));
        Ok(Manifest { name, inherits_lints, dependencies })
    }
}

fn collect(text: &str, from: &DeTable<'_>, into: &mut Vec<Dependency>) {
    for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
        for (key, value) in table(from, kind).into_iter().flat_map(DeTable::iter) {
            let renamed = match value.get_ref() {
                DeValue::Table(details) => string(details, "package"),
                _ => None,
            };
            let package = renamed.unwrap_or_else(|| key.get_ref().to_string());
            into.push(Dependency { package, line: line_of(text, key.span().start) });
        }
    }
}

fn table<'a, 'i>(from: &'a DeTable<'i>, key: &str) -> Option<&'a DeTable<'i>> {
    match from.get(key)?.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

fn string(from: &DeTable<'_>, key: &str) -> Option<String> {
    match from.get(key)?.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|b| *b == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_way_to_write_a_dependency_is_read() {
        let text = "[package]\nname = \"a\"\n[lints]\nworkspace = true\n[dependencies]\nb.workspace = true\nc = \"1\"\n\
                    d = { package = \"e\", version = \"1\" }\n[dependencies.f]\nversion = \"1\"\n[dev-dependencies]\ng = \"1\"\n\
                    [build-dependencies]\nh = \"1\"\n[target.'cfg(unix)'.dependencies]\ni = \"1\"\n";
        let manifest = Manifest::parse(text).unwrap();
        let mut read: Vec<_> = manifest.dependencies.iter().map(|d| (d.line, d.package.as_str())).collect();
        read.sort_unstable();
        assert_eq!(read, [(6, "b"), (7, "c"), (8, "e"), (9, "f"), (12, "g"), (14, "h"), (16, "i")]);
        assert_eq!(manifest.name.as_deref(), Some("a"));
        assert!(manifest.inherits_lints);
    }

    #[test]
    fn a_broken_manifest_tells_its_line() {
        assert_eq!(Manifest::parse("[package]\nname =\n").unwrap_err().0, 2);
    }
}
