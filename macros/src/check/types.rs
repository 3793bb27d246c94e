//! What can be told from the name of a type alone; the rest is for the compiler and the database.

use crate::integer;
use crate::model::{Declaration, Stored, Value, last_segment};
use crate::report::{Report, known_names, list, written};

pub(crate) fn types(declaration: &Declaration, report: &mut Report) {
    version(declaration, report);
    status(declaration, report);
    key(declaration, report);
    guards(declaration, report);
}

fn version(declaration: &Declaration, report: &mut Report) {
    let ty = &declaration.lifecycle.version.ty;
    if integer::limits(ty).is_some() {
        return;
    }
    let word = last_segment(ty).map(|segment| segment.ident.to_string()).unwrap_or_default();
    let because = match word.as_str() {
        "Option" => "without a value no step could be guarded; make the column NOT NULL".to_owned(),
        word if ["Date", "Time", "Instant"].iter().any(|part| word.contains(part)) => {
            "time stamps lose precision and then every save, or none, looks stale; use \
                 `i64` and, for the time, `updated_at = \"…\"`"
                .to_owned()
        }
        word => format!("every step counts it up by one; {}", known_names(word, integer::names())),
    };
    report.at(ty, format!("a version must be an integer: {because}"));
}

fn status(declaration: &Declaration, report: &mut Report) {
    let Stored::Integer(ty) = &declaration.any.stored else {
        return;
    };
    let Some((min, max)) = integer::code_limits(ty) else {
        let (word, integers) = (written(ty), list(&integer::code_names()));
        let message = format!(
            "`{word}` can not store a status; integers are {integers}, an enum of PostgreSQL is \
             written `as enum \"…\"`, and a text, which is the default, needs no `as`"
        );
        return report.at(ty, message);
    };
    for state in &declaration.states {
        if let Value::Integer(number, word) = &state.value
            && !(min..=max).contains(number)
        {
            let ty = written(ty);
            let message = format!(
                "`{number}` does not fit into `{ty}`; choose a number from {min} to {max}, or a \
                 wider type behind `as`"
            );
            report.at(word, message);
        }
    }
}

fn key(declaration: &Declaration, report: &mut Report) {
    let key = declaration.key();
    let Some(segment) = last_segment(&key.ty) else {
        return;
    };
    let because = match segment.ident.to_string().as_str() {
        "Option" => "and every row has one",
        "f32" | "f64" => "since a rounded number finds no row, or another one",
        "bool" => "since two values tell two rows apart",
        _ => return,
    };
    report.at(
        &key.ty,
        format!(
            "the first column is the key, and a key is an integer, a text or a Uuid, \
             {because}; change the type, or move the key to the top"
        ),
    );
}

/// A guard joins every WHERE with `=`, which never holds for a null.
fn guards(declaration: &Declaration, report: &mut Report) {
    for (place, column) in declaration.row.columns.iter().enumerate().filter(|(_, column)| column.guard) {
        let name = &column.name;
        if place == 0 {
            report.at(
                name,
                format!("`{name}` is the key and is part of every WHERE already; take `guard` out"),
            );
        } else if column.optional() {
            report.at(
                &column.ty,
                format!(
                    "`{name}` joins every WHERE, and a null equals nothing; take the `Option` \
                 off, or `guard` out"
                ),
            );
        }
    }
}
