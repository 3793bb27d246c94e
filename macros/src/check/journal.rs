//! The journal's table, and what it takes over from the row.

use crate::model::{Declaration, same_column};
use crate::report::Report;

/// The columns that every journal has, beside the key and the guards of the row.
const COLUMNS: [&str; 11] = [
    "row_key",
    "version",
    "transition",
    "from_state",
    "to_state",
    "cause",
    "sole_cause",
    "actor",
    "request_id",
    "attempt_id",
    "at",
];

pub(crate) fn journal(declaration: &Declaration, report: &mut Report) {
    let Some(journal) = &declaration.journal else { return };
    if same_column(journal, &declaration.lifecycle.table) {
        report.at(journal, "the rows are in this table already; the journal needs a table of its own");
    }
    for guard in declaration.row.columns.iter().filter(|column| column.guard) {
        let column = guard.column.value();
        if COLUMNS.contains(&column.to_lowercase().as_str()) {
            let message = format!(
                "the journal has the guards' columns beside its own, and `{column}` is one of its own; name this \
                 column otherwise"
            );
            report.at(&guard.name, message);
        }
    }
}
