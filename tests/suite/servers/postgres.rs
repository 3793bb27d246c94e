//! PostgreSQL: user `postgres`, no password, and a time zone that is not UTC, so that a time that
//! was stored or read as local time shows.

use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use super::{Options, Recipe, program_folders, quoted};

pub(super) fn recipe(folder: &Path, port: u16, options: Options) -> Result<Recipe, String> {
    let bin = programs().ok_or(
        "PostgreSQL was not found: run `scripts/test`, which installs it on Debian as root, \
         or set ONWARD_POSTGRES_URL",
    )?;
    let data = quoted(folder.join("data"));
    let initdb = quoted(bin.join("initdb"));
    let postgres = quoted(bin.join("postgres"));
    let synchronous = if options.durable { "on" } else { "off" };
    Ok(Recipe {
        name: "PostgreSQL",
        install: format!("$owner {initdb} -D {data} -U postgres -A trust -E UTF8 --no-locale --no-sync"),
        // No socket files, whose paths must be short. Dynamic shared memory lies in the data folder,
        // so that it goes away with it.
        serve: format!(
            "exec $owner {postgres} -D {data} -p {port} -c listen_addresses=127.0.0.1 \
             -c unix_socket_directories= -c dynamic_shared_memory_type=mmap \
             -c max_connections=300 -c shared_buffers=64MB -c timezone=Asia/Shanghai \
             -c synchronous_commit={synchronous}"
        ),
        // a killed server leaves a segment of shared memory, whose number is in this file
        tidy: "[ ! -s data/postmaster.pid ] || \
               ipcrm -m \"$(awk 'NR == 7 { print $2 }' data/postmaster.pid)\"",
        clean: "INT",
        quick: "QUIT",
        log: "server.log",
        login: "postgres://postgres@",
        admits,
    })
}

/// The folder with `initdb` and `postgres`. Debian keeps them out of PATH, one folder per version.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .collect();
    versions.sort();
    let newest_first = versions.into_iter().rev().map(|(_, bin)| bin);
    program_folders()
        .chain(newest_first)
        .find(|bin| bin.join("initdb").is_file() && bin.join("postgres").is_file())
}

/// Logs in. While it starts or recovers, the server accepts connections and answers with an error.
fn admits(stream: &mut TcpStream) -> io::Result<bool> {
    const VERSION_3: u32 = 3 << 16;
    let parameters = b"user\0postgres\0database\0postgres\0\0";
    let mut login = (8 + parameters.len() as u32).to_be_bytes().to_vec();
    login.extend(VERSION_3.to_be_bytes());
    login.extend(parameters);
    stream.write_all(&login)?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    stream.write_all(b"X\0\0\0\x04")?;
    Ok(answer == *b"R")
}
