//! Private database servers for the tests: own processes, own temporary folders, free ports on
//! 127.0.0.1. No system service is touched and no configuration of the machine is read.
//!
//! [`postgres`] and [`mysql`] are shared by all tests of the process, each of which creates its own
//! database there; so is the cluster, [`galera::shared`]. A test that kills or pauses its server starts one of
//! its own, with [`Server::postgres`], [`Server::mariadb`] or [`galera::Cluster::start`].
//!
//! The servers end with the test process, however it ends. Each is the child of a small shell, the
//! supervisor, which reads commands from a pipe that only the test process holds open. At the end of
//! that file it stops the server by its process id and removes the folder.

#[cfg(feature = "mysql")]
pub mod galera;
mod mariadb;
mod postgres;
#[cfg(feature = "redis")]
mod redis;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf, absolute};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

const START_LIMIT: Duration = Duration::from_secs(60);

const SUPERVISOR: &str = include_str!("servers/supervisor.sh");

/// How one kind of server is installed, run, ended and asked.
pub(crate) struct Recipe {
    pub(crate) name: &'static str,
    /// Shell commands; `$owner` stands for "as a user other than root".
    pub(crate) install: String,
    pub(crate) serve: String,
    pub(crate) tidy: &'static str,
    pub(crate) clean: &'static str,
    pub(crate) quick: &'static str,
    pub(crate) log: &'static str,
    /// The part of the URL before the host.
    pub(crate) login: &'static str,
    /// Whether the server at the other end lets a client in.
    pub(crate) admits: fn(&mut TcpStream) -> io::Result<bool>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether a commit waits for the disk. Off for speed: then a killed PostgreSQL may forget its
    /// last commits.
    pub durable: bool,
}

/// One private server process. It ends, and its folder is removed, when this is dropped and at the
/// latest when the test process ends.
pub struct Server {
    recipe: Recipe,
    folder: PathBuf,
    port: u16,
    supervisor: Child,
    commands: Option<ChildStdin>,
    replies: BufReader<ChildStdout>,
}

impl Server {
    pub fn postgres() -> Result<Server, String> {
        Server::postgres_with(Options::default())
    }

    pub fn postgres_with(options: Options) -> Result<Server, String> {
        Server::launch(|folder, port| postgres::recipe(folder, port, options))
    }

    pub fn mariadb() -> Result<Server, String> {
        Server::mariadb_with(Options::default())
    }

    pub fn mariadb_with(options: Options) -> Result<Server, String> {
        Server::launch(|folder, port| mariadb::recipe(folder, port, options))
    }

    #[cfg(feature = "redis")]
    pub fn redis() -> Result<Server, String> {
        Server::launch(redis::recipe)
    }

    /// The URL of a database on this server. The user may do everything.
    pub fn url(&self, database: &str) -> String {
        format!("{}127.0.0.1:{}/{database}", self.recipe.login, self.port)
    }

    /// What PostgreSQL writes to its log, or MariaDB's general query log, which is written from
    /// `SET GLOBAL general_log = 1` on.
    pub fn log(&self) -> PathBuf {
        self.folder.join(self.recipe.log)
    }

    /// Ends all processes of the server at once, as a crash does.
    pub fn kill(&mut self) -> Result<(), String> {
        self.tell("KILL")
    }

    /// Ends the server cleanly; its clients are disconnected.
    pub fn stop(&mut self) -> Result<(), String> {
        self.tell("stop")
    }

    /// Starts the server again after [`Server::kill`] or [`Server::stop`]: same data, same port.
    pub fn start_again(&mut self) -> Result<(), String> {
        if self.tell("alive").is_ok() {
            return Err(format!("{} already runs on port {}", self.recipe.name, self.port));
        }
        self.start()
    }

    pub fn restart(&mut self) -> Result<(), String> {
        self.stop()?;
        self.start()
    }

    /// Halts the server: connections stay open and nothing answers.
    pub fn pause(&mut self) -> Result<(), String> {
        self.tell("STOP")
    }

    pub fn resume(&mut self) -> Result<(), String> {
        self.tell("CONT")
    }

    pub(crate) fn launch(
        recipe: impl FnOnce(&Path, u16) -> Result<Recipe, String>,
    ) -> Result<Server, String> {
        let folder = absolute(env::temp_dir().join(format!("onward-test-{:016x}", random())))
            .map_err(|error| format!("the temporary folder has no absolute path: {error}"))?;
        let port = free_port()?;
        let recipe = recipe(&folder, port)?;
        let name = recipe.name;
        let script = format!(
            "install() {{\n{}\n}}\nserve() {{\n{}\n}}\ntidy() {{\n{}\n}}\n{SUPERVISOR}",
            recipe.install, recipe.serve, recipe.tidy,
        );
        let mut supervisor = Command::new("sh")
            .args(["-c", &script, "onward-supervisor"])
            .arg(&folder)
            .args([recipe.clean, recipe.quick])
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // out of reach of a Ctrl-C
            .process_group(0)
            .spawn()
            .map_err(|error| format!("`sh`, which supervises {name}, did not start: {error}"))?;
        let (Some(commands), Some(replies)) = (supervisor.stdin.take(), supervisor.stdout.take()) else {
            return Err(format!("the supervisor of {name} has no pipes"));
        };
        let replies = BufReader::new(replies);
        let mut server = Server { recipe, folder, port, supervisor, commands: Some(commands), replies };
        server.answer("install")?;
        server.start()?;
        Ok(server)
    }

