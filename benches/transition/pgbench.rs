//! `PostgreSQL`'s own benchmark program with the same scripts: what the server itself gains by the one statement, and
//! what a journal costs it.

use crate::{orders::FIRST_TRADE, round::Outside};
use onward::BoxError;
use std::{env, fs, path::PathBuf, process::Command};

/// Each client moves orders of its own.
const NEXT: &str = "\\set i :i + 1\n\\set id :client_id * :each + :i\n\\set trade :first + :id\n";

const GUARDED: &str = "UPDATE orders SET status = :paid, version = version + 1, trade_no = :trade \
    WHERE id = :id AND status = :pending AND version = :version;\n";

const LOCKING: &str = "BEGIN;\nSELECT status, version FROM orders WHERE id = :id FOR UPDATE;\n\
    UPDATE orders SET status = :paid, version = version + 1, trade_no = :trade WHERE id = :id;\nCOMMIT;\n";

/// The one statement that the crate sends. pgbench knows no texts, so an attempt's identity is a shorter number,
/// which grows as ours does.
const JOURNAL: &str = "\\set next :version + 1\n\\set attempt 1000000000000000000 + :i * 1000 + :client_id\n\
    WITH moved AS (UPDATE orders SET status = :paid, version = version + 1, trade_no = :trade \
    WHERE id = :id AND status = :pending AND version = :version RETURNING 1) \
    INSERT INTO order_journal (row_key, version, transition, from_state, to_state, cause, sole_cause, actor, \
    request_id, attempt_id, at) SELECT :id, :next, :pay, :pending, :paid, :trade, :trade, NULL, NULL, :attempt, \
    CURRENT_TIMESTAMP FROM moved;\n";

/// The same by four statements, as by hand.
const HAND: &str = "\\set next :version + 1\n\\set attempt 1000000000000000000 + :i * 1000 + :client_id\n\
    BEGIN;\nUPDATE orders SET status = :paid, version = version + 1, trade_no = :trade \
    WHERE id = :id AND status = :pending AND version = :version;\n\
    INSERT INTO order_journal (row_key, version, transition, from_state, to_state, cause, sole_cause, actor, \
    request_id, attempt_id, at) VALUES (:id, :next, :pay, :pending, :paid, :trade, :trade, NULL, NULL, :attempt, \
    CURRENT_TIMESTAMP);\nCOMMIT;\n";

/// Which scripts it runs, and whether they leave entries in the journal.
pub type Scripts = &'static [(&'static str, bool)];

pub const LOCKED: Scripts = &[("pgbench", false), ("pgbench-locking", false)];
pub const JOURNALLED: Scripts = &[("pgbench", false), ("pgbench-journal", true), ("pgbench-hand", true)];

pub struct Pgbench {
    program: PathBuf,
    names: Scripts,
    scripts: tempfile::TempDir,
    url: String,
}

impl Pgbench {
    /// Beside the server programs, which Debian keeps out of PATH, or in PATH.
    pub fn find(url: &str, names: Scripts) -> Result<Self, BoxError> {
        let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
        folders.sort();
        folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
        let Some(program) = folders.into_iter().map(|bin| bin.join("pgbench")).find(|it| it.is_file()) else {
            return Err("`pgbench` was not found, neither beside the server programs nor in PATH".into());
        };
        let scripts = tempfile::tempdir()?;
        let texts = [
            ("pgbench", GUARDED),
            ("pgbench-locking", LOCKING),
            ("pgbench-journal", JOURNAL),
            ("pgbench-hand", HAND),
        ];
        for (name, script) in texts {
            fs::write(scripts.path().join(name), format!("{NEXT}{script}"))?;
        }
        Ok(Self { program, names, scripts, url: url.into() })
    }
}

impl Outside for Pgbench {
    fn names(&self) -> Scripts {
        self.names
    }

    fn run(&self, name: &str, callers: usize, count: usize) -> Result<f64, BoxError> {
        let each = count / callers;
        let mut pgbench = Command::new(&self.program);
        pgbench.args(["--no-vacuum", "--protocol=prepared"]);
        pgbench.arg(format!("--client={callers}")).arg(format!("--jobs={}", callers.min(2)));
        pgbench.arg(format!("--transactions={each}")).arg("--file");
        pgbench.arg(self.scripts.path().join(name));
        let numbers = [format!("each={each}"), format!("first={FIRST_TRADE}")];
        for define in
            ["i=0", "version=0", "paid=paid", "pending=pending", "pay=pay", &numbers[0], &numbers[1]]
        {
            pgbench.args(["--define", define]);
        }
        let output = pgbench.arg(&self.url).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let speed =
            text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        match speed {
            Some(speed) if output.status.success() => Ok(speed),
            _ => Err(format!("pgbench: {text}{}", String::from_utf8_lossy(&output.stderr)).into()),
        }
    }
}
