//! Package registries are reached through their clients' own settings, so that a mirror works: their hosts are named nowhere.

use crate::{Finding, Tree};

/// Split, so that this file does not break its own rule.
const HOSTS: [&str; 8] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("deb.debian", ".org"),
    concat!("security.debian", ".org"),
    concat!("proxy.golang", ".org"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| *path != "Cargo.lock") {
        for (number, line) in text.lines().enumerate() {
            if let Some(host) = HOSTS.iter().find(|host| line.contains(*host)) {
                let way_out = "name the package and its client (cargo, pip, npm, apt-get) only";
                found.push(Finding::error(path, number + 1, "registry-host", format!("names the host `{host}`"), way_out));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_is_found_but_in_the_lock_file() {
        for host in HOSTS {
            assert_eq!(check(&Tree::of("docs/a.md", format!("from https://{host}/x\n"))).len(), 1, "{host}");
            assert_eq!(check(&Tree::of("Cargo.lock", format!("source = \"{host}\"\n"))), []);
        }
    }
}
