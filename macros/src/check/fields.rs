//! Columns of the row and facts: names of fields, and the columns they are stored in.

use crate::model::{Declaration, Field, same_column, same_name, same_type};
use crate::report::{Report, written};
use syn::ext::IdentExt;
use syn::{Error, LitStr};

/// Field names that a handle needs for itself, and what stands under them.
const RESERVED: [(&str, &str); 3] = [
    ("row", "every state holds its row in the field of this name"),
    ("status", "a handle answers and serialises its status under this name"),
    ("version", "a handle answers and serialises its version under this name"),
];

pub(crate) fn fields(declaration: &Declaration, report: &mut Report) {
    own_columns(declaration, report);
    for (place, column) in declaration.row.columns.iter().enumerate() {
        let mistake = reserved(column)
            .or_else(|| taken_by_lifecycle(declaration, column))
            .or_else(|| taken_by_row(declaration, &declaration.row.columns[..place], column));
        if let Some(mistake) = mistake {
            report.add(mistake);
        }
    }
    let facts: Vec<(usize, &Field)> = declaration.facts().collect();
    for (place, &(state, fact)) in facts.iter().enumerate() {
        let mut earlier = facts[..place].iter();
        let mistake = reserved(fact)
            .or_else(|| taken_by_lifecycle(declaration, fact))
            .or_else(|| taken_by_row(declaration, &declaration.row.columns, fact))
            .or_else(|| earlier.find_map(|&earlier| taken_by_fact(declaration, earlier, (state, fact))));
        if let Some(mistake) = mistake {
            report.add(mistake);
        }
    }
}

/// The lifecycle's own columns, and what each of them is.
fn lifecycle_columns(declaration: &Declaration) -> Vec<(&'static str, &LitStr)> {
    let lifecycle = &declaration.lifecycle;
    let columns = [
        ("status", Some(&lifecycle.status)),
        ("version", Some(&lifecycle.version.column)),
        ("updated_at", lifecycle.updated_at.as_ref()),
    ];
    columns.into_iter().filter_map(|(what, column)| Some((what, column?))).collect()
}

fn own_columns(declaration: &Declaration, report: &mut Report) {
    let columns = lifecycle_columns(declaration);
    for (place, (what, column)) in columns.iter().enumerate() {
        if let Some((other, _)) = columns[..place].iter().find(|(_, earlier)| same_column(earlier, column)) {
            report.at(
                column,
                format!(
                    "the column `{}` is `{other}` already; `{what}` needs a column of its own",
                    column.value()
                ),
            );
        }
    }
}

/// A field with a name that handles need.
fn reserved(field: &Field) -> Option<Error> {
    let name = field.name.unraw().to_string();
    let (_, because) = RESERVED.iter().find(|(reserved, _)| *reserved == name)?;
    Some(Error::new_spanned(
        &field.name,
        format!(
            "no field can be named `{name}`: {because}. If it is another thing, rename the \
             field and keep its column: `other_{name}: … = \"{}\"`",
            field.column.value(),
        ),
    ))
}

fn taken_by_lifecycle(declaration: &Declaration, field: &Field) -> Option<Error> {
    let columns = lifecycle_columns(declaration);
    let (what, column) = columns.iter().find(|(_, column)| same_column(column, &field.column))?;
    Some(Error::new_spanned(
        &field.column,
        format!(
            "the column `{}` is the lifecycle's `{what}`, which only its steps write; take \
             `{}` out, or give it another column",
            column.value(),
            field.name,
        ),
    ))
}

fn taken_by_row(declaration: &Declaration, columns: &[Field], field: &Field) -> Option<Error> {
    let row = &declaration.row.name;
    columns.iter().find_map(|column| {
        if same_name(&column.name, &field.name) {
            let message =
                format!("`{row}` already has `{}`; take this out, or choose another name", column.name);
            Some(Error::new_spanned(&field.name, message))
        } else if same_column(&column.column, &field.column) {
            Some(Error::new_spanned(
                &field.column,
                format!(
                    "the column `{}` is already `{}` of `{row}`; take this out, or give it \
                     another column",
                    column.column.value(),
                    column.name,
                ),
            ))
        } else {
            None
        }
    })
}

/// Facts of one branch stand side by side in one struct. Facts of different branches may share a name, and
/// then are one fact: `any.facts()` has one field for them, and the table one column.
fn taken_by_fact(
    declaration: &Declaration,
    (earlier_state, earlier): (usize, &Field),
    (state, fact): (usize, &Field),
) -> Option<Error> {
    let name = &fact.name;
    let (here, there) = (&declaration.states[state].name, &declaration.states[earlier_state].name);
    let one_column = same_column(&earlier.column, &fact.column);
    if !same_name(&earlier.name, name) {
        return one_column.then(|| {
            Error::new_spanned(
                &fact.column,
                format!(
                    "the column `{}` is already `{}` of `{there}`; use that name here, or give \
                 `{name}` a column of its own",
                    earlier.column.value(),
                    earlier.name,
                ),
            )
        });
    }
    if state == earlier_state {
        let message = format!("`{here}` has two facts named `{name}`; rename one, or take one out");
        Some(Error::new_spanned(name, message))
    } else if declaration.builds_on(state, earlier_state) {
        Some(Error::new_spanned(
            name,
            format!(
                "`{here}` knows `{name}` from `{there}`, on which it builds; take this out, \
                 or choose another name and column"
            ),
        ))
    } else if !same_type(&earlier.ty, &fact.ty) {
        Some(Error::new_spanned(
            &fact.ty,
            format!(
                "`{name}` is `{}` in `{there}`: a fact has one type throughout; use that \
                 type here, or choose another name and column",
                written(&earlier.ty),
            ),
        ))
    } else if !one_column {
        Some(Error::new_spanned(
            &fact.column,
            format!(
                "`{name}` of `{there}` is stored in the column `{}`: a fact has one column \
                 throughout; use that one here, or choose another name",
                earlier.column.value(),
            ),
        ))
    } else if earlier.unique != fact.unique {
        let is = if earlier.unique { "is unique" } else { "is not unique" };
        Some(Error::new_spanned(
            name,
            format!(
                "`{name}` {is} in `{there}`, and both are one column; say the same here, or \
                 choose another name and column"
            ),
        ))
    } else {
        None
    }
}
