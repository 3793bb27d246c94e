//! Redis: no password, nothing on disk, so that a restarted server is empty.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::Path;

use super::{Recipe, program_folders, quoted};

pub(super) fn recipe(folder: &Path, port: u16) -> Result<Recipe, String> {
    let server = program_folders().map(|bin| bin.join("redis-server")).find(|program| program.is_file()).ok_or(
        "Redis was not found: run `scripts/test`, which installs it on Debian as root, or set ONWARD_REDIS_URL",
    )?;
    let (server, folder) = (quoted(server), quoted(folder));
    Ok(Recipe {
        name: "Redis",
        install: ":".into(),
        serve: format!(
            "exec $owner {server} --port {port} --bind 127.0.0.1 --dir {folder} --save '' --appendonly no --daemonize no"
        ),
        tidy: ":",
        clean: "TERM",
        quick: "KILL",
        log: "server.log",
        login: "redis://",
        admits,
    })
}

fn admits(stream: &mut TcpStream) -> io::Result<bool> {
    stream.write_all(b"PING\r\n")?;
    let mut answer = [0; 5];
    stream.read_exact(&mut answer)?;
    Ok(&answer == b"+PONG")
}
