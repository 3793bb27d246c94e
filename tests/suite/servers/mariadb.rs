//! MariaDB: user `t`, password `t`, and a time zone that is not UTC, so that a time that was stored
//! or read as local time shows.

use std::io::{self, Read};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use super::{Options, Recipe, program_folders, quoted};

/// One statement per line.
pub(super) const USER: &str = r#"CREATE USER IF NOT EXISTS t@"127.0.0.1" IDENTIFIED BY "t";
GRANT ALL ON *.* TO t@"127.0.0.1" WITH GRANT OPTION;"#;

pub(super) fn recipe(folder: &Path, port: u16, options: Options) -> Result<Recipe, String> {
    let programs = Programs::find().ok_or(
        "MariaDB was not found: run `scripts/test`, which installs it on Debian as root, or set \
         ONWARD_MYSQL_URL",
    )?;
    let (install, serve) = (programs.install(folder), programs.serve(folder, port, options));
    let users = quoted(folder.join("users.sql"));
    Ok(Recipe {
        name: "MariaDB",
        install: format!("echo '{USER}' >{users} && {install}"),
        // run at every start, before the first client is let in
        serve: format!("{serve} --init-file={users}"),
        tidy: ":",
        clean: "TERM",
        // a clean end would write to files that are removed next
        quick: "KILL",
        log: "general.log",
        login: LOGIN,
        admits,
    })
}

pub(super) const LOGIN: &str = "mysql://t:t@";

pub(super) struct Programs {
    server: PathBuf,
    install: PathBuf,
}

impl Programs {
    pub(super) fn find() -> Option<Programs> {
        let server = program(&["mariadbd", "mysqld"])?;
        Some(Programs { server, install: program(&["mariadb-install-db", "mysql_install_db"])? })
    }

    /// In a common temporary folder, installations at the same time take each other's tables.
    pub(super) fn install(&self, folder: &Path) -> String {
        format!(
            "$owner {} --no-defaults --datadir={} --tmpdir={} --auth-root-authentication-method=normal \
             --skip-test-db --innodb-log-file-size=32M",
            quoted(&self.install),
            quoted(folder.join("data")),
            quoted(folder),
        )
    }

    /// Without configuration files the character set would be latin1. No socket file, whose path must
    /// be short.
    pub(super) fn serve(&self, folder: &Path, port: u16, options: Options) -> String {
        let server = quoted(&self.server);
        let data = quoted(folder.join("data"));
        let temporary = quoted(folder);
        let log = quoted(folder.join("general.log"));
        let flush = if options.durable { 1 } else { 2 };
        format!(
            "exec $owner {server} --no-defaults --datadir={data} --tmpdir={temporary} \
             --port={port} --bind-address=127.0.0.1 --socket= --pid-file={data}/pid \
             --skip-name-resolve --max-connections=300 --skip-log-bin \
             --innodb-buffer-pool-size=64M --innodb-log-file-size=32M \
             --innodb-flush-log-at-trx-commit={flush} --default-time-zone=+08:00 \
             --character-set-server=utf8mb4 --collation-server=utf8mb4_general_ci \
             --skip-general-log --general-log-file={log}"
        )
    }
}

fn program(names: &[&str]) -> Option<PathBuf> {
    program_folders()
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|program| program.is_file())
}

/// The server speaks first: a greeting of protocol 10, or an error.
pub(super) fn admits(stream: &mut TcpStream) -> io::Result<bool> {
    let mut greeting = [0; 5];
    stream.read_exact(&mut greeting)?;
    Ok(greeting[4] == 10)
}
