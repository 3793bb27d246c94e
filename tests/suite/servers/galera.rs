//! A Galera cluster: three MariaDB nodes that all take writes, with the user of the single one.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use super::mariadb::{LOGIN, Programs, USER, admits};
use super::{Options, Recipe, Server, free_port, program_folders, quoted};

pub const NODES: usize = 3;

/// Where distributions keep the library that makes a node of a server.
const LIBRARIES: [&str; 3] = [
    "/usr/lib/galera/libgalera_smm.so",
    "/usr/lib64/galera-4/libgalera_smm.so",
    "/usr/lib/galera-4/libgalera_smm.so",
];

/// A statement waits until this node has applied what any node had committed before: reads (1), UPDATE and
/// DELETE (2), INSERT (4).
pub const SYNC_WAIT: u32 = 7;

pub struct Cluster {
    pub nodes: Vec<Server>,
}

impl Cluster {
    /// One node after the other: two that join at once wait for each other.
    pub fn start() -> Result<Cluster, String> {
        let ports = (0..NODES).map(|_| Ok([free_port()?, free_port()?, free_port()?]));
        let ports: Vec<[u16; 3]> = ports.collect::<Result<_, String>>()?;
        let node = |n| Server::launch(|folder, port| recipe(folder, port, &ports, n));
        Ok(Cluster { nodes: (0..NODES).map(node).collect::<Result<_, _>>()? })
    }

    /// One URL per node.
    pub fn urls(&self, database: &str) -> Vec<String> {
        self.nodes.iter().map(|node| node.url(database)).collect()
    }
}

fn recipe(folder: &Path, port: u16, ports: &[[u16; 3]], n: usize) -> Result<Recipe, String> {
    let missing = "Galera was not found: run `scripts/test`, which installs it on Debian as root";
    let library = LIBRARIES.map(PathBuf::from).into_iter().find(|library| library.is_file());
    let (Some(programs), Some(library)) = (Programs::find(), library) else {
        return Err(format!("{missing} (MariaDB and galera-4)"));
    };
    if !program_folders().any(|folder| folder.join("rsync").is_file()) {
        return Err(format!("{missing} (rsync, by which a node takes over the data of another)"));
    }
    let serve = programs.serve(folder, port, Options::default());
    let users = quoted(folder.join("users.sql"));
    let members: Vec<String> = ports.iter().map(|[group, ..]| format!("127.0.0.1:{group}")).collect();
    let members = members.join(",");
    let [group, increments, snapshot] = ports[n];
    let library = quoted(library);
    Ok(Recipe {
        name: "Galera",
        install: match n {
            0 => format!(
                "printf '%s\\n' 'FLUSH PRIVILEGES;' '{USER}' >{users} && {} --extra-file={users} && : >first",
                programs.install(folder)
            ),
            // the others take everything over from the first
            _ => "$owner mkdir data".to_owned(),
        },
        // Only the first node makes the cluster, and only at its first start. Failures are noticed after
        // 3 s instead of 5.
        serve: format!(
            "new=; [ ! -e first ] || {{ rm first; new=--wsrep-new-cluster; }}\n\
             {serve} --binlog-format=ROW --innodb-autoinc-lock-mode=2 --wsrep-on=ON \
             --wsrep-provider={library} --wsrep-cluster-name=onward \
             --wsrep-cluster-address=gcomm://{members} --wsrep-node-name=node{n} \
             --wsrep-node-address=127.0.0.1:{group} --wsrep-sync-wait={SYNC_WAIT} \
             --wsrep-sst-method=rsync --wsrep-sst-receive-address=127.0.0.1:{snapshot} \
             --wsrep-provider-options='gmcast.listen_addr=tcp://127.0.0.1:{group};\
             ist.recv_addr=127.0.0.1:{increments};ist.recv_bind=127.0.0.1:{increments};\
             gcache.size=32M;evs.keepalive_period=PT0.5S;evs.inactive_check_period=PT0.5S;\
             evs.suspect_timeout=PT3S;evs.inactive_timeout=PT8S' $new"
        ),
        tidy: ":",
        clean: "TERM",
        quick: "KILL",
        log: "general.log",
        login: LOGIN,
        admits,
    })
}

/// The URLs of the nodes of the shared cluster, or of the one that `ONWARD_GALERA_URLS` names, separated by commas.
/// They name a database that always exists.
pub fn shared() -> &'static [String] {
    type Started = (Vec<String>, Option<Mutex<Cluster>>);
    static SHARED: OnceLock<Result<Started, String>> = OnceLock::new();
    // a failure is kept too, so that not every test waits for it again
    let shared = SHARED.get_or_init(|| match env::var("ONWARD_GALERA_URLS") {
        Ok(urls) if !urls.is_empty() => Ok((urls.split(',').map(str::to_owned).collect(), None)),
        _ => Cluster::start().map(|cluster| (cluster.urls("mysql"), Some(Mutex::new(cluster)))),
    });
    &shared.as_ref().unwrap_or_else(|sentence| panic!("{sentence}")).0
}