    fn start(&mut self) -> Result<(), String> {
        self.tell("start")?;
        let since = Instant::now();
        loop {
            self.tell("alive")?;
            if self.admits() {
                return Ok(());
            }
            if since.elapsed() > START_LIMIT {
                return Err(self.failure("did not let a client in within 60 s"));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn admits(&self) -> bool {
        let wait = Duration::from_secs(1);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        TcpStream::connect_timeout(&address, wait)
            .and_then(|mut stream| {
                stream.set_read_timeout(Some(wait))?;
                (self.recipe.admits)(&mut stream)
            })
            .unwrap_or(false)
    }

    fn tell(&mut self, word: &str) -> Result<(), String> {
        if let Some(pipe) = &mut self.commands {
            writeln!(pipe, "{word}")
                .map_err(|error| format!("the supervisor of {} is gone: {error}", self.recipe.name))?;
        }
        self.answer(word)
    }

    fn answer(&mut self, word: &str) -> Result<(), String> {
        let mut answer = String::new();
        match self.replies.read_line(&mut answer) {
            Ok(_) if answer == "ok\n" => Ok(()),
            Ok(0) if word == "install" => Err(self.failure("could not create that folder")),
            Ok(0) => Err(self.failure("has no supervisor any more")),
            Ok(_) if word == "install" => Err(self.failure("could not create its data")),
            Ok(_) if word == "alive" => Err(self.failure("is not running")),
            Ok(_) => Err(self.failure(&format!("did not follow `{word}`, or was not running"))),
            Err(error) => Err(self.failure(&format!("has a supervisor that is mute: {error}"))),
        }
    }

    /// A sentence and the last lines that the server wrote.
    fn failure(&self, what: &str) -> String {
        let name = self.recipe.name;
        let folder = self.folder.display();
        let log = fs::read(self.folder.join("server.log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        let tail = lines[lines.len().saturating_sub(20)..].join("\n  ");
        format!("{name} in {folder} {what}; its log ends with:\n  {tail}")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // the end of the commands is the command to clean up
        self.commands = None;
        let _ = self.supervisor.wait();
    }
}

/// A server for all tests of this process: started once, or named by an environment variable.
pub struct Shared {
    admin_url: String,
    /// Kept for as long as the process lives; `None` if the server was named.
    _server: Option<Mutex<Server>>,
}

/// The shared PostgreSQL, or the one that `ONWARD_POSTGRES_URL` names.
pub fn postgres() -> &'static Shared {
    static SHARED: OnceLock<Result<Shared, String>> = OnceLock::new();
    Shared::once(&SHARED, "ONWARD_POSTGRES_URL", "postgres", Server::postgres)
}

/// The shared MariaDB, or the MySQL or MariaDB that `ONWARD_MYSQL_URL` names.
pub fn mysql() -> &'static Shared {
    static SHARED: OnceLock<Result<Shared, String>> = OnceLock::new();
    Shared::once(&SHARED, "ONWARD_MYSQL_URL", "mysql", Server::mariadb)
}

/// The shared Redis, or the one that `ONWARD_REDIS_URL` names.
#[cfg(feature = "redis")]
pub fn redis() -> &'static Shared {
    static SHARED: OnceLock<Result<Shared, String>> = OnceLock::new();
    Shared::once(&SHARED, "ONWARD_REDIS_URL", "0", Server::redis)
}

impl Shared {
    /// Where databases can be created: a database that always exists.
    pub fn admin_url(&self) -> &str {
        &self.admin_url
    }

    /// The URL of a database, which the test has created or is about to.
    pub fn url(&self, database: &str) -> String {
        with_database(&self.admin_url, database)
    }

    fn once(
        cell: &'static OnceLock<Result<Shared, String>>,
        variable: &str,
        admin_database: &str,
        start: fn() -> Result<Server, String>,
    ) -> &'static Shared {
        // a failure is kept too, so that not every test waits for it again
        let shared = cell.get_or_init(|| match env::var(variable) {
            Ok(admin_url) if !admin_url.is_empty() => Ok(Shared { admin_url, _server: None }),
            _ => start().map(|server| Shared {
                admin_url: server.url(admin_database),
                _server: Some(Mutex::new(server)),
            }),
        });
        shared.as_ref().unwrap_or_else(|sentence| panic!("{sentence}"))
    }
}

/// Replaces the path of a URL and keeps what follows it.
pub fn with_database(url: &str, database: &str) -> String {
    let host = url.find("://").map_or(0, |at| at + 3);
    let path = url[host..].find(['/', '?']).map_or(url.len(), |at| host + at);
    let query = url[path..].find('?').map_or("", |at| &url[path + at..]);
    format!("{}/{database}{query}", &url[..path])
}

/// The folders in which programs are looked for. Debian leaves `sbin` out of a user's PATH.
pub(crate) fn program_folders() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let listed: Vec<PathBuf> = env::split_paths(&path).filter(|it| it.is_absolute()).collect();
    listed.into_iter().chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from))
}

/// One word for the shell.
pub(crate) fn quoted(text: impl AsRef<Path>) -> String {
    format!("'{}'", text.as_ref().display().to_string().replace('\'', r"'\''"))
}

/// Below the ports that the system gives to outgoing connections: while a server is down, one of
/// those could otherwise take its port, or a client that tries to connect could reach itself.
pub(crate) fn free_port() -> Result<u16, String> {
    (0..100)
        .map(|_| 20_000 + (random() % 12_000) as u16)
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .ok_or_else(|| "no free port was found between 20000 and 32000 on 127.0.0.1".to_owned())
}

fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
