//! Relative links in Markdown lead to a file or folder of the tree.

use crate::{Finding, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree.texts_ending(&[".md"]) {
        let mut fenced = false;
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            } else if !fenced {
                let broken = targets(line).into_iter().filter(|target| !leads_somewhere(tree, path, target));
                found.extend(broken.map(|target| {
                    let way_out = "fix the path; it is relative to the file that holds the link";
                    Finding::error(path, number + 1, "link", format!("`{target}` leads nowhere"), way_out)
                }));
            }
        }
    }
    found
}

/// What the links of a line point to: `[text](target)`, `[text](target "title")` and `[name]: target`. Code spans hold none.
fn targets(line: &str) -> Vec<String> {
    let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let inline = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let reference = prose.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
    inline.chain(reference).filter_map(|target| target.split_whitespace().next()).map(str::to_owned).collect()
}

fn leads_somewhere(tree: &Tree, from: &str, target: &str) -> bool {
    let target = target.split('#').next().unwrap_or_default();
    if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
        return true;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return false,
            ".." => {}
            name => parts.push(name),
        }
    }
    !target.starts_with('/') && tree.exists(&parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str) -> Vec<usize> {
        let mut tree = Tree::of("docs/a.md", text);
        tree.insert("docs/b/c.md", "x\n");
        tree.insert("README.md", "x\n");
        check(&tree).iter().map(|f| f.line).collect()
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        assert_eq!(broken("x\n[c](c.md)\n"), [2]);
        assert_eq!(broken("[a](b/c.md) [c](b/d.md#part)\n"), [1]);
        assert_eq!(broken("[c]: ../missing.md\n"), [1]);
        assert_eq!(broken("[c](../../outside.md)\n"), [1]);
        assert_eq!(broken("[c](/README.md)\n"), [1]);
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        assert_eq!(broken("[c](b/c.md#part) [b](b/) [r](../README.md) [h](#here) [w](https://example.org/x) ![p](b/c.md \"t\")\n"), []);
        assert_eq!(broken("`[c](c.md)`\n```\n[c](c.md)\n```\n"), []);
    }
}
