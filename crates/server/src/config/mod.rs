//! Configuration: defaults, then `millstream.toml`, then the command line. Everything unknown or wrong stops the start with one line.

mod file;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use clap::Args;
use millstream_types::{Error, Result, SqlState};

pub use file::FileConfig;

/// Default address of the SQL front door.
pub const DEFAULT_SQL_ADDR: &str = "127.0.0.1:4510";
/// Default address of the HTTP server.
pub const DEFAULT_HTTP_ADDR: &str = "127.0.0.1:8081";
/// Default data directory.
pub const DEFAULT_DATA_DIR: &str = "./millstream-data";
/// Default managed memory, shared evenly by the slots.
pub const DEFAULT_MANAGED_MEMORY: ByteSize = ByteSize::mib(512);

/// Options of `millstream start`; each may also stand in the configuration file under the same name with underscores.
#[derive(Args, Clone, Debug, Default)]
pub struct StartArgs {
    /// Where everything is kept [default: ./millstream-data]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Address of the SQL front door (psql) [default: 127.0.0.1:4510]
    #[arg(long, value_name = "HOST:PORT")]
    pub sql_addr: Option<SocketAddr>,
    /// Address of the HTTP server [default: 127.0.0.1:8081]
    #[arg(long, value_name = "HOST:PORT")]
    pub http_addr: Option<SocketAddr>,
    /// Task slots [default: 2 x cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub slots: Option<u32>,
    /// Memory for state, shared evenly by the slots [default: 512MiB]
    #[arg(long, value_name = "SIZE")]
    pub managed_memory: Option<ByteSize>,
    /// One more directory below which the filesystem connector may read and write (repeatable; <data-dir>/files always is)
    #[arg(long = "allow-files", value_name = "DIR")]
    pub allow_files: Vec<PathBuf>,
    /// Listen on other addresses than loopback although there is no authentication and no TLS
    #[arg(long)]
    pub insecure: bool,
    /// Configuration file (TOML)
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// What a server runs with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Where everything is kept.
    pub data_dir: PathBuf,
    /// Address of the SQL front door.
    pub sql_addr: SocketAddr,
    /// Address of the HTTP server.
    pub http_addr: SocketAddr,
    /// Task slots; `None` is 2 x cores.
    pub slots: Option<u32>,
    /// Bytes of managed memory.
    pub managed_memory: u64,
    /// Directories besides `<data_dir>/files` that the filesystem connector may use.
    pub allow_files: Vec<PathBuf>,
    /// Other addresses than loopback were allowed.
    pub insecure: bool,
}

impl Config {
    /// Defaults, overridden by the file that `args` names, overridden by `args`.
    ///
    /// # Errors
    /// F0000 naming the key, file or address that is wrong.
    pub fn resolve(args: StartArgs) -> Result<Config> {
        let file = match &args.config {
            Some(path) => FileConfig::read(path)?,
            None => FileConfig::default(),
        };
        let address = |given: Option<SocketAddr>, fallback: &str| match given {
            Some(addr) => Ok(addr),
            None => fallback.parse().map_err(|_| wrong(format!("\"{fallback}\" is no address"))),
        };
        let config = Config {
            data_dir: args.data_dir.or(file.data_dir).unwrap_or_else(|| DEFAULT_DATA_DIR.into()),
            sql_addr: address(args.sql_addr.or(file.sql_addr), DEFAULT_SQL_ADDR)?,
            http_addr: address(args.http_addr.or(file.http_addr), DEFAULT_HTTP_ADDR)?,
            slots: args.slots.or(file.slots),
            managed_memory: args.managed_memory.or(file.managed_memory).unwrap_or(DEFAULT_MANAGED_MEMORY).as_u64(),
            allow_files: if args.allow_files.is_empty() { file.allow_files } else { args.allow_files },
            insecure: args.insecure || file.insecure,
        };
        config.check()?;
        Ok(config)
    }

    /// A server for one purpose: its own directory, any free ports.
    pub fn ephemeral(data_dir: &Path) -> Config {
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        Config {
            data_dir: data_dir.to_owned(),
            sql_addr: any_port,
            http_addr: any_port,
            slots: None,
            managed_memory: DEFAULT_MANAGED_MEMORY.as_u64(),
            allow_files: vec![],
            insecure: false,
        }
    }

    fn check(&self) -> Result<()> {
        if self.slots == Some(0) || self.slots.is_some_and(|s| s > 1024) {
            return Err(wrong("slots must be between 1 and 1024".into()));
        }
        if self.managed_memory < ByteSize::mib(16).as_u64() {
            return Err(wrong(format!("managed_memory is {}, but must be at least 16MiB", ByteSize(self.managed_memory))));
        }
        for (key, addr) in [("sql_addr", self.sql_addr), ("http_addr", self.http_addr)] {
            if !addr.ip().is_loopback() && !self.insecure {
                return Err(wrong(format!("{key} = {addr} is not on this machine alone, and there is no authentication"))
                    .with_hint("use 127.0.0.1, or --insecure if the network is trusted"));
            }
        }
        Ok(())
    }
}

fn wrong(message: String) -> Error {
    Error::new(SqlState::CONFIG_FILE_ERROR, message)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn from_file(text: &str, args: StartArgs) -> Result<Config> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("millstream.toml");
        std::fs::write(&path, text).unwrap();
        Config::resolve(StartArgs { config: Some(path), ..args })
    }

    #[test]
    fn the_command_line_wins_over_the_file_and_the_file_over_defaults() {
        let args = StartArgs { slots: Some(3), ..StartArgs::default() };
        let config = from_file("slots = 9\nmanaged_memory = \"64MiB\"\nsql_addr = \"127.0.0.1:99\"", args).unwrap();
        assert_eq!((config.slots, config.managed_memory, config.sql_addr.port()), (Some(3), 64 << 20, 99));
        assert_eq!(config.http_addr.to_string(), DEFAULT_HTTP_ADDR);
    }

    #[test]
    fn every_wrong_key_or_value_is_named_on_one_line() {
        for (text, named) in [
            ("slotz = 4", "slotz"),
            ("slots = \"many\"", "slots"),
            ("slots = 0", "slots"),
            ("managed_memory = \"1KiB\"", "managed_memory"),
            ("sql_addr = \"nowhere\"", "sql_addr"),
            ("http_addr = \"0.0.0.0:80\"", "http_addr"),
            ("= 4", "line 1"),
        ] {
            let error = from_file(text, StartArgs::default()).unwrap_err();
            assert!(error.message().contains(named) && !error.message().contains('\n'), "{text}: {error}");
        }
    }

    #[test]
    fn other_addresses_need_insecure() {
        let args = StartArgs { sql_addr: Some("0.0.0.0:4510".parse().unwrap()), ..StartArgs::default() };
        assert!(Config::resolve(args.clone()).is_err());
        assert!(Config::resolve(StartArgs { insecure: true, ..args }).is_ok());
    }
}
